//! Starting runs: of a saved test, a test plan or one-off instructions (specification, POST runs; supplement 2.1, 4.6).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Open, Uuid, executions::ListTestPlanExecutions, jobs::ListJobs};
use crate::{
    fields::Fields,
    service::{
        operation::{DuplicateCheck, FieldMatch, ListProbe, Operation, Probe, RequestInfo},
        rule::Rule,
        schema::OR_TYPE,
        tool::{ToolInfo, Toolset},
    },
    violation::Violation,
};

/// Starts a run of exactly one of: a saved test, a test plan, or free-text instructions.
///
/// Returns job ids, not run ids: pass them to `wait_for_completion`. For one deployment config per slot of a plan use
/// `start_test_plan_run`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StartRun {
    /// From `list_tests`.
    pub multiplayer_test_id: Option<Uuid>,
    /// From `list_test_plans`.
    pub test_plan_id: Option<Uuid>,
    /// Task of a one-off test, as free text.
    pub instructions: Option<String>,
    /// From `list_deployment_configs`. Required unless `player_deployment_configs` covers every player.
    pub deployment_config_id: Option<Uuid>,
    /// Needs `instructions`; default `[api] ephemeral test`.
    pub name: Option<String>,
    /// From `list_builds`. Needs a `deployment_config_id` with `providerType` `build-storage`.
    pub build_id: Option<Uuid>,
    /// `{deployment_config_id, build_id?}` by player "1", "2", ... Needs `multiplayer_test_id`. One player per private device.
    #[schemars(extend("x-short" = true))]
    pub player_deployment_configs: Option<BTreeMap<String, TargetDeploymentConfig>>,
    pub agent_config_id: Option<Uuid>,
    pub additional_tags: Option<Vec<String>>,
    /// 0-10, default 0. Needs `multiplayer_test_id`. Retries follow ERROR, TIMEOUT or STOPPED only.
    #[schemars(range(min = 0, max = 10), extend("default" = 0))]
    pub retries: Option<u8>,
    /// Number of runs to start, 1-10, default 1. Needs `multiplayer_test_id`.
    #[schemars(range(min = 1, max = 10), extend("default" = 1))]
    pub instances: Option<u8>,
    /// Start one run per device of a mobile config; default false. Excludes `player_deployment_configs`.
    pub run_on_all_configured_devices: Option<bool>,
    /// Default false.
    pub render_templates: Option<bool>,
    /// Needs `render_templates: true`.
    pub template_data: Option<Open>,
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
        .own_rules(&[
            Rule::Needs("name", "instructions"),
            Rule::NeedsTrue("template_data", "render_templates"),
        ])
        .recovery_hint("check with `list_jobs` before another call")
        .asks_confirmation(all_devices_question);
    const REQUEST: RequestInfo = RequestInfo::post("/runs").duplicate_checks(&[
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

/// Starts a test plan with one deployment config per slot (cross-platform plans).
///
/// Returns one job id per test and a `test_plan_execution_id`. The plan defines the retries.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct StartTestPlanRun {
    /// From `list_test_plans`. `get_test_plan` returns the slots of the plan.
    pub test_plan_id: Uuid,
    /// Config of the default slot (1). Required unless `slot_deployment_configs` is given.
    pub deployment_config_id: Option<Uuid>,
    /// As in `start_run`.
    pub build_id: Option<Uuid>,
    /// `{deployment_config_id, build_id?}` by slot "2", "3", ..., for every used slot. "1" excludes `deployment_config_id`.
    #[schemars(extend("x-short" = true))]
    pub slot_deployment_configs: Option<BTreeMap<String, TargetDeploymentConfig>>,
    pub agent_config_id: Option<Uuid>,
    pub additional_tags: Option<Vec<String>>,
    /// Default false.
    pub render_templates: Option<bool>,
    /// Needs `render_templates: true`.
    pub template_data: Option<Open>,
    /// As in `start_run`.
    #[schemars(extend("x-short" = true))]
    pub options: Option<RunOptions>,
    /// Default false; as in `start_run`. Excludes `slot_deployment_configs`.
    pub run_on_all_configured_devices: Option<bool>,
}

impl Operation for StartTestPlanRun {
    const TOOL: ToolInfo =
        ToolInfo::creates("start_test_plan_run", "Start a test plan with slot configs", Toolset::Plans)
            .core()
            .needs("project:operate-runs")
            .rules(&[
                Rule::AtLeastOne(&["deployment_config_id", "slot_deployment_configs"]),
                Rule::Needs("build_id", "deployment_config_id"),
                ON_ALL_DEVICES,
                Rule::WhenTrue(
                    "run_on_all_configured_devices",
                    &[Rule::Excludes("run_on_all_configured_devices", "slot_deployment_configs")],
                ),
                Rule::Custom(check_slots),
                Rule::Custom(check_options),
            ])
            .own_rules(&[Rule::NeedsTrue("template_data", "render_templates")])
            .recovery_hint("check with `list_test_plan_executions` before another call")
            .asks_confirmation(all_devices_question);
    const REQUEST: RequestInfo =
        RequestInfo::post("/test-plans/{test_plan_id}/runs").duplicate_checks(&[EXECUTIONS]);
    type Answer = StartRunResponse;
}

/// Name of a one-off test if the argument `name` is absent (specification, POST runs).
const EPHEMERAL_NAME: &str = "[api] ephemeral test";

/// Advice for a run that an earlier call has started.
const WAIT: &str = "wait for the existing run with `wait_for_completion`";

/// Search for the jobs of a start.
const JOBS: ListProbe = ListProbe {
    list: ListJobs::NAME,
    filters: &[],
    newest_first: &[],
    matches: &[],
    created_at: Some("created_at"),
    shown_fields: &["job_id", "test_name", "status", "created_at"],
};

/// Search for the execution that the start of a plan creates.
const EXECUTIONS: DuplicateCheck = DuplicateCheck {
    when_given: None,
    probe: Probe::List(ListProbe {
        list: ListTestPlanExecutions::NAME,
        filters: &["test_plan_id"],
        newest_first: &[("sort_by", "start_time"), ("sort_order", "desc")],
        matches: &[FieldMatch::new("build_id", "build_id")],
        created_at: Some("started_at"),
        shown_fields: &["id", "test_plan_name", "status", "started_at"],
    }),
    advice: WAIT,
};

/// A start on all devices needs the deployment config that has the devices.
const ON_ALL_DEVICES: Rule = Rule::WhenTrue(
    "run_on_all_configured_devices",
    &[Rule::Needs("run_on_all_configured_devices", "deployment_config_id")],
);

/// Returns the confirmation question for a start on all devices, which starts and bills one run per device.
fn all_devices_question(arguments: &Fields) -> Option<String> {
    if arguments.get("run_on_all_configured_devices") != Some(&Value::Bool(true)) {
        return None;
    }

    let config = arguments.get("deployment_config_id").and_then(Value::as_str).unwrap_or_default();
    let times = match arguments.get("instances").and_then(Value::as_u64) {
        Some(instances) if instances > 1 => format!(", {instances} times"),
        _ => String::new(),
    };

    Some(format!("starts one run on every device of the deployment config `{config}`{times}; each is billed"))
}

/// Checks that the keys of a config map are numbers from 1. An empty map counts as no config.
fn check_numbered_keys(name: &str, arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(Value::Object(configs)) = arguments.get(name) else { return };
    if configs.is_empty() && !arguments.contains_key("deployment_config_id") {
        violations.push(Violation::new(name, "must not be empty"));
    }

    for key in configs.keys() {
        if key.is_empty() || key.starts_with('0') || !key.bytes().all(|byte| byte.is_ascii_digit()) {
            violations
                .push(Violation::new(format!("{name}.{key}"), "must be keyed by number: \"1\", \"2\", ..."));
        }
    }
}

fn check_slots(arguments: &Fields, violations: &mut Vec<Violation>) {
    const SLOTS: &str = "slot_deployment_configs";

    check_numbered_keys(SLOTS, arguments, violations);
    if arguments.get(SLOTS).and_then(|slots| slots.get("1")).is_none() {
        return;
    }

    for name in ["deployment_config_id", "build_id"] {
        if arguments.contains_key(name) {
            violations.push(Violation::new(
                format!("{SLOTS}.1"),
                format!("slot 1 and `{name}` cannot be combined: both set the default slot"),
            ));
        }
    }
}

fn check_options(arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(Value::Object(options)) = arguments.get("options") else { return };
    for budget in ["min_seconds", "max_seconds"] {
        if options.contains_key(budget) {
            let rule = "the time budget belongs to the test and cannot be set for one run";
            violations.push(Violation::new(format!("options.{budget}"), rule));
        }
    }

    if let Some(position) = options.get(POSITION) {
        check_position(position, options.contains_key("mobile_geolocation"), violations);
    }
}

/// The option that takes a text or an object.
const POSITION: &str = "mobile_gpslocation";

fn check_position(position: &Value, has_geolocation: bool, violations: &mut Vec<Violation>) {
    let mut broken =
        |path: &str, rule: &str| violations.push(Violation::new(format!("options.{path}"), rule));
    match position {
        Value::String(text) if text == "auto" && has_geolocation => {}
        Value::String(text) if text == "auto" => broken(POSITION, "`auto` needs `mobile_geolocation`"),
        Value::Object(position) => {
            for name in
                ["lat", "long"].into_iter().filter(|name| !position.get(*name).is_some_and(Value::is_string))
            {
                broken(&format!("{POSITION}.{name}"), "is required, as a string");
            }
        }
        _ => broken(POSITION, "must be `auto` or an object of the strings `lat` and `long`"),
    }
}

// No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetDeploymentConfig {
    pub deployment_config_id: Uuid,
    pub build_id: Option<Uuid>,
}

