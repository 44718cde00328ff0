//! Records of shared step collections.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::{Open, step_body::StepList};

/// A shared step collection, list form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct SharedStepSummary {
    pub id: String,
    pub project_id: String,
    pub name: String,
    pub steps_count: usize,
    pub created_at: Option<String>,
    pub created_by: Option<String>,
}

/// A shared step collection, detail form.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
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

objects!(SharedStepSummary, SharedStep);
