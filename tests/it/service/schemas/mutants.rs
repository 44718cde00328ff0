//! Changed answers that a schema of the contract still allows.

use serde_json::{Map, Value, json};

use crate::support::contract::{members, resolved};

/// Strings that a schema allows although its description suggests another format.
const TEXTS: [&str; 2] = ["", "something else"];

/// Integers for schemas without a limit.
const INTEGERS: [i64; 4] = [-1, 0, 256, 5_000_000_000];

/// Every answer that differs from `value` in one place and that `schema` still allows.
pub(super) fn mutants(schema: &'static Value, value: &Value) -> Vec<Value> {
    let schema = resolved(schema);
    if let Some(alternatives) = schema["anyOf"].as_array() {
        let has = |name: &Value| name.as_str().is_some_and(|name| value.get(name).is_some());
        let matches = |one: &&'static Value| {
            let required = resolved(one)["required"].as_array();
            !value.is_null()
                && resolved(one)["type"] != "null"
                && required.is_none_or(|names| names.iter().all(has))
        };
        let mut found: Vec<_> =
            alternatives.iter().filter(matches).flat_map(|one| mutants(one, value)).collect();
        found.extend(alternatives.iter().filter(|one| one["type"] == "null").map(|_| Value::Null));
        return found;
    }

    let mut found = plain_values(schema);
    match value {
        Value::Object(object) => found.extend(object_mutants(schema, object)),
        Value::Array(items) => found.extend(array_mutants(schema, items)),
        _ => {}
    }

    found
}

/// The names of the types that a schema allows.
fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["null", "boolean", "integer", "number", "string", "array", "object"],
    }
}

/// Plain values of the types that a schema allows.
fn plain_values(schema: &Value) -> Vec<Value> {
    if schema.get("const").is_some() {
        return Vec::new();
    }

    let least = schema["minimum"].as_i64().unwrap_or(i64::MIN);
    let value = |kind: &str| match kind {
        "null" => vec![Value::Null],
        "boolean" => vec![json!(true), json!(false)],
        "integer" => INTEGERS.iter().filter(|value| **value >= least).map(|value| json!(value)).collect(),
        "number" => vec![json!(-0.5), json!(7), json!(1e300)],
        "string" => TEXTS.map(|text| json!(text)).to_vec(),
        "array" => vec![json!([])],
        _ if schema["required"].is_null() => vec![json!({})],
        _ => Vec::new(),
    };

    types(schema).into_iter().flat_map(value).collect()
}

/// Objects that differ from `object` in one member.
fn object_mutants(schema: &'static Value, object: &Map<String, Value>) -> Vec<Value> {
    let with = |name: &str, value: Value| {
        let mut changed = object.clone();
        changed.insert(name.to_owned(), value);
        Value::Object(changed)
    };
    let required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
    let any = schema.get("additionalProperties").filter(|any| any.is_object());
    let mut found = Vec::new();

    if any.is_none() {
        found.push(with("added_later", json!({"any": [null, 1]})));
    }

    for name in object.keys().filter(|name| !required(name)) {
        let mut changed = object.clone();
        changed.shift_remove(name);
        found.push(Value::Object(changed));
    }

    for (name, property) in members(&schema["properties"]) {
        let present = object.get(name).cloned().unwrap_or_else(|| least(property));
        found.extend(mutants(property, &present).into_iter().map(|value| with(name, value)));
        found.push(with(name, present));
    }

    if let Some(any) = any {
        found.extend(mutants(any, &least(any)).into_iter().map(|value| with("2", value)));
    }

    found
}

/// Arrays that differ from `items` in their length or in one item.
fn array_mutants(schema: &'static Value, items: &[Value]) -> Vec<Value> {
    let Some(item) = schema.get("items") else { return vec![json!([null, 1, "text"])] };
    let first = items.first().cloned().unwrap_or_else(|| least(item));
    let mut found = vec![json!(vec![first.clone(); 3])];
    found.extend(mutants(item, &first).into_iter().map(|value| json!([value, first])));
    found
}

/// The smallest value that a schema allows and that is not null.
fn least(schema: &'static Value) -> Value {
    let schema = resolved(schema);
    if let Some(alternative) = schema["anyOf"].as_array().and_then(|alternatives| alternatives.first()) {
        return least(alternative);
    }

    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    match types(schema).into_iter().find(|kind| *kind != "null") {
        Some("object") => {
            required.map(|name| (name.to_owned(), least(&schema["properties"][name]))).collect()
        }
        Some("array") => json!([least(&schema["items"])]),
        Some("boolean") => json!(true),
        Some("string") => json!("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"),
        _ => json!(2),
    }
}
