//! Runs: start, list, read, watch and stop (service.md 2).

use std::collections::BTreeMap;

use super::{
    prelude::*,
    run_start::{
        RunOptions, StartRunResponse, TargetDeploymentConfig, check_numbered_keys, check_options,
        cost_question,
    },
};

/// Starts a run of exactly one of: a saved test, a test plan, or free-text instructions.
///
/// Returns job ids, not run ids[[; wait for them with `tool:wait_for_completion`]].[[ One device per slot of a plan:
/// `tool:start_test_plan_run`.]]
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct StartRun {
    /// From `tool:find_by_name/list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// From `tool:find_by_name/list_test_plans`.
    pub test_plan_id: Option<Uuid>,
    /// A one-off test in words; its runs get the tag `api`.
    pub instructions: Option<String>,
    /// [[From `tool:find_by_name/list_deployment_configs`. ]]Required unless `player_deployment_configs` covers every player.
    pub deployment_config_id: Option<Uuid>,
    /// Of a one-off test; default `[api] ephemeral test`.
    pub name: Option<String>,
    /// [[From `tool:find_by_name/list_builds`. ]]Needs `argument:deployment_config_id` with builds from build storage. The reply
    /// names that of tests and plans only.
    pub build_id: Option<Uuid>,
    /// By player "1", "2", ...; needs `argument:multiplayer_test_id`. Two players on one private device are refused.
    pub player_deployment_configs: Option<BTreeMap<String, TargetDeploymentConfig>>,
    /// From `tool:find_by_name/list_agent_configs`.
    pub agent_config_id: Option<Uuid>,
    /// Tags for the runs.
    pub additional_tags: Option<Vec<String>>,
    /// 0-10 more runs of the same job after ERROR, TIMEOUT or STOPPED; default 0. Needs `argument:multiplayer_test_id`.
    #[schemars(range(min = 0, max = 10), extend("default" = 0))]
    pub retries: Option<u8>,
    /// 1-10 runs per device; default 1. Needs `argument:multiplayer_test_id`.
    #[schemars(range(min = 1, max = 10), extend("default" = 1))]
    pub instances: Option<u8>,
    /// A run on each device of a mobile `argument:deployment_config_id` with several; default false. Multiplies `instances`. Not
    /// with `player_deployment_configs`.
    pub run_on_all_configured_devices: Option<bool>,
    /// Fills templates in steps; default false.
    pub render_templates: Option<bool>,
    /// Template values by variable. Needs `render_templates`.
    pub template_data: Option<Open>,
    /// Overrides.
    pub options: Option<RunOptions>,
}

