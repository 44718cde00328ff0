//! The answer to a start, with one result per device for a start on several devices.
#![expect(missing_docs, reason = "the names are those of the contract")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

use crate::service::api::Open;

/// The answer to a start (specification, POST runs). Every field is optional, because the answer has several forms.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StartRunResponse {
    /// For a start on all devices: whether at least one run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Ids of jobs, not of runs.
    pub job_ids: Vec<String>,
    /// For one-off runs: id of the generated test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_plan_execution_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_build_ids: Option<Open>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successful_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_count: Option<usize>,
    /// One result per device, for saved tests and plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<DeviceResult>>,
    /// One result per device, for one-off runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_runs: Option<Vec<DeviceResult>>,
}

/// Result of one device (supplement 2.1).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct DeviceResult {
    pub device_label: String,
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Status or error text. Some failures have `error` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Open>")]
    pub data: Option<Box<StartRunResponse>>,
}

objects!(StartRunResponse, DeviceResult);
