//! The kinds of records that hold test results: runs, jobs and executions of test plans.

use serde_json::json;

use crate::{
    fields::Fields,
    service::{
        api::{executions::GetTestPlanExecution, jobs::GetJob, runs::GetRun},
        catalog::{ListedOperation as _, OperationEntry},
    },
};

/// A kind of record that holds test results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// One run of a test (service.md 2).
    Run,
    /// A queued test with one run per attempt (service.md 3).
    Job,
    /// An execution of a test plan, with one job per test (service.md 5).
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

    /// Returns the value of the field `target_type` in the answers of `wait_for_completion` and `summarize_results`.
    pub const fn target_type(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Job => "job",
            Self::Execution => "test_plan_execution",
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
    pub const fn id_field(self) -> &'static str {
        match self {
            Self::Run => "multiplayer_run_id",
            Self::Job => "job_id",
            Self::Execution => "id",
        }
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
            Self::Run => GetRun::entry(),
            Self::Job => GetJob::entry(),
            Self::Execution => GetTestPlanExecution::entry(),
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
