//! `upload_build`: uploads a local file as a build.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CompositeTool;
use crate::{
    failure::Failure,
    service::{
        api::uploads::automatic_deletion_question,
        rule::Rule,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        upload::{BuildArguments, FinishedUpload, UploadIds, UploadMethod, UploadRequest},
    },
};

/// Uploads a build of the game or app from a local file.
///
/// Returns the `build_id`. After 45 s it returns `status: uploading` and continues: call again with only its
/// `upload_token`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadBuild {
    /// Below the files root. Pass this or `upload_token`.
    pub path: Option<String>,
    #[serde(flatten)]
    pub build: BuildArguments,
    /// Fills `details` from git and CI; default true.
    #[schemars(extend("default" = true))]
    pub fill_details: Option<bool>,
    /// Computes the SHA-256; default true.
    #[schemars(extend("default" = true))]
    pub checksum: Option<bool>,
    /// Waits until the upload ends; default false.
    #[schemars(extend("default" = false))]
    pub wait: Option<bool>,
    /// From a reply with `status: uploading`.
    pub upload_token: Option<String>,
}

/// An upload, finished or not (service.md 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UploadBuildAnswer {
    /// `uploaded` or `uploading`.
    pub status: &'static str,
    /// Argument of the next call while the status is `uploading`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Arguments for `cancel_build_upload` while the status is `uploading`.
    #[serde(flatten)]
    pub ids: Option<UploadIds>,
    #[serde(flatten)]
    pub build: Option<FinishedUpload>,
}

impl From<FinishedUpload> for UploadBuildAnswer {
    fn from(build: FinishedUpload) -> Self {
        Self { status: "uploaded", upload_token: None, progress: None, ids: None, build: Some(build) }
    }
}

/// What both variants of the tool have in common.
pub(super) const UPLOAD_BUILD: ToolInfo =
    ToolInfo::creates("upload_build", "Upload a build", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .requires_fields(&["status"])
        .recovery_hint("check with `list_builds` before another upload")
        .asks_confirmation(automatic_deletion_question);

impl CompositeTool for UploadBuild {
    const TOOL: ToolInfo = UPLOAD_BUILD
        .rules(&[
            Rule::ExactlyOne(&["path", "upload_token"]),
            Rule::NeedsTrue("deletion_policy", "auto_delete"),
        ])
        .uses_local_files();
    type Answer = UploadBuildAnswer;

    async fn run(self, context: ToolContext) -> Result<UploadBuildAnswer, Failure> {
        let files = &context.files;
        // With `wait: true` the caller accepts a call of any duration.
        let wait_limit = context.options.wait_limit.filter(|_| self.wait != Some(true));
        let (token, upload) = if let Some(token) = self.upload_token {
            let upload = files.uploads.find(&token)?;
            (token, upload)
        } else {
            let request = UploadRequest {
                path: self.path.as_deref().unwrap_or_default(),
                project: context.project.as_deref(),
                build: self.build,
                fills_details: self.fill_details != Some(false),
                method: UploadMethod::Tool,
                resumes: true,
                hashes: self.checksum != Some(false),
            };
            files.uploads.start(request.into_job(&context.caller, files, &files.root()?).await?)
        };
        let Some(outcome) = upload.wait(&context.options, wait_limit).await else {
            let (progress, ids) = (Some(upload.progress.describe()), upload.progress.ids());
            let upload_token = Some(token);
            return Ok(UploadBuildAnswer { status: "uploading", upload_token, progress, ids, build: None });
        };

        outcome.map(UploadBuildAnswer::from)
    }
}
