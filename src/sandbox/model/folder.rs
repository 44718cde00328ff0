//! Folders of the test repository (service.md 7).

use serde::Deserialize;

use crate::sandbox::model::time::Moment;

/// Path of the root, which is no folder.
pub(crate) const ROOT: &str = "/";

/// A folder of the test repository.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Folder {
    pub(crate) id: String,
    /// Names of the ancestors and of the folder, joined by `/`.
    pub(crate) path: String,
    /// `None`: the folder is at the root.
    #[serde(skip)]
    pub(crate) parent: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) created: Moment,
    pub(crate) created_by: String,
}

pub(crate) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
}

/// Returns the path of the folder `name` below `path`.
pub(crate) fn child_of(path: &str, name: &str) -> String {
    if path == ROOT { name.to_owned() } else { format!("{path}/{name}") }
}

/// Returns a path in the form of records: without slashes at its ends, or [`ROOT`] if nothing is left.
pub(crate) fn normalize(path: &str) -> &str {
    match path.trim_matches('/') {
        "" => ROOT,
        path => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalized_and_divided() {
        for (path, normalized, parent) in [
            ("/", ROOT, None),
            ("", ROOT, None),
            ("/Levels/", "Levels", Some(ROOT)),
            ("Levels/World 1", "Levels/World 1", Some("Levels")),
        ] {
            assert_eq!(normalize(path), normalized, "{path}");
            if let Some(parent) = parent {
                assert_eq!(parent_of(normalized), parent, "{path}");
            }
        }

        assert_eq!(child_of(ROOT, "Levels"), "Levels");
        assert_eq!(child_of("Levels", "World 1"), "Levels/World 1");
    }
}
