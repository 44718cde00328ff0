//! Upload of a build in single steps (specification, Multipart build upload; supplement 10.4 to 10.7).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Id, Open,
    build_details::NewBuildDetails,
    builds::{BuildPlatform, ListBuilds},
};
use crate::{
    fields::Fields,
    service::{
        operation::{
            DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo, ResponseKind, UrlBase,
        },
        rule::Rule,
        schema::passed_through,
        tool::{ToolInfo, Toolset},
    },
    violation::Violation,
};

/// Starts the upload of a build and reserves its storage space.
///
/// `upload_build` performs all steps in one call. Otherwise PUT parts of `part_size` bytes to the addresses from
/// `get_build_upload_parts`, or, without an `upload_id`, PUT the file to `upload_url`. Then call `complete_build_upload`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct InitiateBuildUpload {
    // The gateway adds the project. The sandbox compares it with the project of the path.
    #[serde(default)]
    #[schemars(skip)]
    pub project_id: Option<String>,
    /// 1-255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// 1-255 characters.
    #[schemars(length(min = 1, max = 255))]
    pub file_name: String,
    /// Size in bytes.
    #[schemars(range(min = 1))]
    pub file_size: u64,
    pub platform: BuildPlatform,
    /// Default: true for files of 3 GB or more.
    pub multipart: Option<bool>,
    #[serde(flatten)]
    pub options: BuildOptions,
}

// The options of an upload. No doc comment, because it would become the description of every tool that takes them.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct BuildOptions {
    /// Up to 1000 characters.
    #[schemars(length(max = 1000))]
    pub description: Option<String>,
    /// Whether old builds are deleted if the storage is full; default false.
    #[schemars(extend("default" = false))]
    pub auto_delete: Option<bool>,
    /// Which builds are deleted first; default `least_recent`. Needs `auto_delete: true`.
    #[schemars(extend("default" = "least_recent"))]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Minutes, 1-1440; default 10, or 60 for multipart.
    #[schemars(range(min = 1, max = 1440))]
    pub upload_timeout: Option<u16>,
    /// 1-50 characters each.
    pub tags: Option<Vec<Tag>>,
    /// Same format as in `get_build`.
    #[serde(default)]
    #[schemars(schema_with = "passed_through::<NewBuildDetails>")]
    pub details: Option<Open>,
}

// No doc comment, because it would become part of the descriptions.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum DeletionPolicy {
    LeastRecent,
    Oldest,
}

/// A tag of a build.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Tag(pub String);

impl JsonSchema for Tag {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Tag".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": 50})
    }
}

impl Operation for InitiateBuildUpload {
    const TOOL: ToolInfo = ToolInfo::creates(
        "initiate_build_upload",
        "Begin a build upload",
        Toolset::Builds,
    )
    .core()
    .needs("project:manage-build-storage")
    .own_rules(&[Rule::NeedsTrue("deletion_policy", "auto_delete")])
    .requires_fields(&["build_id"])
    .recovery_hint(
        "storage space may be reserved until the upload times out; call again to start another upload",
    )
    .asks_confirmation(automatic_deletion_question);
    const REQUEST: RequestInfo = RequestInfo::post("/builds/upload")
        .below(UrlBase::NamedProject)
        .with_project_in_body()
        .duplicate_checks(&[DuplicateCheck {
            when_given: None,
            probe: Probe::List(ListProbe {
                list: ListBuilds::NAME,
                filters: &["platform"],
                newest_first: &[],
                matches: &[
                    FieldMatch::new("name", "name"),
                    FieldMatch::new("file_name", "file_name"),
                    FieldMatch::new("file_size", "file_size"),
                ],
                created_at: Some("created_at"),
                shown_fields: &["id", "name", "status", "created_at"],
            }),
            advice: "the existing upload cannot be resumed without its `upload_id`",
        }]);
    type Answer = BuildUpload;
}

/// Returns the confirmation question: builds that `auto_delete` deletes cannot be restored.
pub fn automatic_deletion_question(arguments: &Fields) -> Option<String> {
    let deletes = arguments.get("auto_delete") == Some(&Value::Bool(true));
    deletes.then(|| "deletes other builds permanently if the storage is full".to_owned())
}

/// Returns addresses for the parts of a build upload. Each is valid for about an hour.
///
/// PUT each part with `Content-Type: application/octet-stream` and without an API key. Keep the `ETag` of every answer for
/// `complete_build_upload`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBuildUploadParts {
    pub upload_id: Id,
    pub object_key: Id,
    /// Numbers from 1. Request 3 to 10 parts at a time.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub part_numbers: Vec<u64>,
}

