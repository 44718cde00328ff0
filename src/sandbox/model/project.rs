//! A project and its records: folders, bugs and knowledge files here, and the others in their own modules.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::fields::Fields;
use crate::sandbox::model::builds::{BuildStorage, DeviceConfig, StoredBuild};
use crate::sandbox::model::job::{Execution, PlayerDevice, SimulatedJob};
use crate::sandbox::model::records::{Records, Versions, find};
use crate::sandbox::model::saved_test::{SavedPlan, SavedTest};
use crate::sandbox::model::time::Moment;
use crate::sandbox::model::timeline::{RunAttempt, Timeline};
use crate::service::api::bugs::Severity;
use crate::service::api::configs::{AgentConfig, CredentialKind};
use crate::service::api::shared_steps::SharedStep;

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
