//! Runs: start, list, read, watch and stop (specification, POST runs; supplement 2).
#![expect(missing_docs, reason = "the names are those of the contract")]

mod live_record;
mod record;
mod stop_result;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use live_record::{AgentStep, LivePlayer, LiveRun, LiveTest, Screenshot};
pub use record::{
    BugInfo, BuildRef, Initiator, Run, RunArtifactRef, RunDetail, RunHead, RunPlayer, RunPlayerDetail,
    RunStep, RunStepItem, RunStepTest, TestRef,
};
pub use stop_result::{StopResult, StopRunsResponse};

use crate::service::{
    api::{
        Id, ListPage, Open, PageNumber, PageSize, Uuid,
        jobs::ListJobs,
        run_start::{
            EXECUTIONS, ON_ALL_DEVICES, RunOptions, StartRunResponse, TargetDeploymentConfig, WAIT,
            all_devices_question, check_numbered_keys, check_options,
        },
    },
    operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Pictures, Probe, RequestInfo},
    rule::Rule,
    tool::{Column, ToolInfo, Toolset},
};

/// Starts a run of exactly one of: a saved test, a test plan, or free-text instructions.
///
/// Returns job ids, not run ids; wait for them with `wait_for_completion`. One device per slot of a plan:
/// `start_test_plan_run`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StartRun {
    /// From `list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// From `list_test_plans`.
    pub test_plan_id: Option<Uuid>,
    /// Task of a one-off test.
    pub instructions: Option<String>,
    /// From `list_deployment_configs`. Required unless `player_deployment_configs` covers every player.
    pub deployment_config_id: Option<Uuid>,
    /// Default `[api] ephemeral test`. Needs `instructions`.
    pub name: Option<String>,
    /// From `list_builds`. Default: the service chooses; the reply names it. Needs a device with `providerType` `build-storage`.
    pub build_id: Option<Uuid>,
    /// `{deployment_config_id, build_id}` by player "1", "2" and so on. Needs `multiplayer_test_id`. One player per private device.
    pub player_deployment_configs: Option<BTreeMap<String, TargetDeploymentConfig>>,
    /// From `list_agent_configs`.
    pub agent_config_id: Option<Uuid>,
    /// Tags for the runs.
    pub additional_tags: Option<Vec<String>>,
    /// 0-10; default 0. Needs `multiplayer_test_id`. Only after ERROR, TIMEOUT or STOPPED.
    #[schemars(range(min = 0, max = 10), extend("default" = 0))]
    pub retries: Option<u8>,
    /// Runs, 1-10; default 1. Needs `multiplayer_test_id`.
    #[schemars(range(min = 1, max = 10), extend("default" = 1))]
    pub instances: Option<u8>,
    /// One run per device of a mobile config; default false. Not with `player_deployment_configs`.
    #[schemars(extend("default" = false))]
    pub run_on_all_configured_devices: Option<bool>,
    /// Fills templates in steps; default false.
    #[schemars(extend("default" = false))]
    pub render_templates: Option<bool>,
    /// Template values; needs `render_templates: true`.
    pub template_data: Option<Open>,
    /// `performance_monitoring`, `mobile_auto_grant_permissions`, `mobile_geolocation` (city or country), `mobile_gpslocation` (`auto` or `{lat, long}`).
    pub options: Option<RunOptions>,
}

impl Operation for StartRun {
    const TOOL: ToolInfo = ToolInfo::creates("start_run", "Start a run", Toolset::Runs)
        .core()
        .needs("project:operate-runs")
        .rules(&[
            Rule::ExactlyOne(&["multiplayer_test_id", "test_plan_id", "instructions"]),
            Rule::AtLeastOne(&["deployment_config_id", "player_deployment_configs"]),
            Rule::Needs("build_id", "deployment_config_id"),
            Rule::Needs("player_deployment_configs", "multiplayer_test_id"),
            Rule::Needs("retries", "multiplayer_test_id"),
            Rule::Needs("instances", "multiplayer_test_id"),
            ON_ALL_DEVICES,
            Rule::WhenTrue(
                "run_on_all_configured_devices",
                &[Rule::Excludes("run_on_all_configured_devices", "player_deployment_configs")],
            ),
            Rule::Custom(|arguments, violations| {
                check_numbered_keys("player_deployment_configs", arguments, violations);
            }),
            Rule::Custom(check_options),
        ])
        // The service accepts these arguments in every call and ignores them.
        .own_rules(&[
            Rule::Needs("name", "instructions"),
            Rule::NeedsTrue("template_data", "render_templates"),
        ])
        .recovery_hint("check with `list_jobs` before another call")
        .asks_confirmation(all_devices_question);
    const REQUEST: RequestInfo = RequestInfo::post("/runs").duplicate_checks(&[
        // The first check that applies counts. The last one is that of `instructions`.
        DuplicateCheck { when_given: Some("test_plan_id"), ..EXECUTIONS },
        DuplicateCheck {
            when_given: Some("multiplayer_test_id"),
            probe: Probe::List(ListProbe {
                filters: &["multiplayer_test_id"],
                matches: &[
                    FieldMatch::new("build_id", "build_id"),
                    FieldMatch::new("tags", "additional_tags"),
                ],
                ..JOBS
            }),
            advice: WAIT,
        },
        DuplicateCheck {
            // The id of a one-off test is generated by the start, so that the name identifies the test.
            when_given: None,
            probe: Probe::List(ListProbe {
                matches: &[
                    FieldMatch::new("test_name", "name").or_default(EPHEMERAL_NAME),
                    FieldMatch::new("tags", "additional_tags"),
                ],
                ..JOBS
            }),
            advice: WAIT,
        },
    ]);
    type Answer = StartRunResponse;
}

