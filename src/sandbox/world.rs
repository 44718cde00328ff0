//! The state of the sandbox.

use std::collections::BTreeMap;

use super::{
    Caller, Fault, Options,
    build_storage::Upload,
    clock::{Clock, Moment},
    ids::Ids,
    project::Project,
    remote::Remote,
    seed,
};

/// Everything that the sandbox remembers.
#[derive(Debug)]
pub struct World {
    projects: BTreeMap<String, Project>,
    clock: Clock,
    /// When the present request is answered: one moment for all that it shows.
    pub(super) now: Moment,
    pub(super) ids: Ids,
    /// The test-management system at the other end of the integration.
    pub(super) remote: Remote,
    /// Address of the knowledge host, for links.
    pub(super) knowledge_url: String,
    /// Bytes of each part of an upload but the last.
    pub(super) part_size: u64,
}

impl World {
    /// The seed data, at the start of time.
    pub(super) fn new(options: &Options, knowledge_url: String) -> Self {
        let projects = [seed::demo::project(), seed::arena::project()];
        Self {
            projects: projects.into_iter().map(|project| (project.id.clone(), project)).collect(),
            clock: Clock::new(options.speed),
            now: Moment::START,
            ids: Ids::default(),
            remote: Remote::default(),
            knowledge_url,
            part_size: options.part_size.max(1),
        }
    }

    /// Takes the time for the next request, and lets go of uploads whose time has passed.
    pub(super) fn look_at_clock(&mut self) {
        self.now = self.clock.now();
        for project in self.projects.values_mut() {
            project.storage.end_late(self.now);
        }
    }

    /// Moves the clock ahead.
    pub(super) fn advance(&mut self, seconds: f64) {
        self.clock.advance(seconds);
        self.look_at_clock();
    }

    /// Every project, by id.
    pub(super) const fn projects(&self) -> &BTreeMap<String, Project> {
        &self.projects
    }

    /// The project that a request acts on.
    pub(super) fn project(&self, caller: &Caller) -> Result<&Project, Fault> {
        self.projects.get(&caller.project).ok_or_else(no_project)
    }

    /// The project that a request changes.
    pub(super) fn project_mut(&mut self, caller: &Caller) -> Result<&mut Project, Fault> {
        self.projects.get_mut(&caller.project).ok_or_else(no_project)
    }

    /// The project that has the run of a player's id, or had a run of that id at some time.
    pub(super) fn project_with_run(&self, player: &str) -> Option<String> {
        let run = player.rsplit_once('-').map_or(player, |(run, _)| run);
        let has = |project: &&Project| project.jobs.values().any(|job| job.may_have_run(run));
        self.projects.values().find(has).map(|project| project.id.clone())
    }

    /// The unfinished upload of that build, whatever its project.
    pub(super) fn upload(&mut self, build: &str) -> Option<&mut Upload> {
        self.projects.values_mut().find_map(|project| project.storage.uploads.get_mut(build))
    }

    /// Whether some project has an execution of that id.
    pub(super) fn has_execution(&self, id: &str) -> bool {
        self.projects.values().any(|project| project.executions.contains_key(id))
    }
}

/// Not every operation has a 404, but each has a 403.
fn no_project() -> Fault {
    Fault::forbidden("API key does not match the project")
}
