//! Steps, as tests and shared step collections contain them, and the fields that callers may not send (service.md 6.2,
//! 6.4).

use std::collections::BTreeMap;

use super::prelude::*;

/// Steps and their order.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepList {
    pub steps_by_key: BTreeMap<String, StepBody>,
    /// The keys in order.
    pub step_order: Vec<String>,
}

/// The goal and the expected results of a step.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct StepBody {
    /// Managed by the service.
    pub test_step_id: Option<String>,
    pub goal: Option<String>,
    pub expected_results: Option<Vec<ExpectedResult>>,
    /// Older form of the expected results.
    pub finish_condition: Option<String>,
    pub screenshots: Option<i64>,
    pub pause_game: Option<bool>,
    pub performance_monitoring: Option<bool>,
    pub hint_manual: Option<Vec<String>>,
    #[serde(flatten)]
    pub more: Open,
}

/// A condition that must hold after a step.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct ExpectedResult {
    pub expected: String,
    #[serde(flatten)]
    pub more: Open,
}

/// Reason for the refusal of a field that the service manages.
pub(super) const MANAGED: &str = "is managed by the service: leave it out";

/// Fields of collections that the service manages.
pub(super) const COLLECTION_FIELDS: [&str; 3] = ["version", "created_at", "created_by"];

/// Fields of steps that the service manages.
pub(super) const STEP_FIELDS: [&str; 2] = ["test_step_id", "composite_test_id"];

/// Adds a violation for each of the fields `names` that the object argument `holder` contains.
pub(super) fn refuse_fields(
    arguments: &Fields,
    holder: &str,
    names: &[&str],
    rule: &str,
    violations: &mut Vec<Violation>,
) {
    let Some(Value::Object(object)) = arguments.get(holder) else { return };
    let found = names.iter().filter(|name| object.contains_key(**name));
    violations.extend(found.map(|name| Violation::new(format!("{holder}.{name}"), rule)));
}

/// Adds a violation for each field in `value`, at any depth, that the service manages.
pub(super) fn refuse_managed_fields(value: Option<&Value>, path: &str, violations: &mut Vec<Violation>) {
    let Some(Value::Object(object)) = value else { return };
    for (name, value) in object {
        let path = format!("{path}.{name}");
        // Other objects may have fields with these names: only those of a collection are managed.
        let in_collection =
            COLLECTION_FIELDS.contains(&name.as_str()) && object.contains_key("collection_id");
        if STEP_FIELDS.contains(&name.as_str()) || in_collection {
            violations.push(Violation::new(path, MANAGED));
        } else {
            refuse_managed_fields(Some(value), &path, violations);
        }
    }
}
