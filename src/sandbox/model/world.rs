//! The state of the sandbox.

use std::collections::BTreeMap;

use crate::sandbox::{
    model::{
        clock::SimulatedClock, ids::IdSource, moment::Moment, pending_upload::PendingUpload,
        project::Project, test_management::TestManagementSystem,
    },
    options::Options,
};

/// The state of a sandbox.
#[derive(Debug)]
pub struct World {
    projects: BTreeMap<String, Project>,
    clock: SimulatedClock,
    /// Simulated time of the current request. All parts of an answer show the same moment.
    pub(crate) now: Moment,
    pub(crate) ids: IdSource,
    /// The test-management system of the integration.
    pub(crate) test_management: TestManagementSystem,
    /// URL of the knowledge host, for links.
    pub(crate) knowledge_url: String,
    /// Size of each part of an upload except the last, in bytes.
    pub(crate) part_size: u64,
}

impl World {
    /// Creates a world with `projects`, at the start of simulated time.
    pub(crate) fn new(
        options: &Options,
        knowledge_url: String,
        projects: impl IntoIterator<Item = Project>,
    ) -> Self {
        Self {
            projects: projects.into_iter().map(|project| (project.id.clone(), project)).collect(),
            clock: SimulatedClock::new(options.speed),
            now: Moment::START,
            ids: IdSource::default(),
            test_management: TestManagementSystem::default(),
            knowledge_url,
            part_size: options.part_size.max(1),
        }
    }

    /// Sets the time of the next request and removes expired uploads.
    pub(crate) fn update_now(&mut self) {
        self.now = self.clock.now();
        for project in self.projects.values_mut() {
            project.storage.end_expired(self.now);
        }
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        self.clock.advance(seconds);
        self.update_now();
    }

    /// Returns every project by id.
    pub(crate) const fn projects(&self) -> &BTreeMap<String, Project> {
        &self.projects
    }

    /// Returns every project by id for changes.
    pub(crate) const fn projects_mut(&mut self) -> &mut BTreeMap<String, Project> {
        &mut self.projects
    }

    /// Returns the project with the run of a player. The run may be in the past or in the future.
    pub(crate) fn project_with_run(&self, player: &str) -> Option<String> {
        let run = player.rsplit_once('-').map_or(player, |(run, _)| run);
        let has_run = |project: &&Project| project.jobs.values().any(|job| job.may_have_run(run));
        self.projects.values().find(has_run).map(|project| project.id.clone())
    }

    /// Returns the unfinished upload of a build of any project.
    pub(crate) fn upload(&mut self, build: &str) -> Option<&mut PendingUpload> {
        self.projects.values_mut().find_map(|project| project.storage.uploads.get_mut(build))
    }

    /// Returns whether any project has the execution.
    pub(crate) fn has_execution(&self, id: &str) -> bool {
        self.projects.values().any(|project| project.executions.contains_key(id))
    }
}
