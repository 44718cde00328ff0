//! The ids of an upload at the service.

use schemars::JsonSchema;
use serde::Serialize;

use super::plan::{UploadMode, UploadPlan};

/// The ids of an upload at the service.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct UploadIds {
    pub build_id: String,
    /// Absent for a single-part upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    pub object_key: String,
}

impl From<&UploadPlan> for UploadIds {
    fn from(plan: &UploadPlan) -> Self {
        let upload_id = match &plan.mode {
            UploadMode::Multipart { upload_id, .. } => Some(upload_id.clone()),
            UploadMode::SinglePart { .. } => None,
        };
        Self { build_id: plan.build_id.clone(), upload_id, object_key: plan.object_key.clone() }
    }
}