impl Operation for GetBuildUploadParts {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_build_upload_parts", "Get addresses of upload parts", Toolset::Builds)
            .core()
            .without_key()
            .requires_fields(&["upload_urls"]);
    const REQUEST: RequestInfo = RequestInfo::get("/builds/upload/parts").below(UrlBase::NamedProject);
    type Answer = UploadPartUrls;
}

/// Completes a build upload, so that runs can use the build.
///
/// A multipart upload needs all four arguments, a single-part upload only `build_id`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CompleteBuildUpload {
    pub build_id: String,
    pub upload_id: Option<String>,
    pub object_key: Option<String>,
    /// All parts, in ascending order from 1.
    #[schemars(length(min = 1))]
    pub parts: Option<Vec<CompletedPart>>,
}

// No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct CompletedPart {
    #[schemars(range(min = 1))]
    pub part_number: u64,
    /// Value of the `ETag` header, without quotes.
    #[schemars(length(min = 1), extend("x-unquoted" = true))]
    pub etag: String,
}

impl Operation for CompleteBuildUpload {
    const TOOL: ToolInfo =
        ToolInfo::creates("complete_build_upload", "Complete a build upload", Toolset::Builds)
            .core()
            .needs("project:manage-build-storage")
            .rules(&[
                Rule::Needs("upload_id", "parts"),
                Rule::Needs("upload_id", "object_key"),
                Rule::Needs("parts", "upload_id"),
                Rule::Needs("parts", "object_key"),
                Rule::Custom(check_part_numbers),
            ])
            .own_rules(&[Rule::Custom(check_etags)])
            .recovery_hint("check with `get_build`: if the build does not exist, complete the upload again");
    const REQUEST: RequestInfo =
        RequestInfo::post("/builds/upload/complete").responds_with(ResponseKind::Status);
    type Answer = CompletedUpload;
}

/// Cancels a build upload and frees its storage space immediately.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct CancelBuildUpload {
    pub build_id: Id,
    pub object_key: Id,
    /// Required for multipart.
    pub upload_id: Option<Id>,
}

impl Operation for CancelBuildUpload {
    const TOOL: ToolInfo = ToolInfo::stops("cancel_build_upload", "Cancel a build upload", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .recovery_hint("call again: `not_found` means that the upload is cancelled");
    const REQUEST: RequestInfo = RequestInfo::delete("/builds/upload");
    type Answer = CancelledUpload;
}

/// Checks that the part numbers start at 1 and ascend without gaps.
fn check_part_numbers(arguments: &Fields, violations: &mut Vec<Violation>) {
    let numbers = parts(arguments).map(|part| part.get("part_number").and_then(Value::as_u64));
    let wrong = (1_u64..).zip(numbers).find(|(expected, number)| number.is_some_and(|is| is != *expected));

    if let Some((expected, _)) = wrong {
        let path = format!("parts.{}.part_number", expected - 1);
        let rule = format!("must be {expected}: parts are numbered from 1 in ascending order, without gaps");
        violations.push(Violation::new(path, rule));
    }
}

/// Checks that no `ETag` contains a quote. The schema check has already removed surrounding quotes.
fn check_etags(arguments: &Fields, violations: &mut Vec<Violation>) {
    for (index, part) in parts(arguments).enumerate() {
        if part.get("etag").and_then(Value::as_str).is_some_and(|etag| etag.contains('"')) {
            let rule = "must be the value of the header `ETag` without quotes";
            violations.push(Violation::new(format!("parts.{index}.etag"), rule));
        }
    }
}

fn parts(arguments: &Fields) -> impl Iterator<Item = &Value> {
    arguments.get("parts").and_then(Value::as_array).into_iter().flatten()
}

/// Addresses and sizes for sending the file (supplement 10.4). With `upload_id` the upload is multipart.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct BuildUpload {
    pub build_id: String,
    /// Only for multipart uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    /// For single-part uploads: address for a PUT of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_url: Option<String>,
    pub object_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_parts: Option<u64>,
    /// Size in bytes of each part except the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part_size: Option<u64>,
    /// `multipart` or `single-part`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_type: Option<String>,
}

/// Addresses of parts (specification, GET builds/upload/parts).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct UploadPartUrls {
    pub upload_urls: Vec<PartUrl>,
}

/// Address of one part.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PartUrl {
    pub part_number: u64,
    pub url: String,
}

/// The answer to a completion (supplement 10.7). The HTTP status alone states success.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct CompletedUpload {
    /// Only for multipart uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Only for single-part uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// The answer to a cancellation (supplement 10.7).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CancelledUpload {
    pub success: bool,
}
