//! Records of saved tests (supplement 6.1, 6.2).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::{Open, step_body::StepBody};

/// A saved test, list form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestSummary {
    pub id: String,
    pub name: String,
    /// `verification`, `discovery` or `task`.
    pub r#type: String,
    pub folder_id: Option<String>,
    /// `/` in the root.
    pub folder_path: Option<String>,
}

/// A saved test, detail form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestCase {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub version: u32,
    pub tags: Vec<String>,
    /// `verification`, `discovery` or `task`.
    pub test_type: String,
    #[serde(flatten)]
    pub content: TestContent,
}

/// The fields of a test that its list form does not have.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestContent {
    pub incident_auto_approve: bool,
    pub quarantined: bool,
    /// Linked cases of the test-management system.
    pub tmsys: Option<Open>,
    pub source: Option<String>,
    /// Null for verification tests.
    pub min_seconds: Option<i64>,
    pub max_seconds: Option<i64>,
    /// `disabled`, `read_only` or `read_write`; null: default of the project.
    pub memory: Option<String>,
    #[schemars(extend("default" = {}))]
    pub players_by_key: BTreeMap<String, TestPlayer>,
    pub player_order: Vec<String>,
    #[serde(flatten)]
    pub more: Open,
}

/// A player of a test. Players of discovery and task tests can have other fields.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestPlayer {
    pub name: Option<String>,
    pub agent_config_id: Option<String>,
    pub game_funcs_config_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items_by_key: Option<BTreeMap<String, TestItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item_order: Option<Vec<String>>,
    #[serde(flatten)]
    pub more: Open,
}

/// A step of a player, or a shared collection of steps.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct TestItem {
    /// `step` or `collection`.
    #[serde_with(skip_apply)]
    pub r#type: String,
    /// For collections: id of the shared step collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_by_key: Option<BTreeMap<String, StepBody>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_order: Option<Vec<String>>,
    #[serde(flatten)]
    pub step: StepBody,
}

objects!(TestSummary, TestCase, TestContent, TestPlayer, TestItem);
