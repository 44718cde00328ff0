//! The answer of a summary. The command line and the report page depend on its form.
#![expect(missing_docs, reason = "the names of most fields are self-explanatory")]

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::text::guidance::Guidance;
pub use crate::tools::{
    names::BuildName,
    unread::{Missing, Omission},
};

/// Results of a run, a job or an execution. A test is a job; its last started attempt decides.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    #[serde(flatten)]
    pub missing: Missing,
    /// `run`, `job`, `test_plan_execution` or `jobs`.
    pub target_type: String,
    /// Absent with several jobs.
    pub target_id: Option<String>,
    /// Project of all records, if the requests name one.
    pub project_id: Option<String>,
    /// Name of the plan or of the test.
    pub name: Option<String>,
    /// `completed` or `running`.
    pub state: String,
    /// Everything is finished, and every verdict is SUCCESS. Absent: not known.
    pub all_passed: Option<bool>,
    /// Number of finished tests.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number of tests. Unknown results are passed on unchanged; `no_run`: nothing was started; `failed or
    /// error`: the tests were counted and not read.
    pub verdicts: BTreeMap<String, usize>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_ms: Option<u64>,
    pub build: Option<BuildName>,
    /// Instead of `build` if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildName>,
    pub history: Option<History>,
    /// Worst first; failures of one test at the same step with the same report are one entry. Absent: not known.
    pub failures: Option<Vec<FailureEntry>>,
    /// Tests that passed when a failed attempt was retried. Flaky tests alternate over executions. Absent: not known.
    pub passed_after_retry: Option<Vec<ListedTest>>,
    /// Severity to number of bugs, also of runs that passed. Absent: not known.
    #[schemars(with = "Option<BTreeMap<String, usize>>")]
    pub bugs: Option<IndexMap<String, usize>>,
    /// `true`: every bug of the last attempts is counted here, and none has to be looked up.
    pub bugs_complete: Option<bool>,
    /// Tests that passed, and whose run has bugs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_with_bugs: Vec<ListedTest>,
    /// The slowest tests of several, slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<ListedTest>,
    pub comparison: Option<Comparison>,
    /// What did not fit.
    pub left_out: Option<LeftOut>,
}

impl Summary {
    /// Returns the name of what is summarized, else its id.
    pub fn title(&self) -> &str {
        self.name.as_deref().or(self.target_id.as_deref()).unwrap_or_default()
    }
}

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct TestName {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A group of similar failures.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FailureEntry {
    pub test: TestName,
    pub verdict: String,
    /// The first failing step.
    pub step: Option<StepName>,
    /// Expected result of the step.
    pub expected: Option<String>,
    /// Report of the agent, or why nothing was run.
    pub observed: Option<String>,
    /// Number of tests in the group.
    pub count: usize,
    /// At most three. Step, texts and artifacts are those of the first run.
    pub run_ids: Vec<String>,
    /// The player of the first run that failed, whose id files are read with.
    pub player_id: Option<String>,
    /// At most three, if nothing was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_ids: Vec<String>,
    /// Worst first, each once.
    #[serde(default)]
    pub bugs: Vec<BugEntry>,
    /// File names of all players. A model gets them only if `fields` names them.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// Names of the devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<String>,
}

/// A step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StepName {
    pub number: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Number of the player, from 1, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<usize>,
}

/// A bug of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BugEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub title: String,
    pub severity: String,
}

/// A test in a list of tests that have something in common.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListedTest {
    pub test: TestName,
    /// The run that decides.
    pub run_id: Option<String>,
    /// Worst first, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bugs: Vec<BugEntry>,
    /// Results of the earlier attempts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// How long the run took.
    pub duration_ms: Option<u64>,
}

/// Changes since an earlier result. Tests are matched by id. A list that could not be computed is absent.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Absent if there is nothing to compare with; `note` says why.
    pub with: Option<EarlierResult>,
    pub note: Option<String>,
    /// Failed now, not there.
    pub new: Option<Vec<TestChange>>,
    /// Failed now and there.
    pub known: Option<Vec<TestChange>>,
    /// Passed now, failed there.
    pub fixed: Option<Vec<TestChange>>,
    /// Without a verdict now.
    pub not_run: Option<Vec<TestChange>>,
}

/// The last results of a plan or a test, as a grid.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// What the letters in `tests[].results` mean.
    pub letters: BTreeMap<String, String>,
    /// Executions of the plan, or runs of the test, the oldest first.
    pub results: Vec<HistoryResult>,
    /// Number of tests whose verdict changed. They come first.
    pub changing: usize,
    pub tests: Vec<HistoryTest>,
}

/// A column of the grid.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct HistoryResult {
    pub id: Option<String>,
    pub started_at: Option<String>,
    /// Name of the build, or its id, if the whole result tests one.
    pub build: Option<String>,
}

/// A row of the grid.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryTest {
    #[serde(flatten)]
    pub test: TestName,
    /// One letter for each result, the oldest first.
    pub results: String,
    /// `flaky`: passed and failed (FAILED, BLOCKED) in turns. `passed_after_retry`, `infrastructure`: what failed was not
    /// the product.
    pub label: Option<String>,
    /// The newest run that failed.
    pub failed_run_id: Option<String>,
}

/// The earlier result of a comparison.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct EarlierResult {
    pub target_type: String,
    pub target_id: String,
    pub started_at: Option<String>,
    pub build: Option<BuildName>,
}

/// A test whose result changed, or that failed again.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestChange {
    pub test: TestName,
    /// Verdict now; `running` if unfinished, absent if the test was not included.
    pub verdict: Option<String>,
    /// Verdict there; absent if the test was not included.
    pub was: Option<String>,
    pub run_id: Option<String>,
}

/// What the answer is too short for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Name of the list to number of omitted entries; `artifacts` and `bugs`: of single failures.
    #[serde(flatten)]
    pub counts: BTreeMap<String, usize>,
    /// How to get it.
    #[schemars(with = "String")]
    pub how: Guidance,
}