/// Name of a one-off test if the argument `name` is absent (specification, POST runs).
pub const EPHEMERAL_NAME: &str = "[api] ephemeral test";

/// Search for the jobs of a start. The list cannot be sorted (supplement 3.1).
const JOBS: ListProbe = ListProbe {
    list: ListJobs::NAME,
    filters: &[],
    newest_first: &[],
    matches: &[],
    created_at: Some("created_at"),
    shown_fields: &["job_id", "test_name", "status", "created_at"],
};

/// Lists test runs with their state and result; `newest` returns the latest ones.
///
/// Pages are unordered and cannot be filtered by date, build or result. `get_run` returns steps and reports.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListRuns {
    /// Default all.
    #[schemars(extend("default" = "all"))]
    pub state: Option<RunStateFilter>,
    /// From `list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// From `start_run` or `list_jobs`.
    pub job_id: Option<Uuid>,
    /// From `list_test_plan_executions`.
    pub test_plan_execution_id: Option<Uuid>,
    /// Such as verification, discovery or task.
    pub test_type: Option<String>,
    /// Runs with all of these tags.
    pub tags: Option<Vec<String>>,
    /// Only runs with bugs.
    pub bugs: Option<bool>,
    /// 1-50 newest runs, sorted by `created_at`. Not with `page` or `page_size`.
    #[schemars(range(min = 1, max = 50))]
    pub newest: Option<u8>,
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<20>>,
}

/// Argument of `list_runs` with the number of newest runs. The service has no such argument.
pub const NEWEST: &str = "newest";

/// Filter by the state of a run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RunStateFilter {
    Running,
    Completed,
    All,
}

impl Operation for ListRuns {
    const TOOL: ToolInfo = ToolInfo::reads("list_runs", "List runs", Toolset::Runs)
        .core()
        .needs("project:read-runs")
        .own_rules(&[Rule::Excludes(NEWEST, "page"), Rule::Excludes(NEWEST, "page_size")])
        .columns(&[
            Column::verdict(&["result", "state"]),
            Column::text("test", &["test.name"]),
            Column::text("device", &["players.0.platform.config.device.name", "players.0.platform.kind"]),
            Column::text("build", &["build.name"]),
            Column::time("started", &["created_at"]),
            Column::id("run", &["multiplayer_run_id"]),
        ])
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/runs").own_arguments(&[NEWEST]);
    type Answer = ListPage<Run>;
}

/// Returns one test run in full: result, players, steps with reports and expected results, artifacts.
///
/// `player_number` starts at 1.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetRun {
    /// From `list_runs`; not a job or player id.
    pub run_id: Id,
}

impl Operation for GetRun {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_run", "Get a run", Toolset::Runs).core().needs("project:read-runs").with_view();
    const REQUEST: RequestInfo = RequestInfo::get("/runs/{run_id}");
    type Answer = RunDetail;
}

/// Returns the current state of each player of a run: step, game state and a screenshot as an image.
///
/// `player_number` starts at 0. For results and reports use `get_run`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetLiveRun {
    /// From `list_runs`; not a job or player id.
    pub run_id: Id,
    /// Default true. Images cost many tokens.
    #[schemars(extend("default" = true))]
    pub include_screenshot: Option<bool>,
}

impl Operation for GetLiveRun {
    const TOOL: ToolInfo = ToolInfo::reads("get_live_run", "Get the live state of a run", Toolset::Runs)
        .needs("project:read-runs");
    const REQUEST: RequestInfo = RequestInfo::get("/runs/{run_id}/live")
        .with_pictures(Pictures { list: "players", field: "screenshot" });
    type Answer = LiveRun;
}

/// Stops queued or running jobs and their runs immediately.
///
/// A stopped job is not retried. `Job already completed`: the job had ended.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StopRuns {
    /// 1 or more; from `start_run` or `list_jobs`. Not run ids.
    #[schemars(length(min = 1))]
    pub job_ids: Vec<Uuid>,
}

impl Operation for StopRuns {
    const TOOL: ToolInfo = ToolInfo::stops("stop_runs", "Stop the runs of jobs", Toolset::Runs)
        .core()
        .needs("project:operate-runs")
        .recovery_hint("check with `get_job` before another call");
    const REQUEST: RequestInfo = RequestInfo::post("/runs/stop");
    type Answer = StopRunsResponse;
}
