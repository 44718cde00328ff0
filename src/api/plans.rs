//! Test plans (specification, Test plan; supplement 4).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Page, PageSize, SortOrder, Uuid};
use crate::operation::{Effect, Operation, Tier, Toolset};

/// Lists the project's test plans by name, with the number of their tests.
#[derive(Debug, Deserialize, JsonSchema)]
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

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum TestPlanSort {
    Name,
    TestCount,
    ModifiedAt,
    CreatedAt,
}

impl Operation for ListTestPlans {
    const NAME: &'static str = "list_test_plans";
    const TITLE: &'static str = "List test plans";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/test-plans";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Plans;
    const TIER: Tier = Tier::Core;
    const PERMISSION: Option<&'static str> = Some("project:read-runs");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<TestPlanSummary>;
}

/// Shows one test plan: its tests with retries, and its extra deployment slots.
///
/// `slots[].index` keys `slot_deployment_configs` of `start_test_plan_run`; slot 1 is the default.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for GetTestPlan {
    const NAME: &'static str = "get_test_plan";
    const TITLE: &'static str = "Get a test plan";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/test-plans/{test_plan_id}";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Plans;
    const TIER: Tier = Tier::Core;
    const PERMISSION: Option<&'static str> = Some("project:read-runs");
    type Output = TestPlan;
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
}

/// Who made and last changed a record, and when.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Audit {
    pub created_at: Option<String>,
    pub modified_at: Option<String>,
    pub created_by: Option<String>,
    pub modified_by: Option<String>,
}

/// A test of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestPlanItem {
    pub multiplayer_test_id: String,
    pub retries: u8,
}

/// An extra deployment slot.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestPlanSlot {
    /// From 2.
    pub index: usize,
    pub name: Option<String>,
}
