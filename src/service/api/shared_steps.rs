//! Shared step collections (service.md 8), and steps as tests contain them too (service.md 6.2, 6.4).

use std::collections::BTreeMap;

use super::prelude::*;

/// Lists the shared step collections: steps that several tests use.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListSharedSteps {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListSharedSteps {
    const TOOL: ToolInfo = ToolInfo::lists("list_shared_steps", "List shared steps", Toolset::Steps);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/shared-steps");
    type Answer = ListPage<SharedStepSummary>;
}

/// Returns one shared step collection: its steps in order and its version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetSharedStep {
    /// From `tool:list_shared_steps|get_test`.
    pub shared_step_id: Id,
    pub version: Option<ReadVersion>,
}

impl Operation for GetSharedStep {
    const TOOL: ToolInfo = ToolInfo::reads("get_shared_step", "Get a shared step collection", Toolset::Steps);
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/shared-steps/{shared_step_id}");
    type Answer = SharedStep;
}

/// Creates a shared step collection, which several tests can use.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateSharedStep {
    /// Name of the collection.
    pub name: String,
    /// Steps by key "1", "2", ...
    #[schemars(schema_with = "passed_through::<BTreeMap<String, NewStepBody>>")]
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// Keys in order.
    pub step_order: Vec<String>,
    /// Id for the collection; default: generated.
    pub id: Option<String>,
}

impl Operation for CreateSharedStep {
    const TOOL: ToolInfo =
        ToolInfo::creates("create_shared_step", "Create a shared step collection", Toolset::Steps)
            .extra()
            .needs("project:edit-tests")
            .rules(&[Rule::Custom(|arguments, violations| {
                refuse_managed_fields(arguments.get("steps_by_key"), "steps_by_key", violations);
            })])
            .recovery_hint("check with `tool:list_shared_steps` before another call");
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/shared-steps").wrapped_in("shared_step");
    type Answer = SharedStep;
}

/// Changes a shared step collection for every test that uses it.
///
/// `patch` is merged, but a list is replaced.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateSharedStep {
    /// From `tool:find_by_name/list_shared_steps`.
    pub shared_step_id: Id,
    /// From `tool:get_shared_step`.
    pub expected_version: u64,
    /// Changed fields. Null is sent as null.
    #[schemars(schema_with = "passed_through::<SharedStepPatch>")]
    pub patch: Open,
}

impl Operation for UpdateSharedStep {
    const TOOL: ToolInfo =
        ToolInfo::replaces("update_shared_step", "Update a shared step collection", Toolset::Steps)
            .needs("project:edit-tests")
            .rules(&[Rule::Custom(|arguments, violations| {
                refuse_fields(arguments, "patch", &["id", "is_shared"], "cannot be changed", violations);
                refuse_fields(arguments, "patch", &COLLECTION_FIELDS, MANAGED, violations);
                let steps = arguments.get("patch").and_then(|patch| patch.get("steps_by_key"));
                refuse_managed_fields(steps, "patch.steps_by_key", violations);
            })])
            .recovery_hint("call `tool:get_shared_step`: `version` is one higher if the change was made")
            // What the lists of the record lose is known only after it is read.
            .asks_confirmation(|_| None);
    const REQUEST: RequestInfo = RequestInfo::new(Method::PATCH, "/shared-steps/{shared_step_id}")
        .current_record(GetSharedStep::NAME)
        .asks_if_shorter(&["step_order"]);
    type Answer = SharedStep;
}

/// Deletes a shared step collection permanently.
///
/// Fails with `conflict` while tests use the collection[[: remove it from them with `tool:update_test` first]].
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteSharedStep {
    /// From `tool:find_by_name/list_shared_steps`.
    pub shared_step_id: Id,
}

impl Operation for DeleteSharedStep {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_shared_step", "Delete a shared step", Toolset::Steps)
        .extra()
        .needs("project:edit-tests")
        .conflict_hint("tests use the collection[[: remove it from them with `tool:update_test` first]]")
        .recovery_hint("call `tool:get_shared_step`: `not_found` means that the collection is deleted")
        .asks_confirmation(deletion_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::DELETE, "/shared-steps/{shared_step_id}");
    type Answer = Deleted;
}

