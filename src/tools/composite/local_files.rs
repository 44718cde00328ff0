//! The tools that read or write local files: `upload_build` and `download_run_files`.
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
        download::{DownloadReport, DownloadRunFiles, MAX_UNSIZED_BYTES},
        upload::{BuildArguments, FinishedUpload, UploadEnd, UploadIds, UploadRequest},
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
            method: "mcp",
        };
        let root = files.root()?;
        let progress = request.check_file(&root)?;
        let job = request.into_job(progress, &context.caller, files, &root)?;
        if context.is_dry_run {
            let request = Some(job.preview().await?);
            return Ok(UploadBuildAnswer { status: DRY_RUN, request, ..UploadBuildAnswer::default() });
        }

        // With `wait: true` the caller accepts a call of any duration.
        let wait_limit = context.options.wait_limit.filter(|_| self.wait != Some(true));
        job.run_for_host(&context.options, wait_limit).await.map(UploadBuildAnswer::from)
    }
}

impl CompositeTool for DownloadRunFiles {
    const TOOL: ToolInfo =
        ToolInfo::replaces("download_run_files", "Download the files of a run", Toolset::Artifacts)
            .needs("project:read-runs")
            .rules(&[Rule::Excludes("files", "players"), Rule::Excludes("files", "patterns")])
            .uses_local_files()
            .requires_fields(&["status"])
            .recovery_hint("call again: files that exist are not downloaded again");
    type Answer = DownloadReport;

    async fn run(self, context: ToolContext) -> Result<DownloadReport, Failure> {
        let ToolContext { caller, files, project, options, .. } = context;
        let destination = files.root()?.destination(&self.destination_dir)?;
        let mut report = self.save(&caller, project, &destination, MAX_UNSIZED_BYTES, &options).await?;

        let hints = report.failed.iter_mut().map(|file| &mut file.hint).chain(&mut report.hint);
        hints.for_each(|hint| hint.address(&*options.tools));
        Ok(report)
    }
}
