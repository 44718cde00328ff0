//! The replies of an upload whose bytes the caller sends.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    super::{
        UploadIds, UploadedBuild,
        part_body::PartRange,
        plan::{UploadMode, UploadPlan},
    },
    token::UploadToken,
};

/// An upload whose bytes the caller sends, finished or not.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct RemoteUploadAnswer {
    /// `uploading`, `uploaded` or `cancelled`.
    pub status: &'static str,
    /// Argument of the next call while the status is `uploading`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_token: Option<String>,
    /// Arguments for `cancel_build_upload` while the status is `uploading`.
    #[serde(flatten)]
    pub ids: Option<UploadIds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_parts: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_urls: Option<Vec<PartAddress>>,
    /// `from_part` of the next call; absent if no part follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_part: Option<u64>,
    /// When the service removes an unfinished upload, in ISO 8601.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    #[serde(flatten)]
    pub build: Option<UploadedBuild>,
}

/// The presigned address of a part, and the bytes of the file that belong there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartAddress {
    pub part_number: u64,
    /// First byte of the file.
    pub offset: u64,
    /// Number of bytes.
    pub length: u64,
    pub url: String,
}

impl PartAddress {
    pub(super) fn new(part_number: u64, range: PartRange, url: String) -> Self {
        Self { part_number, offset: range.offset, length: range.length, url }
    }
}

impl RemoteUploadAnswer {
    /// Returns the reply with addresses of `parts`. `next_part` is the first part that follows them.
    pub(super) fn uploading(
        sealed: String,
        token: &UploadToken,
        plan: &UploadPlan,
        parts: Vec<PartAddress>,
        next_part: Option<u64>,
    ) -> Self {
        Self {
            status: "uploading",
            upload_token: Some(sealed),
            ids: Some(plan.into()),
            total_parts: Some(plan.total_parts()),
            upload_urls: Some(parts),
            next_part,
            ends_at: Some(token.ends_at()),
            next: Some(next_steps(plan, next_part)),
            build: None,
        }
    }

    /// Returns the reply of an upload that has become a build.
    pub(super) fn uploaded(build: UploadedBuild) -> Self {
        Self { status: "uploaded", build: Some(build), ..Self::default() }
    }

    /// Returns the reply of a cancelled upload.
    pub(super) fn cancelled(plan: &UploadPlan) -> Self {
        Self { status: "cancelled", ids: Some(plan.into()), ..Self::default() }
    }
}

/// Returns what the caller does next.
fn next_steps(plan: &UploadPlan, next_part: Option<u64>) -> String {
    let send = "PUT the bytes of each part to its `url` with `Content-Type: application/octet-stream` and without an API \
                key, and keep the header `ETag` of each response.";
    let more = next_part.map(|next| {
        format!(" Addresses of further parts: `upload_build` with `upload_token` and `from_part: {next}`.")
    });
    let complete = match plan.total_parts() {
        1 => " Then call `upload_build` with `upload_token` and `parts: [{\"part_number\": 1, \"etag\": ...}]`.".to_owned(),
        total => format!(
            " When all {total} parts are stored, call `upload_build` with `upload_token` and `parts`, the `part_number` and \
             `etag` of each part in order."
        ),
    };
    let renewal = match plan.mode {
        UploadMode::Multipart { .. } => {
            " An address is valid for about an hour; `from_part` returns a new one. `cancel: true` gives up."
        }
        UploadMode::SinglePart { .. } => {
            " The address is valid for about an hour and cannot be renewed. `cancel: true` gives up."
        }
    };

    [send, more.as_deref().unwrap_or_default(), &complete, renewal].concat()
}
