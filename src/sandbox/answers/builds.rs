//! Builds in build storage (service.md 10).

use super::prelude::*;
use crate::{
    sandbox::model::builds::StoredBuild,
    service::api::builds::{Build, BuildDetail, DeleteBuild, DeletedBuild, GetBuild, ListBuilds},
};

/// Error text of the service for an unknown build.
pub(crate) const NOT_FOUND: &str = "build not found";

impl StoredBuild {
    fn to_record(&self, project: &Project) -> Build {
        Build {
            id: self.id.clone(),
            name: self.name.clone(),
            platform: self.platform.clone(),
            file_name: self.file_name.clone(),
            status: self.status.clone(),
            file_size: self.file_size,
            pinned: self.pinned,
            sdk: self.sdk,
            tags: self.tags.clone(),
            created_at: self.created.to_string(),
            last_used: project.last_use(&self.id).map(|at| at.to_string()),
            description: self.description.clone(),
        }
    }

    /// Returns whether the build passes every filter of the request.
    fn matches(&self, request: &ListBuilds) -> bool {
        request.pinned.is_none_or(|pinned| pinned == self.pinned)
            && request.sdk.is_none_or(|sdk| sdk == self.sdk)
            && matches_id(request.status.as_deref(), Some(&self.status))
            && matches_id(request.platform.map(wire_name).as_deref(), Some(&self.platform))
            && has_all_tags(&self.tags, request.tags.as_deref())
    }
}

impl Answer<ListBuilds> for World {
    fn answer(&mut self, request: ListBuilds, caller: &Caller) -> AnswerResult<ListPage<Build>> {
        let project = self.project(caller)?;
        let matching = project.builds.values().filter(|build| build.matches(&request));
        let builds = newest_first(matching, |build| build.created);

        Ok(page(builds, request.page, request.page_size, |build| build.to_record(project)).into())
    }
}

impl Answer<GetBuild> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::NotFound(NOT_FOUND);

    fn answer(&mut self, request: GetBuild, caller: &Caller) -> AnswerResult<BuildDetail> {
        let project = self.project(caller)?;
        let build = existing(&project.builds, &request.build_id.0, NOT_FOUND)?;

        Ok(BuildDetail { build: build.to_record(project), details: build.details.clone() }.into())
    }
}

impl Answer<DeleteBuild> for World {
    fn answer(&mut self, request: DeleteBuild, caller: &Caller) -> AnswerResult<DeletedBuild> {
        let project = self.project_mut(caller)?;
        let id = existing(&project.builds, &request.build_id.0, NOT_FOUND)?.id.clone();
        project.delete_build(&id);

        Ok(DeletedBuild { message: "build deleted successfully".to_owned() }.into())
    }
}
