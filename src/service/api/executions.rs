//! Executions of test plans (supplement 5).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Id, ListPage, Page, PageSize, SortOrder, Uuid};
use crate::service::operation::{Access, Effect, Fallback, Operation, Tier, Toolset};

/// Lists test-plan executions with counts of passed, failed and running tests, newest first.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestPlanExecutions {
    pub test_plan_id: Option<Uuid>,
    pub build_id: Option<Uuid>,
    pub status: Option<ExecutionStatus>,
    /// Default `start_time`.
    pub sort_by: Option<ExecutionSort>,
    /// Default desc.
    pub sort_order: Option<SortOrder>,
    pub page: Option<Page>,
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
    const NAME: &'static str = "list_test_plan_executions";
    const TITLE: &'static str = "List plan executions";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/test-plan-executions";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Plans;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:read-runs");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<TestPlanExecution>;
}

/// Shows how far a test-plan execution is: status and counts by verdict.
///
/// Its single runs come from `list_runs` with `test_plan_execution_id`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetTestPlanExecution {
    /// From a plan's start.
    pub test_plan_execution_id: Id,
}

impl Operation for GetTestPlanExecution {
    const NAME: &'static str = "get_test_plan_execution";
    const TITLE: &'static str = "Get a plan execution";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/test-plan-executions/{test_plan_execution_id}";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Plans;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:read-runs");
    const FALLBACK: Option<Fallback> = Some(Fallback {
        list: ListTestPlanExecutions::NAME,
        argument: "test_plan_execution_id",
        field: "id",
    });
    type Output = TestPlanExecution;
}

/// An execution of a test plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    #[schemars(schema_with = "anything")]
    pub started_by: Value,
    pub total_tests: usize,
    pub test_status: TestStatus,
    pub duration_ms: Option<f64>,
}

fn anything(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({})
}

/// Tests of an execution by outcome.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct TestStatus {
    pub passed: usize,
    /// FAILED, ERROR, TIMEOUT, BLOCKED and `MAX_STEPS`.
    pub failed: usize,
    pub skipped: usize,
    pub stopped: usize,
    pub queued: usize,
    pub running: usize,
}
