//! Steps, as tests and shared step collections contain them (supplement 6.2).
#![expect(missing_docs, reason = "the names are those of the contract")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::Open;

/// Steps and their order.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StepList {
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// The keys in order.
    pub step_order: Vec<String>,
}

/// The goal and the expected results of a step.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StepBody {
    /// Managed by the service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_step_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_results: Option<Vec<ExpectedResult>>,
    /// Older form of the expected results.
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
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct ExpectedResult {
    #[serde_with(skip_apply)]
    pub expected: String,
    #[serde(flatten)]
    pub more: Open,
}

objects!(StepList, StepBody, ExpectedResult);
