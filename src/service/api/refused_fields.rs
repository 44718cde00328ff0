//! Fields that a caller may not send: fields that cannot change, and fields that the service manages (supplement 6.4).

use serde_json::Value;

use crate::{fields::Fields, violation::Violation};

/// Reason for the refusal of a field that the service manages.
pub(super) const MANAGED: &str = "is managed by the service: leave it out";

/// Fields of collections that the service manages (supplement 6.4).
pub(super) const COLLECTION_FIELDS: [&str; 3] = ["version", "created_at", "created_by"];

/// Fields of steps that the service manages (supplement 6.4).
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
        // Other objects may have fields with these names: only those of a collection are managed (supplement 6.4).
        let in_collection =
            COLLECTION_FIELDS.contains(&name.as_str()) && object.contains_key("collection_id");
        if STEP_FIELDS.contains(&name.as_str()) || in_collection {
            violations.push(Violation::new(path, MANAGED));
        } else {
            refuse_managed_fields(Some(value), &path, violations);
        }
    }
}
