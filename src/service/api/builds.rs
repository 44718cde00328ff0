//! Builds in build storage (supplement 10).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ListPage, Open, Page, PageSize, Uuid};
use crate::{
    fields::Fields,
    service::{
        operation::{Operation, RequestInfo},
        tool::{ToolInfo, Toolset},
    },
};

/// Lists the uploaded builds of the app: the `build_id` of a start.
///
/// A build can be started whatever its `status` says.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListBuilds {
    /// Such as `OK`, `UNHEALTHY` or `ready`.
    pub status: Option<String>,
    pub pinned: Option<bool>,
    /// Whether the service's SDK is in the build.
    pub sdk: Option<bool>,
    /// Such as `android` or `ios-native`.
    #[schemars(extend("x-short" = true))]
    pub platform: Option<BuildPlatform>,
    /// All must match.
    pub tags: Option<Vec<String>>,
    pub page: Option<Page>,
    pub page_size: Option<PageSize<20>>,
}

// Supplement 10.4. No doc comment: a model would pay for it.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum BuildPlatform {
    Windows,
    Macos,
    Linux,
    Android,
    IosNative,
    IosSimulator,
    Xbox,
    Playstation,
}

impl Operation for ListBuilds {
    const TOOL: ToolInfo = ToolInfo::reads("list_builds", "List builds", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/builds");
    type Answer = ListPage<Build>;
}

/// Shows one build and where it comes from: commit, branch, CI job, app version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBuild {
    /// From `list_builds` or a run.
    pub build_id: Uuid,
}

impl Operation for GetBuild {
    const TOOL: ToolInfo = ToolInfo::reads("get_build", "Get a build", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage");
    const REQUEST: RequestInfo = RequestInfo::get("/builds/{build_id}");
    type Answer = BuildDetail;
}

/// Deletes a build and its file for good.
///
/// A person has to agree. Runs that used it stay.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteBuild {
    /// From `list_builds`.
    pub build_id: Uuid,
}

impl Operation for DeleteBuild {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_build", "Delete a build", Toolset::Builds)
        .core()
        .needs("project:manage-build-storage")
        .recovery_hint("look with `get_build`: `not_found` means that it is gone")
        .asks_confirmation(for_good);
    const REQUEST: RequestInfo = RequestInfo::delete("/builds/{build_id}");
    type Answer = DeletedBuild;
}

/// Nothing brings a build back (supplement 10.3).
fn for_good(arguments: &Fields) -> Option<String> {
    let build = arguments.get("build_id").and_then(Value::as_str)?;
    Some(format!("deletes the build `{build}` and its file for good"))
}

/// The answer to a deletion.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeletedBuild {
    pub message: String,
}

/// A build, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Build {
    pub id: String,
    pub name: String,
    pub platform: String,
    pub file_name: String,
    /// Open set: `OK`, `UNHEALTHY`, `uploading`, `ready`, `failed`, ...
    pub status: String,
    /// Bytes.
    pub file_size: u64,
    /// Protected from automatic deletion.
    pub pinned: bool,
    /// The service's SDK is in the build.
    pub sdk: bool,
    pub tags: Vec<String>,
    pub created_at: String,
    pub last_used: Option<String>,
    pub description: Option<String>,
}

/// A build, detail form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BuildDetail {
    #[serde(flatten)]
    pub build: Build,
    /// Parts `vcs`, `ci`, `app`, `build`, `upload`, each optional.
    pub details: Option<Open>,
}
