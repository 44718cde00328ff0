//! Folders of the test repository (service.md 7).

use std::sync::Arc;

use super::prelude::*;
use crate::sandbox::model::world::{Folder, ROOT, child_of, normalize, parent_of};
use crate::service::api::folders::{CreateTestFolder, CreatedTestFolder, ListTestFolders, TestFolder};

impl Folder {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    fn to_record(&self) -> TestFolder {
        TestFolder {
            id: self.id.clone(),
            name: self.name().to_owned(),
            path: self.path.clone(),
            parent_path: Some(parent_of(&self.path).to_owned()),
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

impl Answer<ListTestFolders> for World {
    fn answer(&mut self, request: ListTestFolders, caller: &Caller) -> AnswerResult<ListPage<TestFolder>> {
        let project = self.project(caller)?;
        let mut folders: Vec<_> = project.folders.values().collect();
        folders.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(page(folders, request.page, request.page_size, |folder| folder.to_record()).into())
    }
}

impl Answer<CreateTestFolder> for World {
    fn answer(&mut self, request: CreateTestFolder, caller: &Caller) -> AnswerResult<CreatedTestFolder> {
        let project = self.project(caller)?;
        let parent = parent_path(project, &request)?;
        let missing = missing_paths(project, &parent);
        if !missing.is_empty() && request.create_intermediate_parents != Some(true) {
            return Err(ApiError::not_found("parent folder not found"));
        }
        let is_name = |name: &str| !name.is_empty() && name.trim() == name;
        if missing.iter().any(|path| !is_name(path.rsplit('/').next().unwrap_or_default())) {
            return Err(ApiError::invalid("invalid folder name"));
        }

        let path = child_of(&parent, &request.name);
        if project.folder_at(&path).is_some() {
            return Err(ApiError::conflict("a folder with this name already exists"));
        }

        // Every check has passed, so that a refused request creates no parent.
        for parent in &missing {
            self.add_folder(parent, None, Vec::new(), caller)?;
        }

        let folder = self.add_folder(&path, request.description, request.tags.unwrap_or_default(), caller)?;

        Ok(Answered::created(CreatedTestFolder {
            id: folder.id.clone(),
            name: folder.name().to_owned(),
            path: folder.path.clone(),
            parent_folder_id: folder.parent.clone(),
            parent_path: Some(parent_of(&folder.path).to_owned()),
            created_intermediate_paths: missing,
            description: folder.description.clone(),
            tags: folder.tags.clone(),
        }))
    }
}

fn parent_path(project: &Project, request: &CreateTestFolder) -> Result<String, ApiError> {
    let Some(id) = &request.parent_folder_id else {
        return Ok(normalize(request.parent_path.as_deref().unwrap_or(ROOT)).to_owned());
    };
    Ok(existing(&project.folders, &id.0, "parent folder not found")?.path.clone())
}

/// Returns the missing folders on the path to `path`, from the root.
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

impl World {
    fn add_folder(
        &mut self,
        path: &str,
        description: Option<String>,
        tags: Vec<String>,
        caller: &Caller,
    ) -> Result<Arc<Folder>, ApiError> {
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
