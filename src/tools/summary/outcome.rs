//! The answer. Its shape is what the command line and reports build on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::call::paging::Omission;

/// What became of a run, a job or an execution. A test is a job, and its last started attempt counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Summary {
    /// `run`, `job` or `test_plan_execution`.
    pub target_type: String,
    pub target_id: String,
    /// Of the plan, or of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `completed` or `running`.
    pub state: String,
    /// Everything is over, and every verdict is SUCCESS.
    pub all_passed: bool,
    /// How many tests are over.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number of tests. Unknown words of the service are shown as they are; `no_run`: nothing was started.
    pub verdicts: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildName>,
    /// Instead of `build` where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildName>,
    /// Worst first; failures of a test at one step with one report are one entry.
    #[serde(default)]
    pub failures: Vec<Failed>,
    /// Tests that passed after an attempt that did not.
    #[serde(default)]
    pub flaky: Vec<Flaky>,
    /// Severity to number of bugs in the runs that failed.
    #[serde(default)]
    pub bugs: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    /// What there was no room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct TestName {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A build; its name is known where a run that failed, or the execution, tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct BuildName {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Failures that are alike.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Failed {
    pub test: TestName,
    pub verdict: String,
    /// The first failing step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepName>,
    /// What the step was to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What the agent reported, or why nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// Tests that failed so.
    pub count: usize,
    /// Three of their runs at most. Step, texts and artifacts are those of the first.
    pub run_ids: Vec<String>,
    /// Three of the jobs at most, where nothing was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_ids: Vec<String>,
    /// Worst first, each once.
    #[serde(default)]
    pub bugs: Vec<Bug>,
    /// File names.
    #[serde(default)]
    pub artifacts: Vec<String>,
}

/// A step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct StepName {
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Number of the player, from 1, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<u64>,
}

/// A bug of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Bug {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub title: String,
    pub severity: String,
}

/// A test that passed on retry.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Flaky {
    pub test: TestName,
    /// The run that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// How the attempts before ended.
    pub earlier: Vec<String>,
}

/// The difference to an earlier one. Tests are matched by id.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Comparison {
    /// Absent where there is nothing to compare with; `note` says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<With>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Failed now, and did not then.
    #[serde(default)]
    pub newly_failing: Vec<Change>,
    /// Passed now, and failed then.
    #[serde(default)]
    pub fixed: Vec<Change>,
    #[serde(default)]
    pub still_failing: Vec<Change>,
    /// Without a verdict now.
    #[serde(default)]
    pub not_run: Vec<Change>,
}

/// What it was compared with.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct With {
    pub target_type: String,
    pub target_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildName>,
}

/// A test that ended otherwise, or failed again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Change {
    pub test: TestName,
    /// Now; `running` while it goes on, absent where it was not part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Then; absent where it was not part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// What there was no room for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Name of the list, such as `failures` or `comparison.fixed`, to number of entries; `artifacts` and `bugs`: of
    /// the failures that are shown.
    #[serde(flatten)]
    pub counts: BTreeMap<String, usize>,
    /// How to see it.
    pub how: String,
}
