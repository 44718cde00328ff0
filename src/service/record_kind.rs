//! The kinds of records, and of these the ones that hold test results: runs, jobs and executions of test plans.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    fields::{Fields, text_at},
    service::{
        api::{Id, Uuid, bugs, builds, configs, folders, jobs, plans, runs, shared_steps, tests},
        arguments::is_uuid,
        catalog::{ListedOperation as _, OperationEntry},
    },
};

// No doc comment, because it would become part of the description of arguments.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, from = "String", into = "String")]
#[schemars(extend("enum" = [&ResultKind::ALL.map(Self::Result)[..], &Self::NAMED].concat()))]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
pub enum RecordKind {
    #[default]
    Test,
    TestPlan,
    TestFolder,
    DeploymentConfig,
    AgentConfig,
    Build,
    SharedStep,
    Bug,
    #[serde(untagged)]
    Result(ResultKind),
}

impl RecordKind {
    /// The kinds whose records have names.
    pub const NAMED: [Self; 8] = [
        Self::Test,
        Self::TestPlan,
        Self::TestFolder,
        Self::DeploymentConfig,
        Self::AgentConfig,
        Self::Build,
        Self::SharedStep,
        Self::Bug,
    ];

    /// The kinds that are described, and whose records have names.
    pub const DESCRIBED_BY_NAME: [Self; 5] =
        [Self::Test, Self::TestPlan, Self::Build, Self::DeploymentConfig, Self::Bug];

    /// The kinds of which `describe_record` and `show` describe a record.
    pub fn described() -> Vec<Self> {
        [&ResultKind::ALL.map(Self::Result)[..], &Self::DESCRIBED_BY_NAME].concat()
    }

    /// Returns the operation that lists the records.
    pub fn list(self) -> &'static OperationEntry {
        match self {
            Self::Result(ResultKind::Run) => runs::ListRuns::entry(),
            Self::Result(ResultKind::Job) => jobs::ListJobs::entry(),
            Self::Result(ResultKind::Execution) => jobs::ListTestPlanExecutions::entry(),
            Self::Test => tests::ListTests::entry(),
            Self::TestPlan => plans::ListTestPlans::entry(),
            Self::TestFolder => folders::ListTestFolders::entry(),
            Self::DeploymentConfig => configs::ListDeploymentConfigs::entry(),
            Self::AgentConfig => configs::ListAgentConfigs::entry(),
            Self::Build => builds::ListBuilds::entry(),
            Self::SharedStep => shared_steps::ListSharedSteps::entry(),
            Self::Bug => bugs::ListBugs::entry(),
        }
    }

    /// Returns the arguments without which the list does not contain every record.
    pub fn filter(self) -> Fields {
        (self == Self::Bug).then(|| ("status".to_owned(), json!("all"))).into_iter().collect()
    }

    /// Returns whether a text has the form of the ids of this kind (service.md 1.7, 8, 9).
    pub fn may_have_id(self, text: &str) -> bool {
        match self {
            Self::Bug => text.starts_with("bug_"),
            Self::SharedStep => text.starts_with("ssc_"),
            Self::Result(ResultKind::Run) => {
                let is_word = !text.contains(char::is_whitespace) && !text.starts_with("bug_");
                is_word && text.contains(|one: char| one.is_ascii_digit()) && !is_uuid(text)
            }
            _ => is_uuid(text),
        }
    }

    /// Returns the field of a listed record that holds its id.
    pub fn id_field(self) -> &'static str {
        self.list().records.map_or("id", |keys| keys.id)
    }

    /// Returns the names by which users know a record of the list: a folder also by its path, a build by its file.
    pub fn names(self, record: &Value) -> Vec<&str> {
        let name = self.list().records.map_or("name", |keys| keys.name);
        let other = match self {
            Self::TestFolder => Some("path"),
            Self::Build => Some("file_name"),
            _ => None,
        };

        [Some(name), other].into_iter().flatten().filter_map(|field| text_at(record, field)).collect()
    }
}

/// A kind of record that holds test results.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// One run of a test (service.md 2).
    Run,
    /// A queued test with one run per attempt (service.md 3).
    Job,
    /// An execution of a test plan, with one job per test (service.md 5).
    #[serde(rename = "test_plan_execution")]
    Execution,
}

