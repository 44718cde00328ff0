//! The files that a person names: each by its name, or several by a pattern.

use std::path::Path;

use indexmap::IndexMap;

use crate::{
    failure::{Code, Failure},
    tools::files::{FilesRoot, file_error, read_error},
};

/// The files, each once, in the order in which they are named; or everything that is wrong with the names.
pub(super) fn expanded<'a>(
    root: &FilesRoot,
    names: impl Iterator<Item = &'a String>,
) -> Result<Vec<String>, Vec<Failure>> {
    let (mut files, mut failures) = (IndexMap::new(), Vec::new());
    for name in names {
        match matching(root, name) {
            Ok(found) => {
                for file in found {
                    match root.existing_file(&file) {
                        Ok(path) => drop(files.entry(path).or_insert(file)),
                        Err(failure) => failures.push(failure),
                    }
                }
            }
            Err(failure) => failures.push(failure),
        }
    }

    if failures.is_empty() { Ok(files.into_values().collect()) } else { Err(failures) }
}

/// The name itself, unless it is a pattern and no file has that name.
fn matching(root: &FilesRoot, name: &str) -> Result<Vec<String>, Failure> {
    let is_pattern = name.contains(['*', '?', '[']);
    if !is_pattern || root.path().join(name).exists() {
        return Ok(vec![name.to_owned()]);
    }

    let pattern = if Path::new(name).is_absolute() {
        name.to_owned()
    } else {
        let base = glob::Pattern::escape(&root.path().to_string_lossy());
        format!("{base}/{name}")
    };

    let found = glob::glob(&pattern).map_err(|error| {
        Failure::new(Code::InvalidArguments, format!("upload: `{name}` is not a pattern: {error}"))
            .hint("nothing was sent")
    })?;
    // As the person would have written it.
    let shown = |path: &Path| path.strip_prefix(root.path()).unwrap_or(path).to_string_lossy().into_owned();
    let mut files = Vec::new();

    for path in found {
        match path {
            Ok(path) if path.is_file() => files.push(shown(&path)),
            Ok(_) => {}
            Err(error) => {
                let failure = read_error(&shown(error.path()), error.error());
                return Err(failure.hint("files in it may be meant; nothing was sent"));
            }
        }
    }

    if files.is_empty() {
        return Err(file_error(name, "matches no file").hint("nothing was sent"));
    }

    Ok(files)
}
