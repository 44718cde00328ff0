//! The tool `upload_build`, in two variants: from a local file, and for a server without local files, where the caller
//! sends the bytes to the storage host itself.
#![expect(missing_docs, reason = "the names of the service are self-explanatory")]

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
            uploads::{
                CompletedPart, UploadedFile, automatic_deletion_question, check_etags, check_part_numbers,
            },
        },
        lenient::view,
        rule::Rule,
        tool::{DRY_RUN, ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        upload::{
            BuildArguments, FinishedUpload, RemoteUpload, RemoteUploadAnswer, UploadIds, UploadMethod,
            UploadRequest, platform_from_file_name, platform_violation,
        },
    },
    violation::Violation,
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
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct UploadBuildAnswer {
    /// `uploaded` or `uploading`; `dry_run`: nothing was sent.
    pub status: &'static str,
    /// The request of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Open")]
    pub request: Option<RequestPreview>,
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
        Self { status: "uploaded", build: Some(build), ..Self::default() }
    }
}

impl From<RequestPreview> for UploadBuildAnswer {
    fn from(request: RequestPreview) -> Self {
        Self { status: DRY_RUN, request: Some(request), ..Self::default() }
    }
}

/// What both variants of the tool have in common.
const UPLOAD_BUILD: ToolInfo = ToolInfo::creates("upload_build", "Upload a build", Toolset::Builds)
    .core()
    .needs("project:manage-build-storage")
    .requires_fields(&["status"])
    .recovery_hint("check with `tool:list_builds` before another upload")
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
            refuse_dry_run(context.is_dry_run)?;
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
            let job = request.into_job(&context.caller, files, &files.root()?).await?;
            if context.is_dry_run {
                return job.preview().await.map(UploadBuildAnswer::from);
            }
            files.uploads.start(job)
        };
        let Some(outcome) = upload.wait(&context.options, wait_limit).await else {
            let (progress, ids) = (Some(upload.progress.describe()), upload.progress.ids());
            let upload_token = Some(token);
            let (request, build) = (None, None);
            return Ok(UploadBuildAnswer {
                status: "uploading",
                upload_token,
                progress,
                ids,
                request,
                build,
            });
        };

        outcome.map(UploadBuildAnswer::from)
    }
}

/// Uploads a build of the game or app.
///
/// Begin with `file_name` and `file_size`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct UploadRemoteBuild {
    #[serde(flatten)]
    pub file: Option<UploadedFile>,
    #[serde(flatten)]
    pub build: BuildArguments,
    /// From the first reply.
    pub upload_token: Option<String>,
    /// First part to address.
    #[schemars(range(min = 1))]
    pub from_part: Option<u64>,
    /// Completes: all parts.
    #[schemars(length(min = 1))]
    pub parts: Option<Vec<CompletedPart>>,
    /// Cancels the upload.
    pub cancel: Option<bool>,
}

/// Arguments of which a call with `upload_token` has exactly one.
const STEPS: [&str; 3] = ["from_part", "parts", "cancel"];

impl CompositeTool for UploadRemoteBuild {
    const TOOL: ToolInfo = UPLOAD_BUILD.rules(&[
        Rule::ExactlyOne(&["file_name", "upload_token"]),
        Rule::Needs("file_name", "file_size"),
        Rule::NeedsTrue("deletion_policy", "auto_delete"),
        Rule::Custom(check_platform),
        Rule::Custom(check_step),
        Rule::Custom(check_part_numbers),
        Rule::Custom(check_etags),
    ]);
    type Answer = RemoteUploadAnswer;

    async fn run(self, context: ToolContext) -> Result<RemoteUploadAnswer, Failure> {
        let mut upload = RemoteUpload::new(&context.caller, context.project, &context.files);
        if let Some(file) = self.file {
            let preview = context.is_dry_run;
            return if preview {
                upload.preview(file, self.build).await
            } else {
                upload.start(file, self.build).await
            };
        }
        refuse_dry_run(context.is_dry_run)?;

        // A call without a file has a token: the rules have been checked.
        let sealed = self.upload_token.unwrap_or_default();
        let token = upload.open(&sealed).await?;
        match (self.parts, self.from_part) {
            (Some(parts), _) => upload.complete(&token, parts).await,
            (None, Some(from_part)) => upload.more_addresses(&token, from_part).await,
            (None, None) => upload.cancel(&token).await,
        }
    }
}

/// Refuses a dry run of an upload that has begun.
fn refuse_dry_run(is_dry_run: bool) -> Result<(), Failure> {
    let rule = "shows the request of a new upload: leave it or `upload_token` away";
    if is_dry_run {
        return Err(Failure::invalid_arguments(UPLOAD_BUILD.name, &[Violation::new(DRY_RUN, rule)]));
    }
    Ok(())
}

// The arguments that a rule reads. Their types may be wrong, which the check of the schema reports.
#[derive(Default, Deserialize)]
#[serde(default)]
struct UncheckedFile {
    file_name: Option<String>,
    platform: Option<Value>,
}

/// Checks that the platform is given, or follows from the file name.
fn check_platform(arguments: &Fields, violations: &mut Vec<Violation>) {
    let UncheckedFile { file_name, platform } = view(arguments);
    if let Some(file_name) = file_name.filter(|_| platform.is_none())
        && platform_from_file_name(&file_name).is_none()
    {
        violations.push(platform_violation(&file_name));
    }
}

/// Checks that a call with a token makes exactly one step, and that a step has a token.
fn check_step(arguments: &Fields, violations: &mut Vec<Violation>) {
    // `cancel: false` is no step.
    let is_step = |name: &&str| {
        arguments.get(*name).is_some_and(|value| *name != "cancel" || *value == Value::Bool(true))
    };
    let steps: Vec<_> = STEPS.into_iter().filter(is_step).collect();
    let mut add = |path: &str, rule: String| violations.push(Violation::new(path, rule));

    if !arguments.contains_key("upload_token") {
        for step in steps {
            add(step, "requires `upload_token`".to_owned());
        }
        return;
    }

    if steps.len() != 1 {
        let got = if steps.is_empty() { "none".to_owned() } else { steps.join(", ") };
        let choices = "exactly one of `from_part`, `parts` and `cancel: true` must be passed with it";
        add("upload_token", format!("{choices}, got {got}"));
    }
    // The rule about `file_name` and `upload_token` names these two.
    let is_other = |name: &&str| !STEPS.contains(name) && !["file_name", "upload_token"].contains(name);
    for other in arguments.keys().map(String::as_str).filter(is_other) {
        add(other, "cannot be combined with `upload_token`".to_owned());
    }
}
