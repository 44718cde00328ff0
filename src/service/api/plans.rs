//! Test plans: list, read, write, delete and start (service.md 4).

use std::collections::BTreeMap;

use super::{
    prelude::*,
    run_start::{
        RunOptions, StartRunResponse, TargetDeploymentConfig, check_numbered_keys, check_options,
        cost_question,
    },
    shared_steps::refuse_fields,
};

/// Lists the test plans, with the number of tests of each.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListTestPlans {
    /// Text in the name.
    pub search: Option<String>,
    /// `name` (default), `test_count`, `modified_at` or `created_at`.
    pub sort_by: Option<TestPlanSort>,
    /// `asc` (default) or `desc`.
    pub sort_order: Option<SortOrder>,
    pub page: Option<PageNumber>,
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
    const TOOL: ToolInfo = ToolInfo::lists("list_test_plans", "List test plans", Toolset::Plans)
        .needs("project:read-runs")
        .records(RecordKeys { id: "id", times: &["modified_at", "created_at"], name: "name" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/test-plans");
    type Answer = ListPage<TestPlanSummary>;
}

/// Returns one test plan: its tests with their retries, and its additional slots.
///
/// `slots[].index` is a key of `slot_deployment_configs`; slot 1 is the default slot.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetTestPlan {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for GetTestPlan {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_test_plan", "Get a test plan", Toolset::Plans).needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/test-plans/{test_plan_id}");
    type Answer = TestPlan;
}

/// Creates a test plan: an ordered list of saved tests, each with its number of retries.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateTestPlan {
    /// Name of the plan.
    pub name: String,
    /// Tests in order.
    pub test_items: Vec<NewTestPlanItem>,
    /// UUID for the plan; default: generated.
    pub id: Option<Uuid>,
}

// A test of a written plan.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct NewTestPlanItem {
    pub multiplayer_test_id: Uuid,
    /// 0-10, default 0.
    pub retries: Option<u32>,
}

impl Operation for CreateTestPlan {
    const TOOL: ToolInfo = ToolInfo::creates("create_test_plan", "Create a test plan", Toolset::Plans)
        .extra()
        .needs("project:edit-tests")
        .recovery_hint("check with `tool:list_test_plans` before another call");
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/test-plans").wrapped_in("test_plan");
    type Answer = TestPlan;
}

/// Changes a test plan: its name, or its tests with their order and retries.
///
/// `test_items` replaces the whole list[[: send the items of `tool:get_test_plan` back as read]]. Fields that are left out are
/// lost, and the last write wins.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateTestPlan {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Uuid,
    /// Changed fields. Null is sent as null.
    #[schemars(schema_with = "passed_through::<TestPlanPatch>")]
    pub patch: Open,
}

// The known fields of a patch. `slots` and `default_slot_name` are read-only (service.md 4.4).
#[derive(Debug, JsonSchema)]
pub struct TestPlanPatch {
    pub name: Option<String>,
    pub test_items: Option<Vec<NewTestPlanItem>>,
}

impl Operation for UpdateTestPlan {
    const TOOL: ToolInfo = ToolInfo::replaces("update_test_plan", "Update a test plan", Toolset::Plans)
        .needs("project:edit-tests")
        .rules(&[Rule::Custom(|arguments, violations| {
            refuse_fields(arguments, "patch", &["id"], "cannot be changed", violations);
            let read_only = ["slots", "default_slot_name"];
            refuse_fields(arguments, "patch", &read_only, "is read-only through the API", violations);
        })])
        .recovery_hint("check with `tool:get_test_plan` before another call")
        // What the lists of the record lose is known only after it is read.
        .asks_confirmation(|_| None);
    // A plan has no version, so that a concurrent change cannot be detected (service.md 4.4).
    const REQUEST: RequestInfo = RequestInfo::new(Method::PATCH, "/test-plans/{test_plan_id}")
        .current_record(GetTestPlan::NAME)
        .asks_if_shorter(&["test_items"]);
    type Answer = TestPlan;
}

/// Deletes a test plan permanently. Its tests are kept.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTestPlan {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for DeleteTestPlan {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test_plan", "Delete a test plan", Toolset::Plans)
        .extra()
        .needs("project:edit-tests")
        .recovery_hint("call `tool:get_test_plan`: `not_found` means that the plan is deleted")
        .asks_confirmation(deletion_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::DELETE, "/test-plans/{test_plan_id}");
    type Answer = Deleted;
}

