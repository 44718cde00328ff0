//! Deleting tests, test plans and shared steps, for good (supplement 4.5, 6.5, 8).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Id, Uuid};
use crate::{
    fields::Fields,
    service::{
        operation::{Operation, RequestInfo},
        tool::{ToolInfo, Toolset},
    },
};

/// Deletes a saved test for good.
///
/// Ends as `conflict` while runs of it exist, unless `delete_associated_jobs` or `force_delete` is true.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTest {
    /// From `list_tests`.
    pub test_id: Id,
    /// Default false. Its jobs and runs are deleted too.
    #[schemars(extend("default" = false))]
    pub delete_associated_jobs: Option<bool>,
    /// Default false. Deletes it although runs exist.
    #[schemars(extend("default" = false))]
    pub force_delete: Option<bool>,
}

impl Operation for DeleteTest {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test", "Delete a test", Toolset::Tests)
        .needs("project:edit-tests")
        .recovery_hint("look with `get_test` before you call again: `not_found` means that it happened")
        .asks_confirmation(|arguments| Some(losing_a_test(arguments)));
    const REQUEST: RequestInfo =
        RequestInfo::delete("/tests/{test_id}").body_fields(&["delete_associated_jobs", "force_delete"]);
    type Answer = Deleted;
}

/// Deletes a test plan for good. Its tests stay.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for DeleteTestPlan {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test_plan", "Delete a test plan", Toolset::Plans)
        .needs("project:edit-tests")
        .recovery_hint("look with `get_test_plan` before you call again: `not_found` means that it happened")
        .asks_confirmation(|arguments| Some(losing("test plan", "test_plan_id", arguments)));
    const REQUEST: RequestInfo = RequestInfo::delete("/test-plans/{test_plan_id}");
    type Answer = Deleted;
}

/// Deletes a shared step collection for good.
///
/// Ends as `conflict` while tests refer to it: take it out of them with `update_test` first.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteSharedStep {
    /// From `list_shared_steps`.
    pub shared_step_id: Id,
}

impl Operation for DeleteSharedStep {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_shared_step", "Delete a shared step", Toolset::Steps)
        .needs("project:edit-tests")
        .recovery_hint(
            "look with `get_shared_step` before you call again: `not_found` means that it happened",
        )
        .asks_confirmation(|arguments| Some(losing("shared step", "shared_step_id", arguments)));
    const REQUEST: RequestInfo = RequestInfo::delete("/shared-steps/{shared_step_id}");
    type Answer = Deleted;
}

fn losing_a_test(arguments: &Fields) -> String {
    let asks = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let more = match (asks("delete_associated_jobs"), asks("force_delete")) {
        (true, _) => ", and all its jobs and runs with it",
        (false, true) => ", even if runs of it exist",
        (false, false) => "",
    };
    losing("test", "test_id", arguments) + more
}

/// What a deletion takes away. An id of any form is quoted, so that it cannot pass for words of ours.
fn losing(what: &str, name: &str, arguments: &Fields) -> String {
    let id = arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let id: String = id.chars().map(|one| if one == '`' || one.is_control() { '?' } else { one }).collect();
    format!("would delete {what} `{id}` for good")
}

/// What was deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Deleted {
    pub id: String,
    pub deleted: bool,
}