// The known fields of a step in a request.
#[derive(Debug, JsonSchema)]
pub struct NewStepBody {
    pub goal: Option<String>,
    pub expected_results: Option<Vec<ExpectedResult>>,
    // An older form of the expected results (service.md 6.2).
    #[schemars(extend("deprecated" = true, "x-or-type" = "null"))]
    pub finish_condition: Option<String>,
    pub screenshots: Option<i64>,
    pub pause_game: Option<bool>,
    pub performance_monitoring: Option<bool>,
    pub hint_manual: Option<Vec<String>>,
}

#[derive(Debug, JsonSchema)]
pub struct SharedStepPatch {
    pub name: Option<String>,
    #[serde(default)]
    #[schemars(schema_with = "entries_passed_through::<PartialStep>")]
    pub steps_by_key: Option<Open>,
    pub step_order: Option<Vec<String>>,
}

// A part of a step body, or null, whose effect on the key is uncertain (service.md 17).
#[derive(Debug, JsonSchema)]
#[schemars(extend("x-or-type" = "null"))]
pub struct PartialStep {
    #[serde(flatten)]
    pub step: NewStepBody,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SharedStepSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub steps_count: usize,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct SharedStep {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub version: u32,
    /// Always true.
    pub is_shared: bool,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
    #[serde(flatten)]
    pub steps: StepList,
    #[serde(flatten)]
    pub more: Open,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepList {
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// The keys in order.
    pub step_order: Vec<String>,
}

/// The goal and the expected results of a step.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepBody {
    /// Managed by the service.
    pub test_step_id: Option<String>,
    pub goal: Option<String>,
    pub expected_results: Option<Vec<ExpectedResult>>,
    /// Older form of the expected results.
    pub finish_condition: Option<String>,
    pub screenshots: Option<i64>,
    pub pause_game: Option<bool>,
    pub performance_monitoring: Option<bool>,
    pub hint_manual: Option<Vec<String>>,
    #[serde(flatten)]
    pub more: Open,
}

// A condition that must hold after a step.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct ExpectedResult {
    pub expected: String,
    #[serde(flatten)]
    pub more: Open,
}

/// Reason for the refusal of a field that the service manages.
pub(super) const MANAGED: &str = "is managed by the service: leave it out";

/// Fields of collections that the service manages.
pub(super) const COLLECTION_FIELDS: [&str; 3] = ["version", "created_at", "created_by"];

/// Fields of steps that the service manages.
pub(super) const STEP_FIELDS: [&str; 2] = ["test_step_id", "composite_test_id"];

/// Adds a violation for each of the fields `names` that the object argument `holder` contains.
pub(super) fn refuse_fields(
    arguments: &Fields,
    holder: &str,
    names: &[&str],
    rule: &str,
    violations: &mut Vec<Violation>,
) {
    let Some(Value::Object(object)) = arguments.get(holder) else { return };
    let found = names.iter().filter(|name| object.contains_key(**name));
    violations.extend(found.map(|name| Violation::new(format!("{holder}.{name}"), rule)));
}

/// Adds a violation for each field in `value`, at any depth, that the service manages.
pub(super) fn refuse_managed_fields(value: Option<&Value>, path: &str, violations: &mut Vec<Violation>) {
    let Some(Value::Object(object)) = value else { return };
    for (name, value) in object {
        let path = format!("{path}.{name}");
        // Other objects may have fields with these names: only those of a collection are managed.
        let in_collection =
            COLLECTION_FIELDS.contains(&name.as_str()) && object.contains_key("collection_id");
        if STEP_FIELDS.contains(&name.as_str()) || in_collection {
            violations.push(Violation::new(path, MANAGED));
        } else {
            refuse_managed_fields(Some(value), &path, violations);
        }
    }
}
