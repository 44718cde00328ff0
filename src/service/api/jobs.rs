//! Jobs, which a start creates. Each attempt of a job is a run (service.md 3).

use super::prelude::*;

/// Lists jobs with their runs, one per attempt.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListJobs {
    /// `queued`, `running`, `completed` or `all` (default).
    pub status: Option<JobStatusFilter>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Uuid>,
    /// From `tool:find_by_name/list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// Jobs with all of these tags.
    pub tags: Option<Vec<String>>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum JobStatusFilter {
    Queued,
    Running,
    Completed,
    All,
}

impl Operation for ListJobs {
    const TOOL: ToolInfo = ToolInfo::lists("list_jobs", "List jobs", Toolset::Runs)
        .brief("job_id,status,created_at,test_name,platform,queue_rejection_reason,runs.multiplayer_run_id,runs.result")
        .needs("project:read-runs")
        .records(RecordKeys { id: "job_id", times: &["created_at"], name: "test_name" });
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/jobs");
    type Answer = ListPage<Job>;
}

/// Returns one job: its status and its runs, one per attempt.
///
/// The run with the latest `started_at` decides the result. Without runs, see `queue_rejection_reason`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetJob {
    /// From `tool:list_jobs/list_runs`.
    pub job_id: Uuid,
}

impl Operation for GetJob {
    const TOOL: ToolInfo = ToolInfo::reads("get_job", "Get a job", Toolset::Runs).needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/jobs/{job_id}");
    type Answer = Job;
}

// service.md 3.2
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Job {
    pub job_id: String,
    pub project_id: String,
    /// `QUEUED`, `STARTING`, `RUNNING`, `STOPPING`, `CLEANING_UP` or `COMPLETED`, in either letter case.
    pub status: String,
    pub created_at: String,
    pub completed_at: Option<String>,
    pub multiplayer_test_id: Option<String>,
    pub test_name: Option<String>,
    pub platform: Option<String>,
    pub build_id: Option<String>,
    pub test_plan_execution_id: Option<String>,
    pub queue_rejection_reason: Option<String>,
    pub templating_enabled: bool,
    pub template_data: Option<Open>,
    pub stopped_by: Option<Open>,
    pub tags: Vec<String>,
    pub retries: Option<Retries>,
    pub runs: Vec<JobRun>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Retries {
    pub total: u8,
    pub remaining: u8,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct JobRun {
    pub multiplayer_run_id: String,
    pub state: Option<String>,
    pub result: Option<String>,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    /// Number of players.
    pub players: Option<usize>,
}
