//! The token of an upload: everything that a later step needs, sealed for the API key.

use jiff::{Timestamp, tz::TimeZone};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    super::{
        UploadedBuild,
        cancellation::UNKNOWN_UPLOAD_HINT,
        plan::{UploadMode, UploadPlan},
    },
    violation,
};
use crate::{
    call::gateway::Gateway,
    failure::{Code, Failure},
    sealing,
    service::api::uploads::InitiateBuildUpload,
};

/// Purpose of the derived key that seals the tokens.
const KEY_PURPOSE: &[u8] = b"tas-mcp uploads 1";

/// Data that the seal is bound to besides the key.
const CONTEXT: &[u8] = b"upload_build";

/// The content of a token. Its names are short, because models repeat the token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UploadToken {
    #[serde(rename = "b")]
    build_id: String,
    /// `None` for an upload in one piece.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    upload_id: Option<String>,
    #[serde(rename = "k")]
    object_key: String,
    #[serde(rename = "p")]
    project: Option<String>,
    #[serde(rename = "n")]
    name: String,
    #[serde(rename = "f")]
    file_name: String,
    #[serde(rename = "o")]
    platform: String,
    #[serde(rename = "s")]
    size: u64,
    #[serde(rename = "l")]
    part_size: u64,
    /// When the service removes the upload, in seconds since 1970.
    #[serde(rename = "e")]
    ends: i64,
}

impl UploadToken {
    /// Creates the token of an upload that ends at `ends`.
    pub(super) fn new(
        plan: &UploadPlan,
        request: &InitiateBuildUpload,
        project: Option<&str>,
        ends: Timestamp,
    ) -> Self {
        let size = request.file.file_size;
        let (upload_id, part_size) = match &plan.mode {
            UploadMode::Multipart { upload_id, part_size, .. } => (Some(upload_id.clone()), *part_size),
            UploadMode::SinglePart { .. } => (None, size),
        };

        Self {
            build_id: plan.build_id.clone(),
            upload_id,
            object_key: plan.object_key.clone(),
            project: project.map(str::to_owned),
            name: request.name.clone(),
            file_name: request.file.file_name.clone(),
            platform: json!(request.platform).as_str().unwrap_or_default().to_owned(),
            size,
            part_size,
            ends: ends.as_second(),
        }
    }

    /// Returns the sealed token.
    pub(super) async fn seal(&self, gateway: &Gateway) -> Result<String, Failure> {
        sealing::seal(&gateway.derived_key(KEY_PURPOSE).await?, CONTEXT, self)
            .ok_or_else(|| Failure::new(Code::NotConfigured, "upload_build: the token cannot be sealed"))
    }

    /// Opens a sealed token.
    ///
    /// # Errors
    /// `invalid_arguments` unless the token was sealed for the same API key and is unchanged.
    pub(super) async fn open(sealed: &str, gateway: &Gateway) -> Result<Self, Failure> {
        let token: Option<Self> = sealing::open(&gateway.derived_key(KEY_PURPOSE).await?, CONTEXT, sealed);
        token.filter(|token| token.part_size > 0).ok_or_else(|| {
            violation(
                "upload_token",
                "must be the `upload_token` of an earlier reply, unchanged, and of a call with the same credential",
            )
        })
    }

    /// Checks that the service still has the upload at the time `now`.
    ///
    /// # Errors
    /// `not_found` if its time limit has passed.
    pub(super) fn check_time(&self, now: Timestamp) -> Result<(), Failure> {
        if now.as_second() < self.ends {
            return Ok(());
        }

        let message = format!(
            "upload_build: the upload of build `{}` ended at {}: its time limit has passed, and the service removes its parts",
            self.build_id,
            self.ends_at()
        );
        Err(Failure::new(Code::NotFound, message).hint(UNKNOWN_UPLOAD_HINT))
    }

    /// Returns when the service removes the upload, in ISO 8601.
    pub(super) fn ends_at(&self) -> String {
        let ends = Timestamp::from_second(self.ends).unwrap_or_default().to_zoned_datetime(TimeZone::UTC);
        ends.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// Returns the plan of the upload. The address of an upload in one piece is left out.
    pub(super) fn plan(&self) -> UploadPlan {
        let mode = match &self.upload_id {
            Some(upload_id) => UploadMode::Multipart {
                upload_id: upload_id.clone(),
                part_size: self.part_size,
                total_parts: self.size.div_ceil(self.part_size),
            },
            None => UploadMode::SinglePart { upload_url: String::new() },
        };
        UploadPlan { build_id: self.build_id.clone(), object_key: self.object_key.clone(), mode }
    }

    /// Returns the build that the upload becomes.
    pub(super) fn build(&self) -> UploadedBuild {
        UploadedBuild {
            build_id: self.build_id.clone(),
            project_id: self.project.clone(),
            name: self.name.clone(),
            file_name: self.file_name.clone(),
            platform: self.platform.clone(),
            size: self.size,
            parts: self.plan().total_parts(),
        }
    }

    pub(super) fn build_id(&self) -> &str {
        &self.build_id
    }

    pub(super) fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(upload_id: Option<&str>) -> UploadToken {
        UploadToken {
            build_id: "b".to_owned(),
            upload_id: upload_id.map(str::to_owned),
            object_key: "o".to_owned(),
            project: None,
            name: "n".to_owned(),
            file_name: "f".to_owned(),
            platform: "xbox".to_owned(),
            size: 2_500,
            part_size: if upload_id.is_some() { 1_000 } else { 2_500 },
            ends: 1_000,
        }
    }

    #[test]
    fn a_token_is_valid_until_the_upload_ends() {
        for (second, code) in [(0, None), (999, None), (1_000, Some(Code::NotFound))] {
            let now = Timestamp::from_second(second).expect("a time");
            let checked = token(Some("u")).check_time(now);
            assert_eq!(checked.err().map(|failure| failure.code), code, "{second}");
        }
    }

    #[test]
    fn the_plan_follows_from_the_sizes() {
        for (upload_id, total_parts) in [(Some("u"), 3), (None, 1)] {
            let token = token(upload_id);
            assert_eq!(token.plan().total_parts(), total_parts);
            assert_eq!((token.build().parts, token.build().size), (total_parts, 2_500));
        }
    }
}
