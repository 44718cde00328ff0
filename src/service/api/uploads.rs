//! Upload of a build in single steps (service.md 10.4 to 10.7).

use super::{builds::BuildPlatform, prelude::*};

/// Starts the upload of a build and reserves storage space.
///
/// [[Prefer `tool:upload_build`. ]][[With an `upload_id`, PUT parts of `part_size` bytes to the addresses from
/// `tool:get_build_upload_parts`. ]]Without an `upload_id`, PUT the file to `upload_url`.[[ Then call
/// `tool:complete_build_upload`.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct InitiateBuildUpload {
    // Users do not set this field: the caller adds the project, which the body repeats (service.md 10.4).
    #[serde(default)]
    #[schemars(skip)]
    pub project_id: Option<String>,
    /// 1-255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    #[serde(flatten)]
    pub file: UploadedFile,
    /// Platform of the build.
    pub platform: BuildPlatform,
    /// False: the whole file in one request, below 3 GB. Default: the service decides.
    pub multipart: Option<bool>,
    /// Minutes, 1-1440; default 10, or 60 for multipart.
    #[schemars(range(min = 1, max = 1440))]
    pub upload_timeout: Option<u16>,
    #[serde(flatten)]
    pub options: BuildOptions,
}

impl Operation for InitiateBuildUpload {
    const TOOL: ToolInfo =
        ToolInfo::creates("initiate_build_upload", "Begin a build upload", Toolset::Builds)
            .extra()
            .needs("project:manage-build-storage")
            // The service ignores the policy without `auto_delete`.
            .rules(&[Rule::Own(&Rule::Needs("deletion_policy", "auto_delete"))])
            .requires_fields(&["build_id"])
            .recovery_hint("storage may be reserved until the upload times out; call again to start another")
            .asks_confirmation(automatic_deletion_question);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::POST, "/builds/upload").below(UrlBase::NamedProject).with_project_in_body();
    type Answer = InitiatedUpload;
}

/// Returns the confirmation question. Builds that `auto_delete` deletes cannot be restored.
pub fn automatic_deletion_question(arguments: &Fields) -> Option<String> {
    let deletes = arguments.get("auto_delete") == Some(&Value::Bool(true));
    deletes.then(|| "deletes other builds permanently if the storage is full".to_owned())
}

/// Returns addresses for parts of a build upload, valid for about an hour.
///
/// PUT each part as `application/octet-stream` without an API key.[[ Keep each `ETag` for
/// `tool:complete_build_upload`.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBuildUploadParts {
    /// From `tool:initiate_build_upload`.
    pub upload_id: Id,
    /// From `tool:initiate_build_upload`.
    pub object_key: Id,
    /// From 1; 3 to 10 at a time.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub part_numbers: Vec<u64>,
}

impl Operation for GetBuildUploadParts {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_build_upload_parts", "Get addresses of upload parts", Toolset::Builds)
            .extra()
            // The upload id is the credential (service.md 10.5).
            .without_key()
            .requires_fields(&["upload_urls"]);
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/builds/upload/parts").below(UrlBase::NamedProject);
    type Answer = UploadPartUrls;
}

/// Completes a build upload, so that runs can use it.
///
/// Multipart uploads need all four arguments, others only `build_id`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CompleteBuildUpload {
    /// From `tool:initiate_build_upload`.
    pub build_id: String,
    /// From `tool:initiate_build_upload`.
    pub upload_id: Option<String>,
    /// From `tool:initiate_build_upload`.
    pub object_key: Option<String>,
    /// All parts in order.
    #[schemars(length(min = 1))]
    pub parts: Option<Vec<CompletedPart>>,
}

impl Operation for CompleteBuildUpload {
    const TOOL: ToolInfo =
        ToolInfo::creates("complete_build_upload", "Complete a build upload", Toolset::Builds)
            .extra()
            .needs("project:manage-build-storage")
            .rules(&[
                Rule::Needs("upload_id", "parts"),
                Rule::Needs("upload_id", "object_key"),
                Rule::Needs("parts", "upload_id"),
                Rule::Needs("parts", "object_key"),
                Rule::Custom(check_part_numbers),
            ])
            .recovery_hint("call `tool:get_build`: after `not_found`, complete the upload again");
    // The body differs between multipart and single-part uploads, and success is the status (service.md 10.7).
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::POST, "/builds/upload/complete").responds_with(ResponseKind::Status);
    type Answer = CompletedUpload;
}

/// Checks that the part numbers start at 1 and ascend without gaps.
pub fn check_part_numbers(arguments: &Fields, violations: &mut Vec<Violation>) {
    let parts = arguments.get("parts").and_then(Value::as_array).into_iter().flatten();
    let numbers = parts.map(|part| part.get("part_number").and_then(Value::as_u64));
    let wrong = (1_u64..).zip(numbers).find(|(expected, number)| number.is_some_and(|is| is != *expected));

    if let Some((expected, _)) = wrong {
        let path = format!("parts.{}.part_number", expected - 1);
        let rule = format!("must be {expected}: parts are numbered from 1 in ascending order, without gaps");
        violations.push(Violation::new(path, rule));
    }
}

/// Cancels a build upload and frees its storage space.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CancelBuildUpload {
    /// From `tool:upload_build|initiate_build_upload`.
    pub build_id: Id,
    /// From `tool:upload_build|initiate_build_upload`.
    pub object_key: Id,
    /// [[From `tool:upload_build|initiate_build_upload`. ]]Required for multipart.
    pub upload_id: Option<Id>,
}

