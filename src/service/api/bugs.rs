//! Bugs of a run, and bugs that a user has reviewed (service.md 2.5, 9).

use super::prelude::*;

/// Lists the bugs detected in one run, reviewed or not.
///
/// `bug_id` identifies a bug across runs. `player_number` starts at 0.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListRunBugs {
    /// From `tool:list_runs`.
    pub run_id: Id,
}

impl Operation for ListRunBugs {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_run_bugs", "List the bugs of a run", Toolset::Bugs).needs("project:read-runs");
    // The answer is one page, and the operation has no paging arguments (service.md 1.3).
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/runs/{run_id}/bugs");
    type Answer = RunBugPage;
}

/// Lists the bugs that a person has confirmed.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListBugs {
    /// `active` (default), `archived` or `all`.
    pub status: Option<BugStatusFilter>,
    /// In title, description or reproduction steps.
    pub search: Option<String>,
    /// `low`, `medium`, `high` or `critical`; default: all.
    pub severity: Option<Severity>,
    /// Such as ui, gameplay or crash.
    pub category: Option<String>,
    /// Such as `created_at`, `severity` or `occurrence_count`.
    pub sort_by: Option<String>,
    /// Direction of `sort_by`.
    pub sort_order: Option<SortOrder>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

/// What still works in a project without the feature `bug_review` (service.md 9).
const ONE_RUN: &str = "`tool:list_run_bugs` returns the bugs of one run without this feature";

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum BugStatusFilter {
    Active,
    Archived,
    All,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Operation for ListBugs {
    const TOOL: ToolInfo = ToolInfo::lists("list_bugs", "List reviewed bugs", Toolset::Bugs)
        .brief("id,title,severity,category,status,occurrence_count,created_at")
        .extended_by(Extension::NewestOccurrence)
        .needs_feature(ONE_RUN)
        .needs("project:read-runs")
        .records(RecordKeys { id: "id", times: &["created_at"], name: "title" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/bugs");
    type Answer = ListPage<Bug>;
}

/// Returns one reviewed bug with every occurrence: run, player, step and turn.
///
/// `player_index` starts at 0.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetBug {
    /// From `tool:list_bugs|list_run_bugs`.
    pub bug_id: Id,
}

impl Operation for GetBug {
    const TOOL: ToolInfo = ToolInfo::reads("get_bug", "Get a reviewed bug", Toolset::Bugs)
        .needs_feature(ONE_RUN)
        .needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/bugs/{bug_id}");
    type Answer = BugDetail;
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunBugPage {
    #[serde(flatten)]
    pub page: ListPage<RunBug>,
    // service.md 1.7
    /// Deprecated form of `data`.
    pub bug_occurrences: Option<Vec<Open>>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunBug {
    pub id: String,
    pub bug_id: String,
    pub title: String,
    pub description: Option<String>,
    pub category: String,
    pub severity: String,
    pub confidence: String,
    pub reproduction_steps: Option<String>,
    /// Starts at 0.
    #[schemars(with = "usize")]
    pub player_number: Option<usize>,
    #[schemars(with = "usize")]
    pub test_step: Option<usize>,
    pub turn: usize,
    pub detected_at: String,
    #[schemars(with = "Option<Open>")]
    pub details: Option<RunBugDetails>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunBugDetails {
    pub screenshot_url: Option<String>,
    #[serde(flatten)]
    pub more: Open,
}

// service.md 9
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Bug {
    pub id: String,
    pub project_id: String,
    pub title: String,
    pub description: String,
    pub reproduction_steps: String,
    pub severity: String,
    pub category: String,
    pub confidence: String,
    pub tags: Vec<String>,
    pub details: Option<Open>,
    /// `active` or `archived`.
    pub status: String,
    pub suppress_reporting: bool,
    pub occurrence_count: usize,
    pub created_at: String,
    pub created_by: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BugDetail {
    #[serde(flatten)]
    pub bug: Bug,
    pub occurrences: Vec<BugOccurrence>,
}

// service.md 9.2
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BugOccurrence {
    pub id: String,
    pub multiplayer_run_id: String,
    /// Starts at 0.
    pub player_index: usize,
    pub test_step: usize,
    pub turn: usize,
    pub detected_at: String,
    pub reviewed_at: Option<String>,
    pub reviewed_by: Option<String>,
    pub review_comment: Option<String>,
    pub title: String,
    pub test_name: Option<String>,
    pub test_version: Option<u32>,
    pub test_plan_name: Option<String>,
    pub severity: String,
    pub category: String,
}
