//! Expands the patterns among the names of the files.

use std::path::Path;

use indexmap::IndexMap;

use crate::{
    failure::{Code, Failure},
    tools::files::{FilesRoot, file_error, read_error},
};

/// Returns the files in the order of `names`, each file once.
///
/// # Errors
/// The failures of all names.
pub(super) fn expand_names<'a>(
    root: &FilesRoot,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<String>, Vec<Failure>> {
    let (mut files, mut failures) = (IndexMap::new(), Vec::new());
    for name in names {
        let matches = expand_name(root, name).unwrap_or_else(|failure| {
            failures.push(failure);
            Vec::new()
        });

        for file in matches {
            match root.existing_file(&file) {
                // Several patterns may match a file; the canonical path identifies it.
                Ok(path) => drop(files.entry(path).or_insert(file)),
                Err(failure) => failures.push(failure),
            }
        }
    }

    if failures.is_empty() { Ok(files.into_values().collect()) } else { Err(failures) }
}

/// Returns the files that `name` matches. A name that is not a pattern, or that is the name of a file, matches itself.
fn expand_name(root: &FilesRoot, name: &str) -> Result<Vec<String>, Failure> {
    let is_pattern = name.contains(['*', '?', '[']);
    if !is_pattern || root.path().join(name).exists() {
        return Ok(vec![name.to_owned()]);
    }

    let paths = glob::glob(&absolute_pattern(root, name)).map_err(|error| {
        Failure::new(Code::InvalidArguments, format!("upload: `{name}` is not a pattern: {error}"))
            .hint("nothing was sent")
    })?;

    let mut files = Vec::new();
    for path in paths {
        match path {
            Ok(path) if path.is_file() => files.push(relative_name(root, &path)),
            // Directories that match the pattern are skipped.
            Ok(_) => {}
            Err(error) => {
                let failure = read_error(&relative_name(root, error.path()), error.error());
                return Err(failure.hint("the pattern may match files in it; nothing was sent"));
            }
        }
    }

    if files.is_empty() {
        Err(file_error(name, "matches no file").hint("nothing was sent"))
    } else {
        Ok(files)
    }
}

fn absolute_pattern(root: &FilesRoot, name: &str) -> String {
    if Path::new(name).is_absolute() {
        return name.to_owned();
    }
    let base = glob::Pattern::escape(&root.path().to_string_lossy());
    format!("{base}/{name}")
}

/// Returns the path relative to the root, as a person would write it.
fn relative_name(root: &FilesRoot, path: &Path) -> String {
    path.strip_prefix(root.path()).unwrap_or(path).to_string_lossy().into_owned()
}
