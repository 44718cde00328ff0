//! What the two operations that start runs have in common (service.md 2.1, 4.6).

use schemars::{Schema, SchemaGenerator, json_schema};

use super::prelude::*;
use crate::service::schema::OR_TYPE;

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct TargetDeploymentConfig {
    pub deployment_config_id: Uuid,
    pub build_id: Option<Uuid>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct RunOptions {
    pub performance_monitoring: Option<bool>,
    pub mobile_auto_grant_permissions: Option<bool>,
    /// Country, city, or city and US state.
    pub mobile_geolocation: Option<String>,
    /// The text `auto`, with `mobile_geolocation`, or `{lat, long}`.
    #[serde(default)]
    #[schemars(schema_with = "auto_or_position")]
    pub mobile_gpslocation: Option<Value>,
}

fn auto_or_position(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string",
        OR_TYPE: "object",
        "properties": {"lat": {"type": "string"}, "long": {"type": "string"}},
        "additionalProperties": true,
    })
}

/// The answer to a start (service.md 2.1). Every field is optional, because the answer has several forms.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StartRunResponse {
    /// For a start on all devices: whether at least one run started.
    pub ok: Option<bool>,
    pub message: Option<String>,
    /// The build that was chosen, of several that of slot 1. Its name: `tool:get_build`.
    pub build_id: Option<String>,
    /// Ids of jobs, not of runs.
    pub job_ids: Vec<String>,
    /// For one-off runs: id of the generated test.
    pub test_id: Option<String>,
    pub test_plan_execution_id: Option<String>,
    pub slot_build_ids: Option<Open>,
    pub requested_count: Option<usize>,
    pub started_count: Option<usize>,
    pub successful_count: Option<usize>,
    pub failed_count: Option<usize>,
    /// One result per device, for saved tests and plans.
    pub results: Option<Vec<DeviceResult>>,
    /// One result per device, for one-off runs.
    pub device_runs: Option<Vec<DeviceResult>>,
}

// service.md 2.1
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DeviceResult {
    pub device_label: String,
    pub ok: bool,
    pub status: Option<u16>,
    /// Status or error text. Some failures have `error` instead.
    pub message: Option<String>,
    pub error: Option<String>,
    #[schemars(with = "Option<Open>")]
    pub data: Option<Box<StartRunResponse>>,
}

/// Returns the confirmation question for a start that multiplies its cost: several runs of a test, or one on every device.
pub(super) fn cost_question(arguments: &Fields) -> Option<String> {
    let id = |name: &str| arguments.get(name).and_then(Value::as_str);
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    let instances = number("instances").filter(|instances| *instances > 1);
    let on_all_devices = arguments.get("run_on_all_configured_devices") == Some(&Value::Bool(true));
    if instances.is_none() && !on_all_devices {
        return None;
    }

    let runs = instances.map_or_else(|| "one run".to_owned(), |instances| format!("{instances} runs"));
    let subject = match (id("multiplayer_test_id"), id("test_plan_id")) {
        (Some(test), _) => format!("the test `{test}`"),
        (None, Some(plan)) => format!("each test of the plan `{plan}`"),
        (None, None) => "the task".to_owned(),
    };
    let devices = if on_all_devices { "every device of " } else { "" };
    let device = id("deployment_config_id").map(|config| format!(" on {devices}`{config}`"));
    let retries = number("retries").filter(|retries| *retries > 0);
    let retries = retries.map(|retries| format!(", with up to {retries} retries each"));

    let [device, retries] = [device, retries].map(Option::unwrap_or_default);
    Some(format!("starts {runs} of {subject}{device}{retries}; each attempt is billed"))
}

/// Checks that the keys of a config map are numbers from 1. An empty map counts as no config.
pub(super) fn check_numbered_keys(name: &str, arguments: &Fields, violations: &mut Vec<Violation>) {
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

pub(super) fn check_options(arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(Value::Object(options)) = arguments.get("options") else { return };
    // The service does not accept a time budget for one run (service.md 2.1).
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

/// The option that takes text or an object.
const POSITION: &str = "mobile_gpslocation";

// Coordinates are strings (service.md 2.1), and the subset of JSON Schema has no alternatives.
fn check_position(position: &Value, has_geolocation: bool, violations: &mut Vec<Violation>) {
    let is_text = |name: &&str| position.get(*name).is_some_and(Value::is_string);
    let rule = if position == "auto" && !has_geolocation {
        "`auto` needs `mobile_geolocation`"
    } else if position != "auto" && !["lat", "long"].iter().all(is_text) {
        "must be `auto` or an object of the strings `lat` and `long`"
    } else {
        return;
    };

    violations.push(Violation::new(format!("options.{POSITION}"), rule));
}
