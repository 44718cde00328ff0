//! The folders of a project.

use std::sync::Arc;

use crate::sandbox::model::{
    folder::{Folder, ROOT},
    project::Project,
    records::find,
};

impl Project {
    pub(crate) fn folder_at(&self, path: &str) -> Option<&Arc<Folder>> {
        self.folders.values().find(|folder| folder.path == path)
    }

    /// Returns the path of the folder with this id, or [`ROOT`] for `None`.
    pub(crate) fn folder_path(&self, folder: Option<&str>) -> &str {
        folder.and_then(|id| find(&self.folders, id)).map_or(ROOT, |folder| &folder.path)
    }
}
