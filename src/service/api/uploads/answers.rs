//! The answers to the steps of an upload (supplement 10.4 to 10.7).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::apply;

use crate::service::view::{lenient, objects};

/// Addresses and sizes for sending the file (supplement 10.4). An upload with an `upload_id` is multipart.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct InitiatedUpload {
    pub build_id: String,
    /// Only for multipart uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// For single-part uploads: address for a PUT of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_url: Option<String>,
    pub object_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_parts: Option<u64>,
    /// Size in bytes of each part except the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_size: Option<u64>,
    // The specification has no `upload_type`. If it is absent, an `upload_id` means multipart (supplement 10.4).
    /// `multipart` or `single-part`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_type: Option<String>,
}

/// Addresses of parts (specification, GET builds/upload/parts).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct UploadPartUrls {
    pub upload_urls: Vec<PartUrl>,
}

/// Address of one part.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct PartUrl {
    pub part_number: u64,
    pub url: String,
}

/// The answer to a completion (supplement 10.7). The HTTP status alone states success.
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct CompletedUpload {
    /// Only for multipart uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Only for single-part uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// The answer to a cancellation (supplement 10.7).
#[apply(_ => #[serde(default, deserialize_with = "lenient")] #[schemars(!default)])]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct CancelledUpload {
    pub success: bool,
}

objects!(InitiatedUpload, UploadPartUrls, PartUrl, CompletedUpload, CancelledUpload);