impl Operation for CancelBuildUpload {
    const TOOL: ToolInfo = ToolInfo::stops("cancel_build_upload", "Cancel a build upload", Toolset::Builds)
        .needs("project:manage-build-storage")
        .recovery_hint("call again: `not_found` means that the upload is cancelled");
    const REQUEST: RequestInfo = RequestInfo::new(Method::DELETE, "/builds/upload");
    type Answer = CancelledUpload;
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct UploadedFile {
    /// 1-255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub file_name: String,
    /// Bytes, from 1.
    #[schemars(range(min = 1))]
    pub file_size: u64,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct BuildOptions {
    /// Up to 1000 characters.
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// Deletes old builds if storage is full; default false.
    pub auto_delete: Option<bool>,
    /// `least_recent` (default) or `oldest` first. Needs `argument:auto_delete`.
    #[schemars(extend("default" = "least_recent"))]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Tags of 1-50 characters.
    pub tags: Option<Vec<Tag>>,
    /// Origin of the build.
    #[serde(default)]
    #[schemars(schema_with = "passed_through::<NewBuildDetails>")]
    pub details: Option<Open>,
}

// The builds that are deleted first.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    LeastRecent,
    Oldest,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("minLength" = 1, "maxLength" = 50))]
pub struct Tag(pub String);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CompletedPart {
    /// From 1.
    #[schemars(range(min = 1))]
    pub part_number: u64,
    /// `ETag` without quotes.
    #[schemars(length(min = 1))]
    pub etag: String,
}

// Origin of a build. Every part is optional.
#[derive(Debug, JsonSchema)]
pub struct NewBuildDetails {
    pub vcs: Option<VcsDetails>,
    pub ci: Option<CiDetails>,
    pub app: Option<AppDetails>,
    pub build: Option<CompilationDetails>,
    pub upload: Option<UploadDetails>,
}

#[derive(Debug, JsonSchema)]
pub struct VcsDetails {
    #[schemars(extend("enum" = ["git", "mercurial", "svn"]))]
    pub r#type: Option<String>,
    #[schemars(extend("enum" = ["github", "gitlab", "bitbucket", "azure-devops"]))]
    pub provider: Option<String>,
    pub repository_url: Option<String>,
    pub commit: Option<Commit>,
    pub branch: Option<String>,
    pub tag: Option<String>,
    pub pr: Option<PullRequest>,
}

#[derive(Debug, JsonSchema)]
pub struct Commit {
    pub hash: Option<String>,
    pub short_hash: Option<String>,
    pub message: Option<String>,
    pub author: Option<String>,
    pub timestamp: Option<String>,
}

#[derive(Debug, JsonSchema)]
pub struct PullRequest {
    pub number: Option<i64>,
    pub title: Option<String>,
    pub url: Option<String>,
    pub source_branch: Option<String>,
    pub target_branch: Option<String>,
}

#[derive(Debug, JsonSchema)]
pub struct CiDetails {
    #[schemars(extend("enum" = [
        "github-actions", "jenkins", "gitlab-ci", "circleci", "travis", "azure-pipelines", "bitrise", "custom",
    ]))]
    pub system: Option<String>,
    pub build_number: Option<String>,
    pub job_name: Option<String>,
    pub run_id: Option<String>,
    pub run_url: Option<String>,
    pub triggered_by: Option<String>,
    pub agent: Option<String>,
}

#[derive(Debug, JsonSchema)]
pub struct AppDetails {
    pub version: Option<String>,
    pub version_code: Option<i64>,
    pub build_number: Option<String>,
    pub bundle_id: Option<String>,
}

#[derive(Debug, JsonSchema)]
pub struct CompilationDetails {
    #[schemars(extend("enum" = ["debug", "release", "staging", "production"]))]
    pub configuration: Option<String>,
    pub timestamp: Option<String>,
    pub duration: Option<i64>,
    pub compiler: Option<String>,
    pub dependencies: Option<Open>,
}

#[derive(Debug, JsonSchema)]
pub struct UploadDetails {
    // Open: the known values are `cli`, `api`, `github-action`, `jenkins-plugin`, `web` and `mcp`.
    pub method: Option<String>,
    pub cli_version: Option<String>,
    pub uploader: Option<String>,
}

/// Addresses and sizes for sending the file (service.md 10.4). An upload with an `upload_id` is multipart.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct InitiatedUpload {
    pub build_id: String,
    /// Only for multipart uploads.
    pub upload_id: Option<String>,
    /// For single-part uploads: address for a PUT of the whole file.
    pub upload_url: Option<String>,
    pub object_key: String,
    pub total_parts: Option<u64>,
    /// Size in bytes of each part except the last.
    pub part_size: Option<u64>,
    // `upload_type` may be absent. Then an `upload_id` means multipart (service.md 10.4).
    /// `multipart` or `single-part`.
    pub upload_type: Option<String>,
}

/// Addresses of parts (service.md 10.5).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct UploadPartUrls {
    pub upload_urls: Vec<PartUrl>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PartUrl {
    pub part_number: u64,
    pub url: String,
}

/// The answer to a completion (service.md 10.7). The HTTP status alone states success.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CompletedUpload {
    /// Only for multipart uploads.
    pub build_id: Option<String>,
    /// Only for single-part uploads.
    pub status: Option<String>,
}

/// The answer to a cancellation (service.md 10.7).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CancelledUpload {
    pub success: bool,
}
