//! Test plans (specification, Test plan; supplement 4).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Open, Page, PageSize, SortOrder, Uuid, refuse};
use crate::service::{
    operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo},
    rule::Rule,
    schema::passed_through,
    tool::{ToolInfo, Toolset},
};

/// Lists the project's test plans by name, with the number of their tests.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestPlans {
    /// Matches the name.
    pub search: Option<String>,
    /// Default name.
    pub sort_by: Option<TestPlanSort>,
    /// Default asc.
    pub sort_order: Option<SortOrder>,
    pub page: Option<Page>,
    pub page_size: Option<PageSize<20>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TestPlanSort {
    Name,
    TestCount,
    ModifiedAt,
    CreatedAt,
}

impl Operation for ListTestPlans {
    const TOOL: ToolInfo = ToolInfo::reads("list_test_plans", "List test plans", Toolset::Plans)
        .core()
        .needs("project:read-runs")
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/test-plans");
    type Answer = ListPage<TestPlanSummary>;
}

/// Shows one test plan: its tests with retries, and its extra deployment slots.
///
/// `slots[].index` keys `slot_deployment_configs` of `start_test_plan_run`; slot 1 is the default.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for GetTestPlan {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_test_plan", "Get a test plan", Toolset::Plans).core().needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::get("/test-plans/{test_plan_id}");
    type Answer = TestPlan;
}

/// Creates a test plan: saved tests in an order, each with its retries.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateTestPlan {
    pub name: String,
    pub test_items: Vec<NewTestPlanItem>,
    /// Generated when absent.
    pub id: Option<Uuid>,
}

impl Operation for CreateTestPlan {
    const TOOL: ToolInfo = ToolInfo::creates("create_test_plan", "Create a test plan", Toolset::Plans)
        .needs("project:edit-tests")
        .recovery_hint("look with `list_test_plans` before you call again");
    const REQUEST: RequestInfo =
        RequestInfo::post("/test-plans").wrapped_in("test_plan").duplicate_checks(&[DuplicateCheck {
            when_given: None,
            probe: Probe::List(ListProbe {
                list: ListTestPlans::NAME,
                filters: &[],
                newest_first: &[("sort_by", "created_at"), ("sort_order", "desc")],
                matches: &[FieldMatch::new("name", "name"), FieldMatch::new("id", "id")],
                created_at: Some("created_at"),
                shown_fields: &["id", "name", "created_at"],
            }),
            advice: "use it",
        }]);
    type Answer = TestPlan;
}

/// Changes a test plan: its name, or which tests it has, in which order and with how many retries.
///
/// First read it with `get_test_plan`: `patch` is merged into it, but `test_items` is replaced whole, so send all of it.
/// There is no version check: the last write wins.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
    /// `name`, `test_items: [{"multiplayer_test_id", "retries"}]`. Not `id`, `slots`, `default_slot_name`.
    #[schemars(schema_with = "passed_through::<TestPlanPatch>")]
    pub patch: Open,
}

impl Operation for UpdateTestPlan {
    const TOOL: ToolInfo = ToolInfo::replaces("update_test_plan", "Update a test plan", Toolset::Plans)
        .core()
        .needs("project:edit-tests")
        .rules(&[Rule::Custom(|arguments, violations| {
            refuse(arguments, "patch", &["id"], "cannot be changed", violations);
            let read_only = ["slots", "default_slot_name"];
            refuse(arguments, "patch", &read_only, "is read-only through the API", violations);
        })])
        .recovery_hint("look with `get_test_plan` before you call again");
    const REQUEST: RequestInfo = RequestInfo::patch("/test-plans/{test_plan_id}");
    type Answer = TestPlan;
}

// No doc comment: the fields that hold it say what it is for.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct NewTestPlanItem {
    pub multiplayer_test_id: Uuid,
    /// 0-10, default 0.
    #[schemars(extend("default" = 0))]
    pub retries: Option<u32>,
}

// What is known of a patch.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "its schema is what our check reads; the patch itself is merged as JSON")]
struct TestPlanPatch {
    name: Option<String>,
    test_items: Option<Vec<NewTestPlanItem>>,
}

/// A test plan, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestPlanSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub test_count: usize,
    #[serde(flatten)]
    pub audit: Audit,
}

/// A test plan, detail form.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TestPlan {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub test_items: Vec<TestPlanItem>,
    pub slots: Option<Vec<TestPlanSlot>>,
    /// Name of slot 1.
    pub default_slot_name: Option<String>,
    #[serde(flatten)]
    pub audit: Audit,
    #[serde(flatten)]
    pub more: Open,
}

/// Who made and last changed a record, and when.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Audit {
    pub created_at: Option<String>,
    pub modified_at: Option<String>,
    pub created_by: Option<String>,
    pub modified_by: Option<String>,
}

/// A test of a plan.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanItem {
    pub multiplayer_test_id: String,
    #[serde(default)]
    pub retries: u32,
    #[serde(flatten)]
    pub more: Open,
}

/// An extra deployment slot.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanSlot {
    /// From 2.
    pub index: usize,
    pub name: Option<String>,
}
