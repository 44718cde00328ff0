//! Steps, and the shared collections of them (specification, Shared step collection; supplement 6.2, 8).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use std::collections::BTreeMap;

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Id, ListPage, Open, Page, PageSize, ReadVersion};
use crate::service::operation::{Access, Effect, Operation, Tier, Toolset};

/// Lists the shared step collections: steps that several tests have in common.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListSharedSteps {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListSharedSteps {
    const NAME: &'static str = "list_shared_steps";
    const TITLE: &'static str = "List shared steps";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/shared-steps";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Steps;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::AnyKey;
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<SharedStepSummary>;
}

/// Shows one shared step collection: its steps in order, and its version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetSharedStep {
    /// `ssc_...`: the `collection_id` of an item of `get_test`.
    pub shared_step_id: Id,
    pub version: Option<ReadVersion>,
}

impl Operation for GetSharedStep {
    const NAME: &'static str = "get_shared_step";
    const TITLE: &'static str = "Get a shared step collection";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/shared-steps/{shared_step_id}";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Steps;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::AnyKey;
    type Output = SharedStep;
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
    /// Always true here.
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

/// What is to be done in a step, and what has to come of it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StepBody {
    /// Managed by the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_results: Option<Vec<ExpectedResult>>,
    /// Older form; derived from the expected results.
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

/// Something that has to be so after a step.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ExpectedResult {
    pub expected: String,
    #[serde(flatten)]
    pub more: Open,
}
