//! JSON types of values.

use serde_json::Value;

/// Returns whether a value has the JSON type `kind`.
pub(super) fn has_type(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Returns the name of a JSON type with its article, for messages.
pub(super) fn with_article(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "array" => "an array",
        "object" => "an object",
        "boolean" => "true or false",
        "number" => "a number",
        _ => "a string",
    }
}

/// Returns the name of the type of a value, for messages.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns whether `text` is a UUID in the hyphenated form that the service accepts.
pub fn is_uuid(text: &str) -> bool {
    // The parser of the crate also accepts other forms, such as braces.
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}