/// Starts a test plan with one device per slot (cross-platform plans).
///
/// Returns one job id per test and a `test_plan_execution_id`; `build_id` is that of slot 1. The plan sets the retries.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StartTestPlanRun {
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Uuid,
    /// [[From `tool:find_by_name/list_deployment_configs`, for slot 1. ]]Required without `slot_deployment_configs`.
    pub deployment_config_id: Option<Uuid>,
    /// [[From `tool:find_by_name/list_builds`, for slot 1. ]]Needs `argument:deployment_config_id` with builds from build storage.
    pub build_id: Option<Uuid>,
    /// By used slot "2", "3", ...; slot "1" here or in `argument:deployment_config_id`. Two players on one private device are
    /// refused.
    pub slot_deployment_configs: Option<BTreeMap<String, TargetDeploymentConfig>>,
    /// From `tool:find_by_name/list_agent_configs`.
    pub agent_config_id: Option<Uuid>,
    /// Tags for the runs.
    pub additional_tags: Option<Vec<String>>,
    /// Fills templates in steps; default false.
    pub render_templates: Option<bool>,
    /// Template values by variable. Needs `render_templates`.
    pub template_data: Option<Open>,
    /// Overrides.
    pub options: Option<RunOptions>,
    /// A run on each device of a mobile `argument:deployment_config_id` with several; default false. Not with
    /// `slot_deployment_configs`.
    pub run_on_all_configured_devices: Option<bool>,
}

impl Operation for StartTestPlanRun {
    const TOOL: ToolInfo =
        ToolInfo::creates("start_test_plan_run", "Start a test plan with slot configs", Toolset::Plans)
            .needs("project:operate-runs")
            .rules(&[
                Rule::AtLeastOne(&["deployment_config_id", "slot_deployment_configs"]),
                Rule::Needs("build_id", "deployment_config_id"),
                Rule::Needs("run_on_all_configured_devices", "deployment_config_id"),
                Rule::Excludes("run_on_all_configured_devices", "slot_deployment_configs"),
                Rule::Custom(check_slots),
                Rule::Custom(check_options),
                Rule::Advice(&Rule::Needs("template_data", "render_templates")),
            ])
            .recovery_hint("check with `tool:list_test_plan_executions` before another call")
            .asks_confirmation(cost_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/test-plans/{test_plan_id}/runs");
    type Answer = StartRunResponse;
}

/// Checks the keys of the slots, and that slot 1 is set in one place only.
fn check_slots(arguments: &Fields, violations: &mut Vec<Violation>) {
    const SLOTS: &str = "slot_deployment_configs";

    check_numbered_keys(SLOTS, arguments, violations);
    if arguments.get(SLOTS).and_then(|slots| slots.get("1")).is_none() {
        return;
    }

    // Key "1" and these arguments both set the default slot, which the service refuses (service.md 4.6).
    for name in ["deployment_config_id", "build_id"] {
        if arguments.contains_key(name) {
            violations.push(Violation::new(
                format!("{SLOTS}.1"),
                format!("slot 1 and `{name}` cannot be combined: both set the default slot"),
            ));
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestPlanSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub test_count: usize,
    #[serde(flatten)]
    pub audit: Audit,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
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

impl TestPlan {
    /// Returns the names of the slots by their numbers.
    pub fn slot_names(&self) -> BTreeMap<usize, String> {
        let others = self.slots.iter().flatten().map(|slot| (slot.index, &slot.name));
        let slots = [(1, &self.default_slot_name)].into_iter().chain(others);
        slots.map(|(number, name)| (number, name.clone().unwrap_or_else(|| "unnamed".to_owned()))).collect()
    }
}

/// Time and author of the creation and of the last change of a record.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Audit {
    pub created_at: Option<String>,
    pub modified_at: Option<String>,
    pub created_by: Option<String>,
    pub modified_by: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlanItem {
    pub multiplayer_test_id: String,
    #[serde(default)]
    pub retries: u32,
    #[serde(flatten)]
    pub more: Open,
}

/// An additional deployment slot.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestPlanSlot {
    /// Starts at 2.
    pub index: usize,
    pub name: Option<String>,
}