impl Operation for StartRun {
    const TOOL: ToolInfo = ToolInfo::creates("start_run", "Start a run", Toolset::Runs)
        .needs("project:operate-runs")
        .rules(&[
            Rule::ExactlyOne(&["multiplayer_test_id", "test_plan_id", "instructions"]),
            Rule::AtLeastOne(&["deployment_config_id", "player_deployment_configs"]),
            Rule::Needs("build_id", "deployment_config_id"),
            Rule::Needs("player_deployment_configs", "multiplayer_test_id"),
            Rule::Needs("retries", "multiplayer_test_id"),
            Rule::Needs("instances", "multiplayer_test_id"),
            Rule::Needs("run_on_all_configured_devices", "deployment_config_id"),
            Rule::Excludes("run_on_all_configured_devices", "player_deployment_configs"),
            Rule::Custom(|arguments, violations| {
                check_numbered_keys("player_deployment_configs", arguments, violations);
            }),
            Rule::Custom(check_options),
            Rule::Own(&Rule::Needs("name", "instructions")),
            Rule::Advice(&Rule::Needs("template_data", "render_templates")),
        ])
        .recovery_hint("check with `tool:list_jobs` before another call")
        .asks_confirmation(cost_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/runs");
    type Answer = StartRunResponse;
}

/// Name of a one-off test if the argument `name` is absent (service.md 2.1).
pub const EPHEMERAL_NAME: &str = "[api] ephemeral test";

/// Lists test runs with state and result; `newest` returns the latest ones.
///
/// Pages have no order, and no filter by date, build or result.[[ `tool:get_run` returns steps and reports.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListRuns {
    /// `running`, `completed` or `all` (default).
    pub state: Option<RunStateFilter>,
    /// From `tool:find_by_name/list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// From `tool:list_jobs/list_runs`.
    pub job_id: Option<Uuid>,
    /// From `tool:list_test_plan_executions/summarize_results`.
    pub test_plan_execution_id: Option<Uuid>,
    /// Such as verification, discovery or task.
    pub test_type: Option<String>,
    /// Runs with all of these tags.
    pub tags: Option<Vec<String>>,
    /// Only runs with bugs.
    pub bugs: Option<bool>,
    /// 1-50 newest runs. Not with `page` or `argument:page_size`.
    #[schemars(range(min = 1, max = 50))]
    pub newest: Option<u8>,
    /// Part of its name; needs `newest`.
    pub device: Option<String>,
    /// Jobs without a run instead; default false.
    #[schemars(extend("default" = false))]
    pub queued: Option<bool>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

/// Argument of `list_runs` with the number of newest runs. The service has no such argument.
pub const NEWEST: &str = "newest";

/// Argument of `list_runs` with a part of the name of a device. The service has no such argument.
pub const DEVICE: &str = "device";

/// Argument of `list_runs` for the jobs without a run, which are in another list of the service.
pub const QUEUED: &str = "queued";

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RunStateFilter {
    Running,
    Completed,
    All,
}

impl Operation for ListRuns {
    const TOOL: ToolInfo = ToolInfo::lists("list_runs", "List runs", Toolset::Runs)
        .brief("job_id,multiplayer_run_id,state,result,test.name,build.name,created_at,device,bug_info.bug_count")
        .extended_by(Extension::Newest)
        .needs("project:read-runs")
        .rules(&[
            Rule::Own(&Rule::Excludes(NEWEST, "page")),
            Rule::Own(&Rule::Excludes(NEWEST, "page_size")),
            Rule::Own(&Rule::Needs(DEVICE, NEWEST)),
            Rule::Own(&Rule::Excludes(QUEUED, "state")),
            Rule::Own(&Rule::Excludes(QUEUED, "job_id")),
            Rule::Own(&Rule::Excludes(QUEUED, "test_type")),
            Rule::Own(&Rule::Excludes(QUEUED, "bugs")),
        ])
        .records(RecordKeys { id: "multiplayer_run_id", times: &["created_at"], name: "test.name" });
    const REQUEST: RequestInfo =
        RequestInfo::new(Method::GET, "/runs").own_arguments(&[NEWEST, DEVICE, QUEUED]);
    type Answer = ListPage<Run>;
}

/// Returns one test run in full: result, players, steps with reports and expected results, artifacts.
///
/// `player_number` starts at 1.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetRun {
    /// Not a job or player id[[; from `tool:list_runs`]].
    pub run_id: Id,
}

impl Operation for GetRun {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_run", "Get a run", Toolset::Runs).needs("project:read-runs").with_view();
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/runs/{run_id}");
    type Answer = RunDetail;
}

/// Returns the current state of each player of a run: step, game state and a screenshot as an image.
///
/// `player_number` starts at 0.[[ For results and reports use `tool:get_run`.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetLiveRun {
    /// Not a job or player id[[; from `tool:list_runs`]].
    pub run_id: Id,
    /// Default true. Images cost many tokens.
    pub include_screenshot: Option<bool>,
}

impl Operation for GetLiveRun {
    const TOOL: ToolInfo = ToolInfo::reads("get_live_run", "Get the live state of a run", Toolset::Runs)
        .with_pictures()
        .extra()
        .needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/runs/{run_id}/live")
        .with_pictures(Pictures { list: "players", field: "screenshot" });
    type Answer = LiveRun;
}

/// Stops queued or running jobs and their runs immediately.
///
/// It is not stated whether remaining retries are dropped.[[ `tool:get_job` shows what still runs.]]
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StopRuns {
    /// 1 or more job ids, not run ids[[; from `tool:list_jobs/list_runs`]].
    #[schemars(length(min = 1))]
    pub job_ids: Vec<Uuid>,
}

impl Operation for StopRuns {
    const TOOL: ToolInfo = ToolInfo::stops("stop_runs", "Stop the runs of jobs", Toolset::Runs)
        .needs("project:operate-runs")
        .recovery_hint("check with `tool:get_job` before another call")
        .asks_confirmation(stop_question);
    const REQUEST: RequestInfo = RequestInfo::new(Method::POST, "/runs/stop");
    type Answer = StopRunsResponse;
}

/// Returns the confirmation question: a stopped run cannot be continued, and may be that of a colleague.
fn stop_question(arguments: &Fields) -> Option<String> {
    let jobs: Vec<_> = arguments.get("job_ids")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let named: Vec<_> = jobs.iter().take(3).map(|id| format!("`{id}`")).collect();
    let more = jobs.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let noun = if jobs.len() == 1 { "job" } else { "jobs" };

    Some(format!("stops {} {noun}: {}{more}", jobs.len(), named.join(", ")))
}

