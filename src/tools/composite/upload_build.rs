//! `upload_build`: a file becomes a build.
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CompositeTool;
use crate::{
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            builds::BuildPlatform,
            uploads::{BuildOptions, automatic_deletion_question},
        },
        rule::Rule,
        schema,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        upload::{FinishedUpload, UploadIds, UploadJob, UploadRequest},
    },
};

/// Uploads a build of the game or app from a local file: the `build_id` of a start.
///
/// After 45 s it answers `status: uploading` and goes on: call again with only its `upload_token` to wait on. An upload that
/// was cut off is taken up again. Takes the options of `initiate_build_upload` too. `details` is filled from git and CI
/// unless `fill_details` is false; `checksum: false` spares the SHA-256.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(transform = hide_options)]
pub struct UploadBuild {
    /// Below the files root.
    pub path: Option<String>,
    /// Default: the file name.
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// Default: by the file name.
    #[schemars(extend("x-short" = true))]
    pub platform: Option<BuildPlatform>,
    /// Default true.
    #[schemars(extend("x-hidden" = true))]
    pub multipart: Option<bool>,
    #[serde(flatten)]
    pub options: BuildOptions,
    #[schemars(extend("x-hidden" = true))]
    pub fill_details: Option<bool>,
    /// Default true: the SHA-256 of the file is made while it is sent.
    #[schemars(extend("x-hidden" = true))]
    pub checksum: Option<bool>,
    /// `true`: wait to the end.
    pub wait: Option<bool>,
    pub upload_token: Option<String>,
}

/// An upload, finished or not (supplement 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BuildUpload {
    /// `uploaded` or `uploading`.
    pub status: &'static str,
    /// For the next call, while it is uploading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    /// While it is uploading, what `cancel_build_upload` asks for.
    #[serde(flatten)]
    pub begun: Option<UploadIds>,
    #[serde(flatten)]
    pub build: Option<FinishedUpload>,
}

impl From<FinishedUpload> for BuildUpload {
    fn from(build: FinishedUpload) -> Self {
        Self { status: "uploaded", upload_token: None, progress: None, begun: None, build: Some(build) }
    }
}

impl CompositeTool for UploadBuild {
    const TOOL: ToolInfo = ToolInfo::creates("upload_build", "Upload a build", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .rules(&[
            Rule::ExactlyOne(&["path", "upload_token"]),
            Rule::NeedsTrue("deletion_policy", "auto_delete"),
        ])
        .requires_fields(&["status"])
        .recovery_hint("look with `list_builds` before you upload it again")
        .asks_confirmation(automatic_deletion_question);
    type Answer = BuildUpload;

    async fn run(self, desk: ToolContext) -> Result<BuildUpload, Failure> {
        let files = &desk.files;
        let patience = desk.audience.patience.filter(|_| self.wait != Some(true));
        let (token, upload) = match &self.upload_token {
            Some(token) => (token.clone(), files.uploads.find(token)?),
            None => files.uploads.begin(self.job(&desk).await?),
        };
        let Some(outcome) = upload.finished(&desk.audience, patience).await else {
            let (progress, begun) = (Some(upload.progress().describe()), upload.begun());
            let upload_token = Some(token);
            return Ok(BuildUpload { status: "uploading", upload_token, progress, begun, build: None });
        };

        outcome.map(BuildUpload::from)
    }
}

/// Hosts see the options of a build with `initiate_build_upload`; here only those that are often wanted.
fn hide_options(schema: &mut Schema) {
    const SHOWN: [&str; 1] = ["tags"];

    let options = schema::input::<BuildOptions>().1;
    let hidden = options.get("properties").and_then(Value::as_object).into_iter().flat_map(Fields::keys);

    for name in hidden.filter(|name| !SHOWN.contains(&name.as_str())) {
        if let Some(Value::Object(option)) = schema.pointer_mut(&format!("/properties/{name}")) {
            option.insert(schema::HIDDEN.to_owned(), Value::Bool(true));
        }
    }
}

/// Arguments that are not those of `initiate_build_upload`.
const OURS: [&str; 5] = ["path", "fill_details", "checksum", "wait", "upload_token"];

impl UploadBuild {
    /// The arguments that go on to `initiate_build_upload`.
    pub fn options(mut arguments: Fields) -> Fields {
        arguments.retain(|name, _| !OURS.contains(&name.as_str()));
        arguments
    }

    async fn job(&self, desk: &ToolContext) -> Result<UploadJob, Failure> {
        let order = UploadRequest {
            path: self.path.as_deref().unwrap_or_default(),
            project: desk.project.as_deref(),
            options: Self::options(desk.arguments.clone()),
            fills_details: self.fill_details != Some(false),
            method: "mcp",
            resumes: true,
            hashes: self.checksum != Some(false),
        };

        let files = &desk.files;

        order.job(&desk.gateway, files, &files.root()?).await
    }
}
