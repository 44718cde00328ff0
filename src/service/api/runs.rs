//! Runs: list, read, stop (supplement 2).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Id, ListPage, Open, Page, PageSize, Uuid};
use crate::service::{
    operation::{Operation, RequestInfo},
    tool::{ToolInfo, Toolset},
};

/// Lists test runs with their state and result.
///
/// The order is undefined. There are no filters for date, build or result. `get_run` returns steps and reports.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListRuns {
    /// Default `all`.
    pub state: Option<RunStateFilter>,
    pub multiplayer_test_id: Option<Uuid>,
    pub job_id: Option<Uuid>,
    pub test_plan_execution_id: Option<Uuid>,
    /// For example `verification`, `discovery`, `task`.
    pub test_type: Option<String>,
    /// A run must have all of these tags.
    pub tags: Option<Vec<String>>,
    /// `true` returns only runs with bugs.
    pub bugs: Option<bool>,
    pub page: Option<Page>,
    pub page_size: Option<PageSize<20>>,
}

/// Filter by the state of a run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RunStateFilter {
    Running,
    Completed,
    All,
}

impl Operation for ListRuns {
    const TOOL: ToolInfo = ToolInfo::reads("list_runs", "List runs", Toolset::Runs)
        .core()
        .needs("project:read-runs")
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/runs");
    type Answer = ListPage<Run>;
}

/// Returns one test run in full: result, players, steps with reports and expected results, artifacts.
///
/// `get_job` returns the run ids of a job.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetRun {
    /// Id of a run, not of a job or of one player.
    pub run_id: Id,
}

impl Operation for GetRun {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_run", "Get a run", Toolset::Runs).core().needs("project:read-runs").with_view();
    const REQUEST: RequestInfo = RequestInfo::get("/runs/{run_id}");
    type Answer = RunDetail;
}

/// Stops queued or running jobs immediately, with all their runs.
///
/// Unfinished steps remain incomplete. Returns one result per job.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StopRuns {
    /// At least one job id, from `start_run` or `list_jobs`. Run ids are not accepted.
    #[schemars(length(min = 1))]
    pub job_ids: Vec<Uuid>,
}

impl Operation for StopRuns {
    const TOOL: ToolInfo = ToolInfo::stops("stop_runs", "Stop the runs of jobs", Toolset::Runs)
        .core()
        .needs("project:operate-runs")
        .recovery_hint("check with `get_job` before another call");
    const REQUEST: RequestInfo = RequestInfo::post("/runs/stop");
    type Answer = StopRunsResponse;
}

/// A run, list form (supplement 2.2).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Run {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayer>,
}

/// The fields that both forms of a run have.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunHead {
    pub job_id: String,
    /// Id of the run.
    pub multiplayer_run_id: String,
    pub project_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    /// `SUCCESS`, `FAILED`, `SKIPPED`, `BLOCKED`, `TIMEOUT`, `ERROR`, `STOPPED`, `MAX_STEPS`; null until completed.
    pub result: Option<String>,
    pub bug_info: Option<BugInfo>,
    pub test: TestRef,
    pub build: Option<BuildRef>,
    pub created_at: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_ms: Option<f64>,
    pub initiator: Option<Initiator>,
    pub tags: Vec<String>,
}

/// A run, detail form (supplement 2.4).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayerDetail>,
    pub templating_enabled: bool,
    /// Null if templating is off.
    pub template_data: Option<Open>,
}

/// Number of bugs found by a verification test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BugInfo {
    pub bug_label: String,
    pub bug_count: usize,
}

/// The test of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestRef {
    pub id: String,
    pub name: String,
    pub r#type: String,
}

/// The build of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BuildRef {
    pub id: String,
    pub name: Option<String>,
}

/// The person or system that started a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Initiator {
    pub r#type: String,
    pub value: Open,
}

/// A player of a run, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunPlayer {
    /// Id of the player, `<run>-<player>`.
    pub id: String,
    pub state: String,
    pub result: Option<String>,
    /// Starts at 1.
    pub player_number: usize,
    pub test_name: Option<String>,
    pub composite_test_id: Option<String>,
    pub step_count: Option<usize>,
    pub completed_step_count: Option<usize>,
    /// Number of steps by result.
    pub step_result_summary: Option<Open>,
    #[schemars(extend("type" = ["object", "string", "null"]))]
    pub platform: Option<Open>,
}

/// A player of a run, detail form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunPlayerDetail {
    #[serde(flatten)]
    pub player: RunPlayer,
    pub artifacts: Vec<RunArtifactRef>,
    pub steps: Vec<RunStep>,
}

/// A file that a player produced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunArtifactRef {
    pub filename: String,
    pub url: String,
    /// Size in bytes.
    pub size: u64,
    pub uploaded_at: String,
}

/// A step of a player.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunStep {
    pub step_number: usize,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub duration_ms: Option<f64>,
    pub run_state: String,
    pub run_result: Option<String>,
    pub report: Option<String>,
    pub items: Option<Vec<RunStepItem>>,
    pub test: RunStepTest,
}

/// An expected result of a step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunStepItem {
    pub id: String,
    pub expected: String,
    /// `passed`, `failed`, `skipped`, `blocked`, `stopped`, `timeout`, `error` or `pending`.
    pub status: String,
    pub comment: Option<String>,
}

/// The definition of a step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunStepTest {
    pub test_step_id: String,
    pub goal: Option<String>,
    pub finish_condition: Option<String>,
    pub test_type: String,
}

/// Result of stopping jobs (supplement 2.6).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StopRunsResponse {
    /// True only when every job was stopped.
    pub ok: bool,
    pub message: Option<String>,
    pub received_count: usize,
    pub stopped_count: usize,
    pub results: Vec<StopResult>,
}

/// Result of stopping one job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct StopResult {
    pub job_id: String,
    pub ok: bool,
    pub status: u16,
    pub message: Option<String>,
    pub error: Option<String>,
}
