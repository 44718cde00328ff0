//! Jobs, which a start creates, and executions of test plans, with one job per test. Each attempt of a job is a run (service.md 3,
//! 5).

use super::prelude::*;

/// Lists jobs with their runs, one per attempt.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListJobs {
    /// `queued`, `running`, `completed` or `all` (default).
    pub status: Option<JobStatusFilter>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Uuid>,
    /// From `tool:find_by_name/list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// Jobs with all of these tags.
    pub tags: Option<Vec<String>>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum JobStatusFilter {
    Queued,
    Running,
    Completed,
    All,
}

impl Operation for ListJobs {
    const TOOL: ToolInfo = ToolInfo::lists("list_jobs", "List jobs", Toolset::Runs)
        .brief("job_id,status,created_at,test_name,platform,queue_rejection_reason,runs.multiplayer_run_id,runs.result")
        .needs("project:read-runs")
        .records(RecordKeys { id: "job_id", times: &["created_at"], name: "test_name" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/jobs");
    type Answer = ListPage<Job>;
}

/// Returns one job: its status and its runs, one per attempt.
///
/// The run with the latest `started_at` decides the result. Without runs, see `queue_rejection_reason`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetJob {
    /// From `tool:list_jobs/list_runs`.
    pub job_id: Uuid,
}

impl Operation for GetJob {
    const TOOL: ToolInfo = ToolInfo::reads("get_job", "Get a job", Toolset::Runs).needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/jobs/{job_id}");
    type Answer = Job;
}

// service.md 3.2
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Job {
    pub job_id: String,
    pub project_id: String,
    /// `QUEUED`, `STARTING`, `RUNNING`, `STOPPING`, `CLEANING_UP` or `COMPLETED`, in either letter case.
    pub status: String,
    pub created_at: String,
    pub completed_at: Option<String>,
    pub multiplayer_test_id: Option<String>,
    pub test_name: Option<String>,
    pub platform: Option<String>,
    pub build_id: Option<String>,
    pub test_plan_execution_id: Option<String>,
    pub queue_rejection_reason: Option<String>,
    pub templating_enabled: bool,
    pub template_data: Option<Open>,
    pub stopped_by: Option<Open>,
    pub tags: Vec<String>,
    pub retries: Option<Retries>,
    pub runs: Vec<JobRun>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Retries {
    pub total: u8,
    pub remaining: u8,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct JobRun {
    pub multiplayer_run_id: String,
    pub state: Option<String>,
    pub result: Option<String>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// Number of players.
    pub players: Option<usize>,
}

/// Lists executions of test plans with counts of passed, failed and running tests, newest first.
///
/// `test_status.failed` also counts ERROR, TIMEOUT, BLOCKED and `MAX_STEPS`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestPlanExecutions {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Option<Uuid>,
    /// From `tool:find_by_name/list_builds`.
    pub build_id: Option<Uuid>,
    /// `completed`, `in_progress` or `queued`; default: all.
    pub status: Option<ExecutionStatus>,
    /// `start_time` (default), `test_plan_name` or `build_name`.
    pub sort_by: Option<ExecutionSort>,
    /// `asc` or `desc` (default).
    pub sort_order: Option<SortOrder>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionStatus {
    Completed,
    InProgress,
    Queued,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionSort {
    StartTime,
    TestPlanName,
    BuildName,
}

impl Operation for ListTestPlanExecutions {
    const TOOL: ToolInfo =
        ToolInfo::lists("list_test_plan_executions", "List plan executions", Toolset::Plans)
            .needs("project:read-runs")
            .records(RecordKeys { id: "id", times: &["started_at"], name: "test_plan_name" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/test-plan-executions");
    type Answer = ListPage<TestPlanExecution>;
}

/// Returns one execution of a test plan: its status, and counts of tests by result.
///
/// `test_status.failed` also counts ERROR, TIMEOUT, BLOCKED and `MAX_STEPS`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetTestPlanExecution {
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Id,
}

impl Operation for GetTestPlanExecution {
    const TOOL: ToolInfo = ToolInfo::reads("get_test_plan_execution", "Get a plan execution", Toolset::Plans)
        .needs("project:read-runs");
    // It is uncertain whether the service has this operation (service.md 5.2).
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/test-plan-executions/{test_plan_execution_id}")
            .falls_back_to(ListTestPlanExecutions::NAME);
    type Answer = TestPlanExecution;
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestPlanExecution {
    pub id: String,
    pub test_plan_id: Option<String>,
    pub test_plan_name: Option<String>,
    pub build_id: Option<String>,
    pub build_name: Option<String>,
    /// `queued`, `in_progress` or `completed`, in either letter case.
    pub status: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub started_by: Value,
    #[schemars(with = "usize")]
    pub total_tests: Option<usize>,
    pub test_status: TestStatus,
    pub duration_ms: Option<f64>,
}

/// Tests of an execution by outcome.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestStatus {
    pub passed: usize,
    /// Tests with the result `FAILED`, `ERROR`, `TIMEOUT`, `BLOCKED` or `MAX_STEPS`.
    pub failed: usize,
    pub skipped: usize,
    pub stopped: usize,
    pub queued: usize,
    pub running: usize,
}

impl TestStatus {
    /// Returns the number of finished tests for each verdict that occurs. The count of failed tests includes `ERROR`,
    /// `TIMEOUT`, `BLOCKED` and `MAX_STEPS`, so that it is no verdict.
    pub(crate) fn verdict_counts(self) -> Vec<(&'static str, usize)> {
        let counts = [
            ("SUCCESS", self.passed),
            ("failed or error", self.failed),
            ("SKIPPED", self.skipped),
            ("STOPPED", self.stopped),
        ];

        counts.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}
