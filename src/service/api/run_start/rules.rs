//! The rules of both operations that a schema cannot express, and their confirmation question.

use serde_json::Value;

use crate::{fields::Fields, service::rule::Rule, violation::Violation};

/// A start on all devices needs a deployment config, which lists the devices.
pub(in crate::service::api) const ON_ALL_DEVICES: Rule = Rule::WhenTrue(
    "run_on_all_configured_devices",
    &[Rule::Needs("run_on_all_configured_devices", "deployment_config_id")],
);

/// Returns the confirmation question for a start on all devices, which starts and bills one run per device.
pub(in crate::service::api) fn all_devices_question(arguments: &Fields) -> Option<String> {
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
pub(in crate::service::api) fn check_numbered_keys(
    name: &str,
    arguments: &Fields,
    violations: &mut Vec<Violation>,
) {
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

pub(in crate::service::api) fn check_options(arguments: &Fields, violations: &mut Vec<Violation>) {
    let Some(Value::Object(options)) = arguments.get("options") else { return };
    // The service does not accept a time budget for one run (specification, POST runs).
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

// Coordinates are strings (supplement 2.1), and the subset of JSON Schema has no alternatives.
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