impl ResultKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Run, Self::Job, Self::Execution];

    /// Returns the noun for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Job => "job",
            Self::Execution => "plan execution",
        }
    }

    /// Returns the argument that takes an id of this kind, in every operation and tool that has one.
    pub const fn argument(self) -> &'static str {
        match self {
            Self::Run => "run_id",
            Self::Job => "job_id",
            Self::Execution => "test_plan_execution_id",
        }
    }

    /// Returns the field of a record of this kind that holds the id of the record.
    pub fn id_field(self) -> &'static str {
        RecordKind::Result(self).id_field()
    }

    /// Returns the fields that refer to records of this kind by id, in the arguments and answers of all operations.
    pub const fn reference_fields(self) -> &'static [&'static str] {
        match self {
            Self::Run => &["run_id", "multiplayer_run_id", "multiplayer_run_ids"],
            Self::Job => &["job_id", "job_ids"],
            Self::Execution => &["test_plan_execution_id"],
        }
    }

    /// Returns the entry of the operation that reads a record of this kind.
    pub fn entry(self) -> &'static OperationEntry {
        match self {
            Self::Run => runs::GetRun::entry(),
            Self::Job => jobs::GetJob::entry(),
            Self::Execution => jobs::GetTestPlanExecution::entry(),
        }
    }
}

/// The id of a run, a job or an execution of a test plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ResultId {
    /// The kind of record that the id refers to.
    pub kind: ResultKind,
    /// The id.
    pub id: String,
}

impl ResultId {
    /// Creates the id of a record of the kind `kind`.
    pub fn new(kind: ResultKind, id: impl Into<String>) -> Self {
        Self { kind, id: id.into() }
    }

    /// Returns the arguments that name the record, for [`ResultKind::entry`] and for the lists that belong to it.
    pub fn to_arguments(&self) -> Fields {
        Fields::from_iter([(self.kind.argument().to_owned(), json!(self.id))])
    }

    /// Returns the id of the run if this is the id of a player of a run, `<run>-<player>` (service.md 1.8). Returns
    /// every other id unchanged.
    #[must_use]
    pub fn without_player(mut self) -> Self {
        if let Some((run, _)) = self.id.rsplit_once('-').filter(|_| self.kind == ResultKind::Run) {
            self.id = run.to_owned();
        }
        self
    }
}

/// What a wait, a summary or a report is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultTarget {
    /// One run, one job or one execution of a test plan.
    Single(ResultId),
    /// Several jobs, by their ids.
    Jobs(Vec<String>),
}

impl ResultTarget {
    /// Argument that takes the ids of several jobs, in every tool that has one.
    pub const JOBS_ARGUMENT: &str = "job_ids";

    /// Returns the target that the first of these arguments names.
    pub fn from_arguments(
        run: Option<Id>,
        job: Option<Uuid>,
        execution: Option<Id>,
        jobs: Option<Vec<Uuid>>,
    ) -> Option<Self> {
        let run = run.map(|id| ResultId::new(ResultKind::Run, id.0));
        let job = || job.map(|id| ResultId::new(ResultKind::Job, id.0));
        let execution = || execution.map(|id| ResultId::new(ResultKind::Execution, id.0));
        let jobs = || jobs.map(|ids| Self::Jobs(ids.into_iter().map(|id| id.0).collect()));

        run.or_else(job).or_else(execution).map(Self::Single).or_else(jobs)
    }

    /// Returns the kind of the record if the target is a single record.
    pub const fn kind(&self) -> Option<ResultKind> {
        match self {
            Self::Single(id) => Some(id.kind),
            Self::Jobs(_) => None,
        }
    }

    /// Returns the id if the target is a single record.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Single(id) => Some(&id.id),
            Self::Jobs(_) => None,
        }
    }

    /// Returns the value of the field `target_type` in the answers of `wait_for_completion` and `summarize_results`.
    pub fn target_type(&self) -> &'static str {
        self.kind().map_or("jobs", |kind| kind.argument().trim_end_matches("_id"))
    }

    /// Returns the arguments that name the target in tools.
    pub fn to_arguments(&self) -> Fields {
        match self {
            Self::Single(id) => id.to_arguments(),
            Self::Jobs(ids) => Fields::from_iter([(Self::JOBS_ARGUMENT.to_owned(), json!(ids))]),
        }
    }
}

impl From<ResultId> for ResultTarget {
    fn from(id: ResultId) -> Self {
        Self::Single(id)
    }
}