// No doc comment, because it would become part of the descriptions.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct RunOptions {
    pub performance_monitoring: Option<bool>,
    pub mobile_auto_grant_permissions: Option<bool>,
    /// Country, city or "city, state (US)".
    pub mobile_geolocation: Option<String>,
    /// `auto`, which needs `mobile_geolocation`, or an object of the strings `lat` and `long`.
    #[serde(default)]
    #[schemars(schema_with = "auto_or_position")]
    pub mobile_gpslocation: Option<Value>,
}

fn auto_or_position(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({"type": "string", OR_TYPE: "object"})
}

/// Answer of a start (specification, POST runs). Every field is optional, because the forms of the answer differ.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct StartRunResponse {
    /// For a start on all devices: whether at least one run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Ids of jobs for `get_job` and `wait_for_completion`.
    pub job_ids: Vec<String>,
    /// For one-off runs: id of the generated test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_plan_execution_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot_build_ids: Option<Open>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successful_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_count: Option<usize>,
    /// One result per device, for saved tests and plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<DeviceResult>>,
    /// One result per device, for one-off runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_runs: Option<Vec<DeviceResult>>,
}

/// Result of one device (supplement 2.1).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DeviceResult {
    pub device_label: String,
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Status or error text. Some failures have `error` instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Open>,
}
