//! Folders of the test repository (specification, Test folder; supplement 7).

use std::sync::Arc;

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Moment,
    lists::page,
    project::{Dialect, Project, find},
};
use crate::service::api::{
    ListPage,
    folders::{CreateTestFolder, CreatedTestFolder, ListTestFolders, TestFolder},
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
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the parent; [`ROOT`] at the top.
    fn parent_path(&self) -> &str {
        parent_of(&self.path)
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
    /// The folder of that path.
    pub(super) fn folder_at(&self, path: &str) -> Option<&Arc<Folder>> {
        self.folders.values().find(|folder| folder.path == path)
    }

    /// The path of a folder; [`ROOT`] without one.
    pub(super) fn folder_path(&self, folder: Option<&str>) -> &str {
        folder.and_then(|id| find(&self.folders, id)).map_or(ROOT, |folder| &folder.path)
    }
}

fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
}

fn child_of(path: &str, name: &str) -> String {
    if path == ROOT { name.to_owned() } else { format!("{path}/{name}") }
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

impl Answer<CreateTestFolder> for World {
    fn answer(
        &mut self,
        asked: CreateTestFolder,
        caller: &Caller,
    ) -> Result<Answered<CreatedTestFolder>, Fault> {
        let project = self.project(caller)?;
        let parent = parent(project, &asked)?;
        let missing = missing_paths(project, &parent);
        if !missing.is_empty() && asked.create_intermediate_parents != Some(true) {
            return Err(Fault::not_found("parent folder not found"));
        }
        if missing.iter().any(|path| !is_name(path.rsplit('/').next().unwrap_or_default())) {
            return Err(Fault::invalid("invalid folder name"));
        }

        let path = child_of(&parent, &asked.name);
        if project.folder_at(&path).is_some() {
            return Err(Fault::conflict("a folder with this name already exists"));
        }

        for parent in &missing {
            self.add_folder(parent, None, Vec::new(), caller)?;
        }

        let folder = self.add_folder(&path, asked.description, asked.tags.unwrap_or_default(), caller)?;

        Ok(Answered::created(CreatedTestFolder {
            id: folder.id.clone(),
            name: folder.name().to_owned(),
            path: folder.path.clone(),
            parent_folder_id: folder.parent.clone(),
            parent_path: Some(folder.parent_path().to_owned()),
            created_intermediate_paths: missing,
            description: folder.description.clone(),
            tags: folder.tags.clone(),
        }))
    }
}

/// The path in which a folder is to be created.
fn parent(project: &Project, asked: &CreateTestFolder) -> Result<String, Fault> {
    let Some(id) = &asked.parent_folder_id else {
        return Ok(normal(asked.parent_path.as_deref().unwrap_or(ROOT)).to_owned());
    };
    let parent = find(&project.folders, &id.0);
    parent.map(|parent| parent.path.clone()).ok_or_else(|| Fault::not_found("parent folder not found"))
}

/// The folders on the way to `path` that are not there, from the top.
fn missing_paths(project: &Project, path: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut path = path;

    while path != ROOT && project.folder_at(path).is_none() {
        missing.push(path.to_owned());
        path = parent_of(path);
    }

    missing.reverse();

    missing
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.trim() == name
}

impl World {
    /// Adds a folder whose parent is there.
    fn add_folder(
        &mut self,
        path: &str,
        description: Option<String>,
        tags: Vec<String>,
        caller: &Caller,
    ) -> Result<Arc<Folder>, Fault> {
        let (id, created) = (self.ids.uuid(), self.now);
        let project = self.project_mut(caller)?;
        let parent = project.folder_at(parent_of(path)).map(|parent| parent.id.clone());
        let (path, created_by) = (path.to_owned(), caller.key_id.to_owned());
        let folder =
            Arc::new(Folder { id: id.clone(), path, parent, description, tags, created, created_by });

        project.folders.insert(id, Arc::clone(&folder));

        Ok(folder)
    }
}
