//! Coercion of values with a clear meaning to the type of the schema.

use serde_json::{Value, json};

use crate::{
    fields::Fields,
    service::{
        arguments::json_type::has_type,
        schema::{OR_TYPE, UNQUOTED},
    },
};

/// Converts `value` to the type `kind` of the schema if its meaning is clear.
pub(super) fn coerce(schema: &Fields, kind: &str, value: &mut Value) {
    let coerced = match (kind, &*value) {
        ("integer" | "number", Value::String(text)) => number(text.trim()),
        ("integer", Value::Number(number)) if number.is_f64() => number
            .as_f64()
            // Above 2^53, about 9e15, a float no longer represents every integer.
            .filter(|value| value.fract() == 0.0 && value.abs() < 9e15)
            .and_then(|value| format!("{value:.0}").parse::<i64>().ok().map(Value::from)),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        },
        ("string", Value::Number(number)) => Some(Value::String(number.to_string())),
        ("string", Value::String(text)) if schema.contains_key(UNQUOTED) => unquoted(text),
        ("string", Value::String(text)) => spelled_as_listed(schema, text),
        // Some hosts send the only item of a list without the list.
        ("array", Value::String(text)) => {
            Some(parse(text).filter(Value::is_array).unwrap_or_else(|| json!([text])))
        }
        ("array", Value::Number(_)) => Some(json!([&*value])),
        ("object", Value::String(text)) => parse(text).filter(Value::is_object),
        _ => None,
    };

    if let Some(coerced) = coerced {
        *value = coerced;
    }

    // A host may send the alternative type as a string of JSON. The text `null` remains text.
    if let (Some(other), Value::String(text)) = (schema.get(OR_TYPE).and_then(Value::as_str), &*value)
        && let Some(other) = parse(text).filter(|parsed| !parsed.is_null() && has_type(other, parsed))
    {
        *value = other;
    }
}

fn number(text: &str) -> Option<Value> {
    parse(text).filter(Value::is_number)
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the value of the `enum` that equals `text` if letter case is ignored.
fn spelled_as_listed(schema: &Fields, text: &str) -> Option<Value> {
    let allowed = schema.get("enum")?.as_array()?;
    allowed.iter().find(|one| one.as_str().is_some_and(|one| one.eq_ignore_ascii_case(text))).cloned()
}

/// Returns the text between surrounding quotes, as an HTTP header contains them.
fn unquoted(text: &str) -> Option<Value> {
    Some(Value::from(text.trim().strip_prefix('"')?.strip_suffix('"')?))
}
