//! The tools that read or write local files: `upload_build` and `download_run_files`.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

use std::path::{MAIN_SEPARATOR, Path};

use indicatif::HumanBytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CompositeTool;
use crate::{
    call::RequestPreview,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            Open,
            uploads::{InitiateBuildUpload, automatic_deletion_question},
        },
        catalog::ListedOperation as _,
        rule::Rule,
        tool::{DRY_RUN, ToolInfo, Toolset},
    },
    text::single_line,
    tools::{
        context::ToolContext,
        download::{DownloadReport, DownloadRunFiles, MAX_UNSIZED_BYTES, split_player_id},
        files::{FilesRoot, file_error},
        upload::{BuildArguments, FinishedUpload, UploadEnd, UploadIds, UploadRequest},
    },
};

/// Endings of the names of builds, and of archives with builds. A tool sends other files only if a person agrees.
const BUILD_ENDINGS: &str = ".apk .aab .xapk .ipa .exe .msi .dmg .pkg .deb .rpm .appimage .zip .tar.gz .7z";

/// Uploads a build of the game or app from a local file.
///
/// Returns the `build_id`. If `status` is `uploading` after 45 s, repeat the same call to continue.
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
        .needs("project:manage-build-storage")
        .requires_fields(&["status"])
        .recovery_hint("check with `tool:list_builds` before another upload")
        .asks_confirmation(deletion_question)
        .rules(&[Rule::Needs("deletion_policy", "auto_delete")])
        .uses_local_files();
    type Answer = UploadBuildAnswer;

    async fn run(self, context: ToolContext) -> Result<UploadBuildAnswer, Failure> {
        let files = &context.files;
        let root = files.root()?;
        let file = visible_file(&root, &self.path)?;
        let request = UploadRequest {
            path: &self.path,
            project: context.project.as_deref(),
            build: self.build,
            origin: files.origin(),
            method: "mcp",
        };
        let progress = request.check_file(&root)?;
        let name = file.to_lowercase();
        if !BUILD_ENDINGS.split(' ').any(|ending| name.ends_with(ending)) && !context.is_dry_run {
            require_agreement(&file, progress.total(), &context).await?;
        }
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

/// Returns the confirmation question. It names the file, because the agreement counts for the file, too.
fn deletion_question(arguments: &Fields) -> Option<String> {
    let deletes = automatic_deletion_question(arguments)?;
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    Some(format!("sends {}, and {deletes}", quoted_path(path)))
}

/// Refuses a file that lies at a hidden path, as secrets and settings do. A model may name any file, on the word of a text that
/// somebody else has written. Returns its path below the root.
fn visible_file(root: &FilesRoot, path: &str) -> Result<String, Failure> {
    let resolved = root.resolve_file(path)?;
    let below = resolved.strip_prefix(root.path()).unwrap_or(&resolved).to_string_lossy().into_owned();
    if below.split(MAIN_SEPARATOR).any(|segment| segment.starts_with('.')) {
        let failure = file_error(path, "is not sent by a tool: a segment of its path begins with a dot");
        return Err(failure.hint("if it is a build, a person can send it with the command `tas-mcp upload`"));
    }
    Ok(below)
}

/// Returns a path for a question. A name with a backtick could say the rest of the sentence.
fn quoted_path(path: &str) -> String {
    format!("`{}`", single_line(path).replace('`', "'"))
}

/// Asks a person about a file whose name is not that of a build.
async fn require_agreement(path: &str, size: u64, context: &ToolContext) -> Result<(), Failure> {
    let ToolContext { caller, project, is_confirmed, .. } = context;
    let project = caller.resolve_project(InitiateBuildUpload::entry(), project.as_deref()).await?;
    let project = project.map_or_else(|| "the project of the key".to_owned(), |id| format!("project `{id}`"));

    caller.require_agreement(*is_confirmed, || {
        let (path, size) = (quoted_path(path), HumanBytes(size));
        format!("upload_build sends {path} ({size}) to {project}, although its name is not that of a build")
    })
}

impl CompositeTool for DownloadRunFiles {
    const TOOL: ToolInfo =
        ToolInfo::replaces("download_run_files", "Download the files of a run", Toolset::Artifacts)
            .extra()
            .needs("project:read-runs")
            .asks_confirmation(|_| None)
            .rules(&[Rule::Excludes("files", "players"), Rule::Excludes("files", "patterns")])
            .uses_local_files()
            .requires_fields(&["status"])
            .recovery_hint("call again: files that exist are not downloaded again");
    type Answer = DownloadReport;

    async fn run(self, context: ToolContext) -> Result<DownloadReport, Failure> {
        let ToolContext { caller, files, project, options, is_confirmed, .. } = context;
        // Files with names of the service's choice lie in a directory of their own, where no program looks for its settings.
        let directory = Path::new(&self.destination_dir).join(split_player_id(&self.run_id.0).0);
        let mut destination = files.root()?.destination(&directory.to_string_lossy())?;
        destination.is_marked = true;
        let replaces = self.overwrite == Some(true);
        if !destination.is_own(replaces) {
            caller.require_agreement(is_confirmed, || {
                let path = quoted_path(&directory.to_string_lossy());
                let place = if replaces { "in place of" } else { "beside" };
                format!("download_run_files saves files in {path}, {place} what is there")
            })?;
        }
        let mut report = self.save(&caller, project, &destination, MAX_UNSIZED_BYTES, &options).await?;

        let hints = report.failed.iter_mut().map(|file| &mut file.hint).chain(&mut report.hint);
        hints.for_each(|hint| hint.address(&*options.tools));
        Ok(report)
    }
}
