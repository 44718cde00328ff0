//! Patches: objects are merged, and other values are replaced (service.md 4.4).

use serde::Serialize;
use serde_json::Value;

use crate::sandbox::answers::answer::ApiError;
use crate::service::api::Open;
use crate::service::lenient::{View, view};

/// Returns `record` with `patch` merged into it, which must be a valid record.
pub(super) fn patched<T: Serialize + View>(record: &T, patch: Open) -> Result<T, ApiError> {
    let invalid = |error: serde_json::Error| ApiError::invalid(format!("invalid request: patch: {error}"));
    let mut value = serde_json::to_value(record).map_err(invalid)?;
    merge(&mut value, Value::Object(patch));

    let patched = view(&value);
    match lost_field(&value, &serde_json::to_value(&patched).map_err(invalid)?) {
        Some(field) => Err(ApiError::invalid(format!("invalid request: patch: unexpected value of {field}"))),
        None => Ok(patched),
    }
}

/// Returns the path of a value in `record` that `kept` lacks, because a view leaves out what it cannot read.
fn lost_field(record: &Value, kept: &Value) -> Option<String> {
    let below = |name: &str, value: &Value, kept: Option<&Value>| {
        let path = lost_field(value, kept.unwrap_or(&Value::Null))?;
        Some(if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") })
    };

    match (record, kept) {
        (Value::Null, _) => None,
        (Value::Object(fields), Value::Object(kept)) => {
            fields.iter().find_map(|(name, value)| below(name, value, kept.get(name)))
        }
        (Value::Array(entries), Value::Array(kept)) => {
            let mut numbered = entries.iter().enumerate();
            numbered.find_map(|(index, value)| below(&index.to_string(), value, kept.get(index)))
        }
        _ => (record != kept).then(String::new),
    }
}

/// Merges objects at every depth. `null` removes a field. The service may store `null` instead (service.md 17).
fn merge(value: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *value = patch;
        return;
    };

    if !value.is_object() {
        *value = Value::Object(Open::new());
    }

    let Value::Object(object) = value else { return };
    for (name, change) in patch {
        if change.is_null() {
            object.shift_remove(&name);
        } else {
            merge(object.entry(name).or_insert(Value::Null), change);
        }
    }
}
