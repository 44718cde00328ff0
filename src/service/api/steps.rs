//! Steps and shared step collections (specification, Shared step collection; supplement 6.2, 8).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Id, ListPage, Open, Page, PageSize, ReadVersion};
use crate::service::{
    operation::{Operation, RequestInfo},
    tool::{ToolInfo, Toolset},
};

/// Lists the shared step collections: steps that several tests use.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListSharedSteps {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListSharedSteps {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_shared_steps", "List shared steps", Toolset::Steps).requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/shared-steps");
    type Answer = ListPage<SharedStepSummary>;
}

/// Returns one shared step collection: its steps in order, and its version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetSharedStep {
    /// `ssc_...`, from `collection_id` of an item of `get_test`.
    pub shared_step_id: Id,
    pub version: Option<ReadVersion>,
}

impl Operation for GetSharedStep {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_shared_step", "Get a shared step collection", Toolset::Steps).core();
    const REQUEST: RequestInfo = RequestInfo::get("/shared-steps/{shared_step_id}");
    type Answer = SharedStep;
}

/// A shared step collection, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SharedStepSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub steps_count: usize,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
}

/// A shared step collection, detail form.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
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

/// Steps and their order.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StepList {
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// The keys in order.
    pub step_order: Vec<String>,
}

/// The goal and the expected results of a step.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StepBody {
    /// Managed by the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_results: Option<Vec<ExpectedResult>>,
    /// Deprecated form of the expected results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_condition: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshots: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_game: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_monitoring: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint_manual: Option<Vec<String>>,
    #[serde(flatten)]
    pub more: Open,
}

/// A condition that must hold after a step.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExpectedResult {
    pub expected: String,
    #[serde(flatten)]
    pub more: Open,
}