// service.md 2.2
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Run {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayer>,
    // Added by this program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// The fields that both forms of a run have.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunHead {
    pub job_id: String,
    pub multiplayer_run_id: String,
    pub project_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    /// `SUCCESS`, `FAILED`, `SKIPPED`, `BLOCKED`, `TIMEOUT`, `ERROR`, `STOPPED`, `MAX_STEPS`; null until completed.
    pub result: Option<String>,
    pub bug_info: Option<BugInfo>,
    pub test: TestRef,
    pub build: Option<BuildRef>,
    pub created_at: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub duration_ms: Option<f64>,
    pub initiator: Option<Initiator>,
    pub tags: Vec<String>,
}

/// A run, detail form (service.md 2.4).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunDetail {
    #[serde(flatten)]
    pub head: RunHead,
    pub players: Vec<RunPlayerDetail>,
    pub templating_enabled: bool,
    /// Null if templating is off.
    pub template_data: Option<Open>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BugInfo {
    pub bug_label: String,
    pub bug_count: Option<usize>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct TestRef {
    pub id: String,
    pub name: String,
    pub r#type: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BuildRef {
    pub id: String,
    pub name: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Initiator {
    pub r#type: String,
    pub value: Open,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunPlayer {
    /// Id of the player, `<run>-<player>`.
    pub id: String,
    pub state: String,
    pub result: Option<String>,
    /// Starts at 1.
    pub player_number: Option<usize>,
    pub test_name: Option<String>,
    pub composite_test_id: Option<String>,
    pub step_count: Option<usize>,
    pub completed_step_count: Option<usize>,
    pub step_result_summary: Option<Open>,
    #[schemars(extend("type" = ["object", "string", "null"]))]
    pub platform: Option<Open>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunPlayerDetail {
    #[serde(flatten)]
    pub player: RunPlayer,
    // An entry without a name is `None`, so that it is counted.
    pub artifacts: Option<Vec<Option<RunArtifactRef>>>,
    pub steps: Vec<RunStep>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct RunArtifactRef {
    pub filename: String,
    #[serde(default)]
    pub url: String,
    /// Size in bytes.
    pub size: Option<u64>,
    #[serde(default)]
    pub uploaded_at: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunStep {
    pub step_number: Option<usize>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub duration_ms: Option<f64>,
    pub run_state: String,
    pub run_result: Option<String>,
    pub report: Option<String>,
    pub items: Option<Vec<RunStepItem>>,
    pub test: RunStepTest,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunStepItem {
    pub id: String,
    pub expected: String,
    /// `passed`, `failed`, `skipped`, `blocked`, `stopped`, `timeout`, `error` or `pending`.
    pub status: String,
    pub comment: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RunStepTest {
    pub test_step_id: String,
    pub goal: Option<String>,
    pub finish_condition: Option<String>,
    pub test_type: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct LiveRun {
    pub multiplayer_run_id: String,
    /// `initializing`, `running` or `completed`, in either letter case.
    pub state: String,
    pub test: Option<LiveTest>,
    pub players: Vec<LivePlayer>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct LiveTest {
    pub id: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct LivePlayer {
    /// Starts at 0 here, and at 1 in other answers.
    pub player_number: usize,
    /// Id of the player, `<run>-<player>`, with players numbered from 1.
    pub composite_run_id: String,
    pub current_run_id: Option<String>,
    pub current_step: Option<Value>,
    pub game_state: Option<Open>,
    /// Callers receive `image` (its position among the images of the reply), `width` and `height`, or why it is `omitted`.
    #[schemars(with = "Option<Open>")]
    pub screenshot: Option<Screenshot>,
    /// The latest turn of the agent: `agent`, `step`, `save_data` and `start_time`.
    pub last_agent_step: Option<Open>,
}

/// A screenshot in the form that the service returns.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Screenshot {
    /// Base64 text.
    pub data: String,
    #[serde(rename = "mimeType")]
    pub mime_type: String,
    pub encoding: String,
}

/// Result of stopping jobs (service.md 2.6).
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StopRunsResponse {
    /// True only when every job was stopped.
    pub ok: bool,
    pub message: Option<String>,
    pub received_count: usize,
    pub stopped_count: usize,
    pub results: Vec<StopResult>,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StopResult {
    pub job_id: String,
    pub ok: bool,
    pub status: u16,
    pub message: Option<String>,
    pub error: Option<String>,
}
