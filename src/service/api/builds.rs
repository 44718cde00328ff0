//! Builds in build storage (service.md 10).

use super::prelude::*;

/// Lists the uploaded builds. A build can be started with any `status`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListBuilds {
    /// Such as OK, UNHEALTHY or ready.
    pub status: Option<String>,
    /// Never deleted automatically.
    pub pinned: Option<bool>,
    /// With the service SDK.
    pub sdk: Option<bool>,
    /// Default: all.
    pub platform: Option<BuildPlatform>,
    /// Builds with all of these tags.
    pub tags: Option<Vec<String>>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

// The platforms of builds (service.md 10.4).
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
    const TOOL: ToolInfo = ToolInfo::lists("list_builds", "List builds", Toolset::Builds)
        .brief("id,name,platform,status,pinned,tags,created_at")
        .access_hint("a start works with a known `argument:build_id`, or without: the service then chooses")
        .needs("project:manage-build-storage")
        .records(RecordKeys { id: "id", times: &["created_at"], name: "name" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/builds");
    type Answer = ListPage<Build>;
}

/// Returns one build and its origin: commit, branch, CI job, app version.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBuild {
    /// From `tool:find_by_name/list_builds`.
    pub build_id: Uuid,
}

impl Operation for GetBuild {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_build", "Get a build", Toolset::Builds).needs("project:manage-build-storage");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/builds/{build_id}");
    type Answer = BuildDetail;
}

/// Deletes a build and its file permanently. Its runs are kept.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct DeleteBuild {
    /// From `tool:find_by_name/list_builds`.
    pub build_id: Uuid,
}

impl Operation for DeleteBuild {
    const TOOL: ToolInfo = ToolInfo::deletes("delete_build", "Delete a build", Toolset::Builds)
        .needs("project:manage-build-storage")
        .recovery_hint("call `tool:get_build`: `not_found` means that the build is deleted")
        .asks_confirmation(deletion_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::DELETE, "/builds/{build_id}");
    type Answer = DeletedBuild;
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DeletedBuild {
    pub message: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Build {
    pub id: String,
    pub name: String,
    pub platform: String,
    pub file_name: String,
    /// For example `OK`, `UNHEALTHY`, `uploading`, `ready` or `failed`. Other values are possible.
    pub status: String,
    /// Size in bytes.
    pub file_size: u64,
    pub pinned: bool,
    pub sdk: bool,
    pub tags: Vec<String>,
    pub created_at: String,
    pub last_used: Option<String>,
    pub description: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BuildDetail {
    #[serde(flatten)]
    pub build: Build,
    /// Objects `vcs`, `ci`, `app`, `build` and `upload`, each optional.
    pub details: Option<Open>,
}

impl BuildDetail {
    pub fn app_version(&self) -> Option<&str> {
        self.details.as_ref()?.get("app")?.get("version")?.as_str()
    }
}
