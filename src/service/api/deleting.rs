//! Permanent deletion of tests, test plans and shared steps (supplement 4.5, 6.5, 8).
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

/// Deletes a saved test permanently.
///
/// Fails with `conflict` while runs of the test exist, unless `delete_associated_jobs` or `force_delete` is true.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTest {
    /// From `list_tests`.
    pub test_id: Id,
    /// Whether to delete its jobs and runs too; default false.
    #[schemars(extend("default" = false))]
    pub delete_associated_jobs: Option<bool>,
    /// Whether to delete the test even if runs exist; default false.
    #[schemars(extend("default" = false))]
    pub force_delete: Option<bool>,
}

impl Operation for DeleteTest {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test", "Delete a test", Toolset::Tests)
        .needs("project:edit-tests")
        .recovery_hint(
            "check with `get_test` before another call: `not_found` means that the test is deleted",
        )
        .asks_confirmation(|arguments| Some(test_deletion_question(arguments)));
    const REQUEST: RequestInfo =
        RequestInfo::delete("/tests/{test_id}").body_fields(&["delete_associated_jobs", "force_delete"]);
    type Answer = Deleted;
}

/// Deletes a test plan permanently. Its tests are kept.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for DeleteTestPlan {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_test_plan", "Delete a test plan", Toolset::Plans)
        .needs("project:edit-tests")
        .recovery_hint(
            "check with `get_test_plan` before another call: `not_found` means that the plan is deleted",
        )
        .asks_confirmation(|arguments| Some(deletion_question("test plan", "test_plan_id", arguments)));
    const REQUEST: RequestInfo = RequestInfo::delete("/test-plans/{test_plan_id}");
    type Answer = Deleted;
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

fn test_deletion_question(arguments: &Fields) -> String {
    let is_true = |name: &str| arguments.get(name) == Some(&Value::Bool(true));
    let more = match (is_true("delete_associated_jobs"), is_true("force_delete")) {
        (true, _) => " with all its jobs and runs",
        (false, true) => ", even if runs of it exist",
        (false, false) => "",
    };
    deletion_question("test", "test_id", arguments) + more
}

/// Returns the confirmation question. Control characters and backticks of the id are replaced, so that an id cannot add
/// text to the question.
fn deletion_question(record: &str, argument: &str, arguments: &Fields) -> String {
    let id = arguments.get(argument).and_then(Value::as_str).unwrap_or_default();
    let id: String = id.chars().map(|one| if one == '`' || one.is_control() { '?' } else { one }).collect();
    format!("would delete {record} `{id}` permanently")
}

/// Answer to a deletion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Deleted {
    pub id: String,
    pub deleted: bool,
}
