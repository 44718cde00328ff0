//! The answer to a stop (supplement 2.6).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

/// Result of stopping jobs (supplement 2.6).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StopRunsResponse {
    /// True only when every job was stopped.
    pub ok: bool,
    pub message: Option<String>,
    pub received_count: usize,
    pub stopped_count: usize,
    pub results: Vec<StopResult>,
}

/// Result of stopping one job.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StopResult {
    pub job_id: String,
    pub ok: bool,
    pub status: u16,
    pub message: Option<String>,
    pub error: Option<String>,
}

objects!(StopRunsResponse, StopResult);
