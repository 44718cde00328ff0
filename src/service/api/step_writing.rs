//! Creating and changing shared step collections (specification, PATCH shared-steps; supplement 8).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Id, Open, refuse,
    steps::{ExpectedResult, ListSharedSteps, SharedStep, StepBody},
};
use crate::{
    service::{
        operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo},
        rule::Rule,
        schema::passed_through,
        tool::{ToolInfo, Toolset},
    },
    violation::Violation,
};

/// Creates a collection of steps that several tests can share.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateSharedStep {
    pub name: String,
    /// By key "1", "2", ...: `{"goal", "expected_results": [{"expected"}], "hint_manual": [], ...}`.
    #[schemars(schema_with = "passed_through::<BTreeMap<String, NewStepBody>>")]
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// The keys in order.
    pub step_order: Vec<String>,
    /// Generated when absent.
    pub id: Option<String>,
}

impl Operation for CreateSharedStep {
    const TOOL: ToolInfo =
        ToolInfo::creates("create_shared_step", "Create a shared step collection", Toolset::Steps)
            .needs("project:edit-tests")
            .rules(&[Rule::Custom(|arguments, violations| {
                managed(arguments.get("steps_by_key"), "steps_by_key", violations);
            })])
            .recovery_hint("look with `list_shared_steps` before you call again");
    const REQUEST: RequestInfo =
        RequestInfo::post("/shared-steps").wrapped_in("shared_step").duplicate_checks(&[DuplicateCheck {
            when_given: None,
            probe: Probe::List(ListProbe {
                list: ListSharedSteps::NAME,
                filters: &[],
                newest_first: &[],
                matches: &[FieldMatch::new("name", "name"), FieldMatch::new("id", "id")],
                created_at: Some("created_at"),
                shown_fields: &["id", "name", "created_at"],
            }),
            advice: "use it",
        }]);
    type Answer = SharedStep;
}

/// Changes a shared step collection; every test that refers to it changes with it.
///
/// First read it with `get_shared_step`: `patch` is merged into it, but lists such as `step_order` are replaced whole.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateSharedStep {
    /// `ssc_...`, from `list_shared_steps`.
    pub shared_step_id: Id,
    /// `version` of the latest `get_shared_step`.
    pub expected_version: u64,
    /// `name`, `steps_by_key`, `step_order`. Not `id`, `is_shared`, `version`, `test_step_id`; null may not delete.
    #[schemars(schema_with = "passed_through::<SharedStepPatch>")]
    pub patch: Open,
}

impl Operation for UpdateSharedStep {
    const TOOL: ToolInfo = ToolInfo::replaces(
        "update_shared_step",
        "Update a shared step collection",
        Toolset::Steps,
    )
    .core()
    .needs("project:edit-tests")
    .rules(&[Rule::Custom(|arguments, violations| {
        refuse(arguments, "patch", &["id", "is_shared"], "cannot be changed", violations);
        refuse(arguments, "patch", &OF_COLLECTIONS, MANAGED, violations);
        let steps = arguments.get("patch").and_then(|patch| patch.get("steps_by_key"));
        managed(steps, "patch.steps_by_key", violations);
    })])
    .recovery_hint(
        "look with `get_shared_step` before you call again: its `version` is one higher if it happened",
    );
    const REQUEST: RequestInfo = RequestInfo::patch("/shared-steps/{shared_step_id}");
    type Answer = SharedStep;
}

/// Why a field that the service manages is refused.
pub(super) const MANAGED: &str = "is managed by the service: leave it out";

/// Fields of collections that the service manages (supplement 6.4).
const OF_COLLECTIONS: [&str; 3] = ["version", "created_at", "created_by"];

/// Fields of steps that the service manages (supplement 6.4).
pub(super) const OF_STEPS: [&str; 2] = ["test_step_id", "composite_test_id"];

/// Adds a violation for each field in `value`, at any depth, that the service manages.
pub(super) fn managed(value: Option<&Value>, path: &str, violations: &mut Vec<Violation>) {
    let Some(Value::Object(object)) = value else { return };
    for (name, value) in object {
        let path = format!("{path}.{name}");
        let in_collection = OF_COLLECTIONS.contains(&name.as_str()) && object.contains_key("collection_id");
        if OF_STEPS.contains(&name.as_str()) || in_collection {
            violations.push(Violation::new(path, MANAGED));
        } else {
            managed(Some(value), &path, violations);
        }
    }
}

// What is known of the steps of a request.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "its schema is what our check reads")]
struct NewStepBody {
    goal: Option<String>,
    expected_results: Option<Vec<ExpectedResult>>,
    #[schemars(extend("x-or-type" = "null"))]
    finish_condition: Option<String>,
    screenshots: Option<i64>,
    pause_game: Option<bool>,
    performance_monitoring: Option<bool>,
    hint_manual: Option<Vec<String>>,
}

// What is known of a patch.
#[derive(Debug, JsonSchema)]
#[expect(dead_code, reason = "its schema is what our check reads; the patch itself is merged as JSON")]
struct SharedStepPatch {
    name: Option<String>,
    #[schemars(with = "Option<BTreeMap<String, PartialStep>>")]
    steps_by_key: Option<BTreeMap<String, Option<Open>>>,
    step_order: Option<Vec<String>>,
}

// A part of a step body, or null.
#[derive(Debug, JsonSchema)]
#[schemars(extend("x-or-type" = "null"))]
struct PartialStep {}
