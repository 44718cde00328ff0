//! The published form of schemas.

use serde_json::Value;

use crate::{
    fields::Fields,
    service::schema::keywords::{HIDDEN, INTERNAL, KNOWN, SHORT},
};

/// Returns the published form of a schema: without the keywords that only the check of arguments reads.
///
/// Some hosts refuse these keywords, and each keyword costs tokens. The descriptions state limits and defaults instead.
pub fn published(schema: &Fields) -> Fields {
    let is_marked = |value: &Value, mark: &str| value.get(mark).is_some_and(Value::is_boolean);
    let publish_value = |value: &Value| match value {
        Value::Object(object) if is_marked(value, SHORT) => Value::Object(outline(object)),
        Value::Object(object) => Value::Object(published(object)),
        other => other.clone(),
    };

    schema
        .iter()
        // A property whose name equals an internal keyword has a schema, which is an object.
        .filter(|(key, value)| *key != KNOWN && (value.is_object() || !INTERNAL.contains(&key.as_str())))
        .filter(|(_, value)| !is_marked(value, HIDDEN))
        .map(|(key, value)| (key.clone(), publish_value(value)))
        .collect()
}

/// Returns only the type and the description of a schema.
fn outline(schema: &Fields) -> Fields {
    let kept = ["type", "description"].into_iter();
    kept.filter_map(|key| Some((key.to_owned(), schema.get(key)?.clone()))).collect()
}
