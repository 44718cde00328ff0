//! Builds in build storage (supplement 10).

use super::{
    Answer, Answered, Caller, Fault, Invalid, World,
    clock::Moment,
    lists::{self, carries, passes, word},
    project::{Dialect, Project, find},
};
use crate::service::api::{
    ListPage, Open,
    builds::{self, BuildDetail, DeleteBuild, DeletedBuild, GetBuild, ListBuilds},
};

/// The text of the service for a build that it does not know.
pub(super) const NOT_FOUND: &str = "build not found";

/// A build in build storage.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) platform: String,
    pub(super) file_name: String,
    pub(super) file_size: u64,
    pub(super) status: String,
    pub(super) pinned: bool,
    pub(super) sdk: bool,
    pub(super) tags: Vec<String>,
    pub(super) created: Moment,
    pub(super) description: Option<String>,
    pub(super) details: Option<Open>,
}

impl Build {
    fn shown(&self, project: &Project) -> builds::Build {
        builds::Build {
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

    fn is_wanted(&self, asked: &ListBuilds) -> bool {
        asked.pinned.is_none_or(|pinned| pinned == self.pinned)
            && asked.sdk.is_none_or(|sdk| sdk == self.sdk)
            && passes(asked.status.as_deref(), Some(&self.status))
            && passes(asked.platform.map(word).as_deref(), Some(&self.platform))
            && carries(&self.tags, asked.tags.as_deref())
    }
}

impl Project {
    /// The word for a build that can be started.
    pub(super) fn status_of_builds(&self) -> &'static str {
        match self.dialect {
            Dialect::Upper => "OK",
            Dialect::Lower => "ready",
        }
    }

    /// When the latest job with that build was made.
    pub(super) fn last_use(&self, build: &str) -> Option<Moment> {
        let uses = self.jobs.values().filter(|job| {
            job.seats.iter().any(|seat| seat.build.as_ref().is_some_and(|used| used.id == build))
        });
        uses.map(|job| job.created).max()
    }
}

impl Answer<ListBuilds> for World {
    fn answer(
        &mut self,
        asked: ListBuilds,
        caller: &Caller,
    ) -> Result<Answered<ListPage<builds::Build>>, Fault> {
        let project = self.project(caller)?;
        let wanted = project.builds.values().filter(|build| build.is_wanted(&asked));
        let builds = lists::newest_first(wanted, |build| build.created);
        Ok(lists::page(builds, asked.page, asked.page_size, |build| build.shown(project)).into())
    }
}

impl Answer<GetBuild> for World {
    const INVALID: Invalid = Invalid::NotFound(NOT_FOUND);

    fn answer(&mut self, asked: GetBuild, caller: &Caller) -> Result<Answered<BuildDetail>, Fault> {
        let project = self.project(caller)?;
        let build = find(&project.builds, &asked.build_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        Ok(BuildDetail { build: build.shown(project), details: build.details.clone() }.into())
    }
}

impl Answer<DeleteBuild> for World {
    fn answer(&mut self, asked: DeleteBuild, caller: &Caller) -> Result<Answered<DeletedBuild>, Fault> {
        let project = self.project_mut(caller)?;
        let build = find(&project.builds, &asked.build_id.0).ok_or_else(|| Fault::not_found(NOT_FOUND))?;
        let id = build.id.clone();
        project.delete_build(&id);
        Ok(DeletedBuild { message: "build deleted successfully".to_owned() }.into())
    }
}
