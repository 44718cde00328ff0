//! The state of a sandbox, and what its options set.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::sandbox::model::builds::PendingUpload;
use crate::sandbox::model::job::SimulatedJob;
use crate::sandbox::model::project::Project;
use crate::sandbox::model::records::IdSource;
use crate::sandbox::model::test_management::TestManagementSystem;
use crate::sandbox::model::time::{Moment, SimulatedClock};
use crate::sandbox::model::timeline::Timeline;

/// Default size of a part, in bytes (service.md 10.4).
const PART_SIZE: u64 = 104_857_600;

/// Options of a sandbox.
#[derive(Clone, Debug)]
pub struct Options {
    /// When the history ends and the simulated clock begins. `None`: now, by the clock of this machine.
    pub start: Option<Timestamp>,
    /// Simulated seconds per real second while a job is unfinished. With 0 the clock stands still until it is advanced.
    pub speed: f64,
    /// Name that the deployment uses for the test-management system (`TAS_TMSYS_NAME`).
    pub tmsys_name: String,
    /// Size of each part of a build upload except the last, in bytes.
    pub part_size: u64,
    /// The end of every key. Empty: the keys are public, and there are control routes, which need no key.
    pub secret: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            start: None,
            speed: 60.0,
            tmsys_name: "tmsys".into(),
            part_size: PART_SIZE,
            secret: String::new(),
        }
    }
}

/// The state of a sandbox.
#[derive(Debug)]
pub struct World {
    pub(crate) projects: BTreeMap<String, Project>,
    clock: SimulatedClock,
    /// When the last job is completed.
    busy_until: Moment,
    /// Simulated time of the current request. All parts of an answer show the same moment.
    pub(crate) now: Moment,
    pub(crate) ids: IdSource,
    pub(crate) test_management: TestManagementSystem,
    /// URL of the knowledge host, for links.
    pub(crate) knowledge_url: String,
    /// Size of each part of an upload except the last, in bytes.
    pub(crate) part_size: u64,
}

impl World {
    pub(crate) fn new(
        options: &Options,
        knowledge_url: String,
        start: Moment,
        projects: Vec<Project>,
    ) -> Self {
        let jobs = projects.iter().flat_map(|project| project.jobs.values());
        let busy_until = jobs.map(|job| Timeline::from_job(job).completed).max();

        Self {
            clock: SimulatedClock::new(start, options.speed),
            busy_until: busy_until.unwrap_or(start),
            projects: projects.into_iter().map(|project| (project.id.clone(), project)).collect(),
            now: start,
            ids: IdSource::default(),
            test_management: TestManagementSystem::default(),
            knowledge_url,
            part_size: options.part_size.max(1),
        }
    }

    /// Sets the time of the next request and removes expired uploads.
    pub(crate) fn update_now(&mut self) {
        self.now = self.clock.now(self.busy_until);
        for project in self.projects.values_mut() {
            project.storage.uploads.retain(|_, upload| self.now < upload.ends);
        }
    }

    pub(crate) fn add_job(&mut self, project: &str, job: SimulatedJob) {
        self.busy_until = self.busy_until.max(Timeline::from_job(&job).completed);
        if let Some(project) = self.projects.get_mut(project) {
            project.jobs.insert(job.id.clone(), job);
        }
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        self.clock.advance(seconds);
        self.update_now();
    }

    /// Returns the project with the run of a player. The run may be in the past or in the future.
    pub(crate) fn project_with_run(&self, player: &str) -> Option<String> {
        let run = player.rsplit_once('-').map_or(player, |(run, _)| run);
        let has_run = |project: &&Project| project.jobs.values().any(|job| job.may_have_run(run));
        self.projects.values().find(has_run).map(|project| project.id.clone())
    }

    pub(crate) fn upload(&mut self, build: &str) -> Option<&mut PendingUpload> {
        self.projects.values_mut().find_map(|project| project.storage.uploads.get_mut(build))
    }
}
