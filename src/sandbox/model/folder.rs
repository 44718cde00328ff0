//! Folders of the test repository (supplement 7).

use crate::sandbox::model::moment::Moment;

/// Path of what is in no folder.
pub(crate) const ROOT: &str = "/";

/// A folder of the test repository.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) id: String,
    /// Names of the ancestors and its own, joined by `/`.
    pub(crate) path: String,
    /// `None`: at the top.
    pub(crate) parent: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) created: Moment,
    pub(crate) created_by: String,
}

pub(crate) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
}

pub(crate) fn child_of(path: &str, name: &str) -> String {
    if path == ROOT { name.to_owned() } else { format!("{path}/{name}") }
}

/// A path as records have it: without slashes at its ends, [`ROOT`] when nothing is left.
pub(crate) fn normal(path: &str) -> &str {
    match path.trim_matches('/') {
        "" => ROOT,
        path => path,
    }
}
