//! Executions of test plans (service.md 5).

use super::prelude::*;

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
