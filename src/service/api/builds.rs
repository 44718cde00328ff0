//! Builds in build storage (supplement 10).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ListPage, Open, Page, PageSize, Uuid};
use crate::{
    fields::Fields,
    service::operation::{Access, Effect, Operation, Tier, Toolset},
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
    const NAME: &'static str = "list_builds";
    const TITLE: &'static str = "List builds";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/builds";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Builds;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::Permission("project:manage-build-storage");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<Build>;
}

/// Shows one build and where it comes from: commit, branch, CI job, app version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBuild {
    /// From `list_builds` or a run.
    pub build_id: Uuid,
}

impl Operation for GetBuild {
    const NAME: &'static str = "get_build";
    const TITLE: &'static str = "Get a build";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/builds/{build_id}";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Builds;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::Permission("project:manage-build-storage");
    type Output = BuildDetail;
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
    const NAME: &'static str = "delete_build";
    const TITLE: &'static str = "Delete a build";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/builds/{build_id}";
    const EFFECT: Effect = Effect::Deletes;
    const TOOLSET: Toolset = Toolset::Builds;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::Permission("project:manage-build-storage");
    const IN_DOUBT: Option<&'static str> = Some("look with `get_build`: `not_found` means that it is gone");
    const CONFIRM: Option<fn(&Fields) -> Option<String>> = Some(for_good);
    type Output = DeletedBuild;
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
