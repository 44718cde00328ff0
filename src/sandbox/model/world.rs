//! The state of the sandbox.

use std::collections::BTreeMap;

use crate::sandbox::{
    model::{
        clock::SimulatedClock, ids::IdSource, moment::Moment, pending_upload::PendingUpload,
        project::Project, test_management::TestManagementSystem,
    },
    options::Options,
};

/// Everything that the sandbox remembers.
#[derive(Debug)]
pub struct World {
    projects: BTreeMap<String, Project>,
    clock: SimulatedClock,
    /// When the present request is answered: one moment for all that it shows.
    pub(crate) now: Moment,
    pub(crate) ids: IdSource,
    /// The test-management system at the other end of the integration.
    pub(crate) test_management: TestManagementSystem,
    /// Address of the knowledge host, for links.
    pub(crate) knowledge_url: String,
    /// Bytes of each part of an upload but the last.
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

    /// Takes the time for the next request, and lets go of uploads whose time has passed.
    pub(crate) fn update_now(&mut self) {
        self.now = self.clock.now();
        for project in self.projects.values_mut() {
            project.storage.end_expired(self.now);
        }
    }

    /// Moves the clock ahead.
    pub(crate) fn advance(&mut self, seconds: f64) {
        self.clock.advance(seconds);
        self.update_now();
    }

    /// Every project, by id.
    pub(crate) const fn projects(&self) -> &BTreeMap<String, Project> {
        &self.projects
    }

    /// Every project by id, for changes.
    pub(crate) const fn projects_mut(&mut self) -> &mut BTreeMap<String, Project> {
        &mut self.projects
    }

    /// The project that has the run of a player's id, or had a run of that id at some time.
    pub(crate) fn project_with_run(&self, player: &str) -> Option<String> {
        let run = player.rsplit_once('-').map_or(player, |(run, _)| run);
        let has = |project: &&Project| project.jobs.values().any(|job| job.may_have_run(run));
        self.projects.values().find(has).map(|project| project.id.clone())
    }

    /// The unfinished upload of that build, whatever its project.
    pub(crate) fn upload(&mut self, build: &str) -> Option<&mut PendingUpload> {
        self.projects.values_mut().find_map(|project| project.storage.uploads.get_mut(build))
    }

    /// Whether some project has an execution of that id.
    pub(crate) fn has_execution(&self, id: &str) -> bool {
        self.projects.values().any(|project| project.executions.contains_key(id))
    }
}
