//! The tool `upload_build`.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CompositeTool;
use crate::{
    call::RequestPreview,
    failure::Failure,
    service::{
        api::{Open, uploads::automatic_deletion_question},
        rule::Rule,
        tool::{DRY_RUN, ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        upload::{BuildArguments, FinishedUpload, UploadEnd, UploadIds, UploadMethod, UploadRequest},
    },
};

/// Uploads a build of the game or app from a local file.
///
/// Returns the `build_id`; after 45 s `status: uploading`: repeat the same call to continue.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadBuild {
    /// Below the files root.
    pub path: String,
    #[serde(flatten)]
    pub build: BuildArguments,
    /// Waits until the upload ends; default false.
    #[schemars(extend("default" = false))]
    pub wait: Option<bool>,
}

/// An upload, finished or not (service.md 15).
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UploadBuildAnswer {
    /// `uploaded`; `uploading`: repeat the same call to continue; `dry_run`: nothing was sent.
    pub status: &'static str,
    /// The request of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Open")]
    pub request: Option<RequestPreview>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// Arguments for `cancel_build_upload` while the status is `uploading`.
    #[serde(flatten)]
    pub ids: Option<UploadIds>,
    #[serde(flatten)]
    pub build: Option<FinishedUpload>,
}

impl UploadBuildAnswer {
    pub(crate) fn finished(build: FinishedUpload) -> Self {
        Self { status: "uploaded", build: Some(build), ..Self::default() }
    }
}

impl From<UploadEnd> for UploadBuildAnswer {
    fn from(end: UploadEnd) -> Self {
        match end {
            UploadEnd::Finished(build) => Self::finished(*build),
            UploadEnd::Paused { ids, progress } => {
                let (ids, progress) = (Some(ids), Some(progress));
                Self { status: "uploading", ids, progress, ..Self::default() }
            }
        }
    }
}

impl CompositeTool for UploadBuild {
    const TOOL: ToolInfo = ToolInfo::creates("upload_build", "Upload a build", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .requires_fields(&["status"])
        .recovery_hint("check with `tool:list_builds` before another upload")
        .asks_confirmation(automatic_deletion_question)
        .rules(&[Rule::NeedsTrue("deletion_policy", "auto_delete")])
        .uses_local_files();
    type Answer = UploadBuildAnswer;

    async fn run(self, context: ToolContext) -> Result<UploadBuildAnswer, Failure> {
        let files = &context.files;
        let request = UploadRequest {
            path: &self.path,
            project: context.project.as_deref(),
            build: self.build,
            origin: files.origin(),
            method: UploadMethod::Tool,
        };
        let job = request.into_job(None, &context.caller, files, &files.root()?)?;
        if context.is_dry_run {
            let request = Some(job.preview().await?);
            return Ok(UploadBuildAnswer { status: DRY_RUN, request, ..UploadBuildAnswer::default() });
        }

        // With `wait: true` the caller accepts a call of any duration.
        let wait_limit = context.options.wait_limit.filter(|_| self.wait != Some(true));
        job.run_for_host(&context.options, wait_limit).await.map(UploadBuildAnswer::from)
    }
}
