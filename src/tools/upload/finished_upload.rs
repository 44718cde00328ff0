//! The result of an upload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A finished upload (supplement 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct FinishedUpload {
    #[serde(flatten)]
    pub build: UploadedBuild,
    /// Parts that an interrupted upload had already sent.
    pub parts_resumed: u64,
    pub seconds: f64,
    /// Bytes that had to be sent more than once.
    pub bytes_sent_again: u64,
    /// SHA-256 of the file; absent with `checksum: false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The build that an upload has become.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct UploadedBuild {
    pub build_id: String,
    pub project_id: Option<String>,
    pub name: String,
    pub file_name: String,
    pub platform: String,
    /// Bytes.
    pub size: u64,
    pub parts: u64,
}
