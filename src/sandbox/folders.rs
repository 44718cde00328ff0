//! Folders of the test repository (specification, Test folder; supplement 7).

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Moment,
    lists::page,
    project::{Dialect, Project, find},
};
use crate::api::{
    ListPage,
    folders::{ListTestFolders, TestFolder},
};

/// Path of what is in no folder.
pub(super) const ROOT: &str = "/";

/// A folder of the test repository.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) id: String,
    /// Names of the ancestors and its own, joined by `/`.
    pub(super) path: String,
    /// `None`: at the top.
    pub(super) parent: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) created: Moment,
    pub(super) created_by: String,
}

impl Folder {
    /// The last segment of the path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the parent; [`ROOT`] at the top.
    pub(super) fn parent_path(&self) -> &str {
        self.path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
    }

    fn shown(&self, dialect: Dialect) -> TestFolder {
        let parent_path = Some(self.parent_path()).filter(|path| *path != ROOT || dialect == Dialect::Upper);
        TestFolder {
            id: self.id.clone(),
            name: self.name().to_owned(),
            path: self.path.clone(),
            parent_path: parent_path.map(ToOwned::to_owned),
            parent_folder_id: self.parent.clone(),
            description: self.description.clone(),
            tags: self.tags.clone(),
            created_at: self.created.to_string(),
            modified_at: self.created.to_string(),
            created_by_name: Some(self.created_by.clone()),
            modified_by_name: None,
        }
    }
}

impl Project {
    /// The path of a folder; [`ROOT`] without one.
    pub(super) fn folder_path(&self, folder: Option<&str>) -> &str {
        folder.and_then(|id| find(&self.folders, id)).map_or(ROOT, |folder| &folder.path)
    }
}

/// A path as records have it: without slashes at its ends, [`ROOT`] when nothing is left.
pub(super) fn normal(path: &str) -> &str {
    match path.trim_matches('/') {
        "" => ROOT,
        path => path,
    }
}

impl Answer<ListTestFolders> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListTestFolders,
        caller: &Caller,
    ) -> Result<Answered<ListPage<TestFolder>>, Fault> {
        let project = self.project(caller)?;
        let mut folders: Vec<_> = project.folders.values().collect();
        folders.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(page(folders, asked.page, asked.page_size, |folder| folder.shown(project.dialect)).into())
    }
}
