//! Deleting tests, test plans and shared steps, for good (supplement 4.5, 6.5, 8).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Id, Uuid};
use crate::{
    fields::Fields,
    service::operation::{Access, Effect, Operation, Tier, Toolset},
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
    const NAME: &'static str = "delete_test";
    const TITLE: &'static str = "Delete a test";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/tests/{test_id}";
    const BODY: &'static [&'static str] = &["delete_associated_jobs", "force_delete"];
    const EFFECT: Effect = Effect::Deletes;
    const TOOLSET: Toolset = Toolset::Tests;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:edit-tests");
    const IN_DOUBT: Option<&'static str> =
        Some("look with `get_test` before you call again: `not_found` means that it happened");
    const CONFIRM: Option<fn(&Fields) -> Option<String>> = Some(|arguments| Some(losing_a_test(arguments)));
    type Output = Deleted;
}

/// Deletes a test plan for good. Its tests stay.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteTestPlan {
    /// From `list_test_plans`.
    pub test_plan_id: Uuid,
}

impl Operation for DeleteTestPlan {
    const NAME: &'static str = "delete_test_plan";
    const TITLE: &'static str = "Delete a test plan";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/test-plans/{test_plan_id}";
    const EFFECT: Effect = Effect::Deletes;
    const TOOLSET: Toolset = Toolset::Plans;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:edit-tests");
    const IN_DOUBT: Option<&'static str> =
        Some("look with `get_test_plan` before you call again: `not_found` means that it happened");
    const CONFIRM: Option<fn(&Fields) -> Option<String>> =
        Some(|arguments| Some(losing("test plan", "test_plan_id", arguments)));
    type Output = Deleted;
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
    const NAME: &'static str = "delete_shared_step";
    const TITLE: &'static str = "Delete a shared step";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/shared-steps/{shared_step_id}";
    const EFFECT: Effect = Effect::Deletes;
    const TOOLSET: Toolset = Toolset::Steps;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:edit-tests");
    const IN_DOUBT: Option<&'static str> =
        Some("look with `get_shared_step` before you call again: `not_found` means that it happened");
    const CONFIRM: Option<fn(&Fields) -> Option<String>> =
        Some(|arguments| Some(losing("shared step", "shared_step_id", arguments)));
    type Output = Deleted;
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
