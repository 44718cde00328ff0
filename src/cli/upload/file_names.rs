//! Expands the patterns among the names of the files.

use std::path::Path;

use indexmap::IndexMap;

use crate::{
    failure::{Code, Failure},
    home_path::expand_home,
    tools::files::{FilesRoot, SearchError, file_error, find_files, is_pattern, read_error},
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
        let matches = expand_name(root, &expand_home(name)).unwrap_or_else(|failure| {
            failures.push(failure);
            Vec::new()
        });

        for file in matches {
            match root.resolve_file(&file) {
                Ok(path) => drop(files.entry(path).or_insert(file)),
                Err(failure) => failures.push(failure),
            }
        }
    }

    if failures.is_empty() { Ok(files.into_values().collect()) } else { Err(failures) }
}

/// Returns the files that `name` matches. A name that is not a pattern, or that is the name of a file, matches itself.
fn expand_name(root: &FilesRoot, name: &str) -> Result<Vec<String>, Failure> {
    if !is_pattern(name) || root.path().join(name).exists() {
        return Ok(vec![name.to_owned()]);
    }

    let files = find_files(root.path(), name).map_err(|error| match error {
        SearchError::Pattern(problem) => {
            let message = format!("upload: `{name}` is not a pattern: {problem}");
            Failure::new(Code::InvalidArguments, message).hint("nothing was sent")
        }
        SearchError::Unreadable(directory, error) => read_error(&relative_name(root, &directory), &error)
            .hint("the pattern may match files in it; nothing was sent"),
    })?;

    if files.is_empty() {
        Err(file_error(name, "matches no file").hint("nothing was sent"))
    } else {
        Ok(files.iter().map(|path| relative_name(root, path)).collect())
    }
}

/// Returns the path relative to the root, as a user would write it.
fn relative_name(root: &FilesRoot, path: &Path) -> String {
    path.strip_prefix(root.path()).unwrap_or(path).to_string_lossy().into_owned()
}
