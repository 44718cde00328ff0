//! Shared step collections (specification, Shared step collection; supplement 8).
#![expect(missing_docs, reason = "the names are those of the contract")]

mod record;
mod written_fields;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use record::{SharedStep, SharedStepSummary};

use written_fields::{NewStepBody, SharedStepPatch};

use crate::service::{
    api::{
        Id, ListPage, Open, PageNumber, PageSize, ReadVersion,
        deletion::{Deleted, deletion_question},
        refused_fields::{COLLECTION_FIELDS, MANAGED, refuse_fields, refuse_managed_fields},
        step_body::StepBody,
    },
    operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo},
    rule::Rule,
    schema::passed_through,
    tool::{ToolInfo, Toolset},
};

/// Lists the shared step collections: steps that several tests use.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListSharedSteps {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListSharedSteps {
    const TOOL: ToolInfo = ToolInfo::reads("list_shared_steps", "List shared steps", Toolset::Steps)
        .core()
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/shared-steps");
    type Answer = ListPage<SharedStepSummary>;
}

/// Returns one shared step collection: its steps in order and its version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetSharedStep {
    /// From `list_shared_steps` or `get_test`.
    pub shared_step_id: Id,
    pub version: Option<ReadVersion>,
}

impl Operation for GetSharedStep {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_shared_step", "Get a shared step collection", Toolset::Steps).core();
    const REQUEST: RequestInfo = RequestInfo::get("/shared-steps/{shared_step_id}");
    type Answer = SharedStep;
}

/// Creates a shared step collection, which several tests can use.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CreateSharedStep {
    /// Name of the collection.
    pub name: String,
    /// `{"goal", "expected_results": [{"expected"}], "hint_manual": [], ...}` by key "1", "2", ...
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
            .needs("project:edit-tests")
            .rules(&[Rule::Custom(|arguments, violations| {
                refuse_managed_fields(arguments.get("steps_by_key"), "steps_by_key", violations);
            })])
            .recovery_hint("check with `list_shared_steps` before another call");
    const REQUEST: RequestInfo =
        RequestInfo::post("/shared-steps").wrapped_in("shared_step").duplicate_checks(&[DuplicateCheck {
            when_given: None,
            probe: Probe::List(ListProbe {
                list: ListSharedSteps::NAME,
                filters: &[],
                // The list cannot be sorted (supplement 8).
                newest_first: &[],
                matches: &[FieldMatch::new("name", "name"), FieldMatch::new("id", "id")],
                created_at: Some("created_at"),
                shown_fields: &["id", "name", "created_at"],
            }),
            advice: "use the existing collection",
        }]);
    type Answer = SharedStep;
}

/// Changes a shared step collection for every test that uses it.
///
/// `patch` is merged, but a list such as `step_order` is replaced.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UpdateSharedStep {
    /// From `list_shared_steps`.
    pub shared_step_id: Id,
    /// `version` from `get_shared_step`.
    pub expected_version: u64,
    /// `name`, `steps_by_key`, `step_order`. Null cannot delete a key.
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
        refuse_fields(arguments, "patch", &["id", "is_shared"], "cannot be changed", violations);
        refuse_fields(arguments, "patch", &COLLECTION_FIELDS, MANAGED, violations);
        let steps = arguments.get("patch").and_then(|patch| patch.get("steps_by_key"));
        refuse_managed_fields(steps, "patch.steps_by_key", violations);
    })])
    .recovery_hint(
        "check with `get_shared_step` before another call: `version` is one higher if the change was made",
    );
    const REQUEST: RequestInfo =
        RequestInfo::patch("/shared-steps/{shared_step_id}").current_record(GetSharedStep::NAME);
    type Answer = SharedStep;
}

/// Deletes a shared step collection permanently.
///
/// Fails with `conflict` while tests use the collection: remove it from them with `update_test` first.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteSharedStep {
    /// From `list_shared_steps`.
    pub shared_step_id: Id,
}

impl Operation for DeleteSharedStep {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_shared_step", "Delete a shared step", Toolset::Steps)
        .needs("project:edit-tests")
        .recovery_hint(
            "check with `get_shared_step` before another call: `not_found` means that the collection is deleted",
        )
        .asks_confirmation(|arguments| Some(deletion_question("shared step", "shared_step_id", arguments)));
    const REQUEST: RequestInfo = RequestInfo::delete("/shared-steps/{shared_step_id}");
    type Answer = Deleted;
}
