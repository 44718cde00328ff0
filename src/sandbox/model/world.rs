//! The state of a sandbox, what its options set, and its projects with their records: folders, bugs and knowledge files here, and the
//! others in their own modules.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use serde::Deserialize;

use crate::fields::Fields;
use crate::sandbox::model::builds::{BuildStorage, DeviceConfig, PendingUpload, StoredBuild};
use crate::sandbox::model::job::{Execution, PlayerDevice, RunAttempt, SimulatedJob, Timeline};
use crate::sandbox::model::records::{IdSource, Records, Versions, find};
use crate::sandbox::model::saved_test::{SavedPlan, SavedTest};
use crate::sandbox::model::test_management::TestManagementSystem;
use crate::sandbox::model::time::{Moment, SimulatedClock};
use crate::service::api::bugs::Severity;
use crate::service::api::configs::{AgentConfig, CredentialKind};
use crate::service::api::shared_steps::SharedStep;

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

/// Path of the root, which is no folder.
pub(crate) const ROOT: &str = "/";

#[derive(Clone, Debug, Default)]
pub(crate) struct Project {
    pub(crate) id: String,
    /// Whether the integration with the test-management system is enabled.
    pub(crate) integration: bool,
    /// Whether the project has the `bug_review` feature.
    pub(crate) bug_review: bool,
    pub(crate) folders: Records<Folder>,
    pub(crate) tests: Records<SavedTest>,
    pub(crate) test_versions: Versions<SavedTest>,
    pub(crate) shared_steps: Records<SharedStep>,
    pub(crate) shared_step_versions: Versions<SharedStep>,
    pub(crate) configs: Records<DeviceConfig>,
    pub(crate) agent_configs: Records<AgentConfig>,
    pub(crate) credential_kinds: Vec<CredentialKind>,
    pub(crate) builds: Records<StoredBuild>,
    pub(crate) storage: BuildStorage,
    pub(crate) plans: Records<SavedPlan>,
    pub(crate) bugs: IndexMap<String, StoredBug>,
    /// Oldest first.
    pub(crate) jobs: IndexMap<String, SimulatedJob>,
    /// Oldest first.
    pub(crate) executions: IndexMap<String, Execution>,
    pub(crate) knowledge: Vec<StoredKnowledgeFile>,
}

impl Project {
    pub(crate) fn newest_build(&self, kind: &str) -> Option<&Arc<StoredBuild>> {
        self.builds
            .values()
            .filter(|build| build.platform.split('-').next() == Some(kind))
            .max_by_key(|build| build.created)
    }

    pub(crate) fn folder_at(&self, path: &str) -> Option<&Arc<Folder>> {
        self.folders.values().find(|folder| folder.path == path)
    }

    /// Returns the path of the folder with this id, or [`ROOT`] for `None`.
    pub(crate) fn folder_path(&self, folder: Option<&str>) -> &str {
        folder.and_then(|id| find(&self.folders, id)).map_or(ROOT, |folder| &folder.path)
    }

    pub(crate) fn save_test(&mut self, test: SavedTest) {
        let test = Arc::new(test);
        self.test_versions.entry(test.id.clone()).or_default().push(Arc::clone(&test));
        self.tests.insert(test.id.clone(), test);
    }

    /// Returns whether a test has runs. A queued job counts, because it will have a run.
    pub(crate) fn has_runs_of(&self, test: &str) -> bool {
        self.jobs.values().any(|job| job.test.id == test && !Timeline::from_job(job).attempts.is_empty())
    }

    /// Removes a test from the repository and from every plan. Its runs keep the test as it was.
    pub(crate) fn remove_test(&mut self, test: &str) {
        self.tests.shift_remove(test);
        self.test_versions.remove(test);

        for plan in self.plans.values_mut().filter(|plan| plan.items.iter().any(|item| item.test == test)) {
            let items = plan.items.iter().filter(|item| item.test != test).cloned().collect();
            *plan = Arc::new(SavedPlan { items, ..SavedPlan::clone(plan) });
        }
    }

    pub(crate) fn jobs_of(&self, execution: &str) -> impl Iterator<Item = &SimulatedJob> {
        self.jobs.values().filter(move |job| job.execution.as_deref() == Some(execution))
    }

    /// Returns every run that exists at `now`, with its job. The oldest job comes first.
    pub(crate) fn runs(&self, now: Moment) -> Vec<(&SimulatedJob, RunAttempt)> {
        self.jobs.values().flat_map(|job| runs_of(job, now)).collect()
    }

    pub(crate) fn run_by_id(&self, id: &str, now: Moment) -> Option<(&SimulatedJob, RunAttempt)> {
        // Only jobs that can have the run id get a timeline, because a timeline is costly.
        let jobs = self.jobs.values().filter(|job| job.may_have_run(id));
        jobs.flat_map(|job| runs_of(job, now)).find(|(_, run)| run.id == id)
    }

    pub(crate) fn last_use(&self, build: &str) -> Option<Moment> {
        let uses = |player: &PlayerDevice| player.build.as_ref().is_some_and(|used| used.id == build);
        let jobs = self.jobs.values().filter(|job| job.player_devices.iter().any(uses));
        jobs.map(|job| job.created).max()
    }
}

fn runs_of(job: &SimulatedJob, now: Moment) -> impl Iterator<Item = (&SimulatedJob, RunAttempt)> {
    Timeline::from_job(job).into_attempts(now).map(move |run| (job, run))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Folder {
    pub(crate) id: String,
    /// Names of the ancestors and of the folder, joined by `/`.
    pub(crate) path: String,
    /// `None`: the folder is at the root.
    #[serde(skip)]
    pub(crate) parent: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) created: Moment,
    pub(crate) created_by: String,
}

pub(crate) fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(ROOT, |(parent, _)| parent)
}

pub(crate) fn child_of(path: &str, name: &str) -> String {
    if path == ROOT { name.to_owned() } else { format!("{path}/{name}") }
}

/// Returns a path in the form of records: without slashes at its ends, or [`ROOT`] if nothing is left.
pub(crate) fn normalize(path: &str) -> &str {
    match path.trim_matches('/') {
        "" => ROOT,
        path => path,
    }
}

/// A defect of the app that runs can detect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredBug {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) reproduction_steps: String,
    pub(crate) severity: Severity,
    pub(crate) category: String,
    pub(crate) confidence: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) details: Option<Fields>,
    /// `None`: no user has reviewed the bug.
    pub(crate) review: Option<BugReview>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BugReview {
    /// Time of the review. All occurrences before it count as reviewed.
    pub(crate) at: Moment,
    pub(crate) reviewer: String,
    pub(crate) comment: Option<String>,
    #[serde(default)]
    pub(crate) archived: bool,
    #[serde(default)]
    pub(crate) suppress_reporting: bool,
}

/// The runs that can read a knowledge file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KnowledgeScope {
    Project,
    Agent(String),
    TestCase(String),
}

impl KnowledgeScope {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Agent(_) => "agent",
            Self::TestCase(_) => "test_case",
        }
    }

    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Project => None,
            Self::Agent(id) | Self::TestCase(id) => Some(id.clone()),
        }
    }
}

/// A file in knowledge storage. A hidden file `.{name}.meta.json` holds the metadata of the file `{name}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredKnowledgeFile {
    pub(crate) scope: KnowledgeScope,
    /// Path below the root of the scope.
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) uploaded: Moment,
}
