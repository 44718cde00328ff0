//! JSON Schemas as MCP hosts accept them: inlined, without combinators, `$schema` and Rust's number formats.
//!
//! Input schemas are the conservative subset of `design.md` 5. Output schemas allow `null` where the service does
//! and require next to nothing: hosts drop an answer that misses a required field.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Value, json};

use crate::fields::Fields;

/// Keyword of an input schema that our check reads and hosts do not see: the other type that is accepted.
pub const OR_TYPE: &str = "x-or-type";

/// Keyword of an input schema: what is known of an object that passes through as it is. Our check holds the known
/// fields to it, and hosts see an open object.
pub const KNOWN: &str = "x-known";

/// Keyword of an input schema that our check reads and hosts do not see: quotes around the text are not part of it.
pub const UNQUOTED: &str = "x-unquoted";

/// Keyword of an argument: hosts see its type and description only. What it may hold is published elsewhere.
pub const SHORT: &str = "x-short";

/// Keyword of an argument that hosts do not see: the description of the tool says where it is told of.
pub const HIDDEN: &str = "x-hidden";

/// Keywords that only our own check reads.
const INTERNAL: [&str; 12] = [
    OR_TYPE,
    UNQUOTED,
    SHORT,
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "uniqueItems",
    "default",
];

/// Schema of an object that passes through as it is, of which `T` says what is known.
pub fn passed_through<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", KNOWN: generator.subschema_for::<T>()})
}

/// Schema of the arguments of `T`, together with its description: the doc comment of `T`.
pub fn input<T: JsonSchema>() -> (String, Fields) {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12());
    lower(&mut schema, &|object| {
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        object.retain(|key, value| key != "default" || !value.is_null());
    });

    let mut schema = object(schema);
    let description = match schema.shift_remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    schema.shift_remove("title");

    (description, schema)
}

/// Schema of an answer `T`; only the `essential` fields are required.
pub fn output<T: JsonSchema>(essential: &[&str]) -> Fields {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    // The limits are those of Rust's types; the service states none for what it answers.
    lower(&mut schema, &|object| {
        let drops = |key: &str| matches!(key, "required" | "minimum" | "maximum" | "default");
        // An object is a field of that name.
        object.retain(|key, value| value.is_object() || !drops(key));
    });

    let mut schema = object(schema);
    schema.shift_remove("title");
    schema.shift_remove("description");

    if !essential.is_empty() {
        schema.insert("required".to_owned(), json!(essential));
    }

    schema
}

/// The schema as hosts see it: without the keywords that only our own check reads. Some of them trip hosts, every
/// description says limits and defaults in words, and a model pays for each token of them.
pub fn published(schema: &Fields) -> Fields {
    let is_marked = |value: &Value, mark: &str| value.get(mark).is_some_and(Value::is_boolean);
    let clean = |value: &Value| match value {
        Value::Object(object) if is_marked(value, SHORT) => Value::Object(outline(object)),
        Value::Object(object) => Value::Object(published(object)),
        other => other.clone(),
    };

    schema
        .iter()
        .filter(|(key, value)| *key != KNOWN && (value.is_object() || !INTERNAL.contains(&key.as_str())))
        .filter(|(_, value)| !is_marked(value, HIDDEN))
        .map(|(key, value)| (key.clone(), clean(value)))
        .collect()
}

/// Type and description alone.
fn outline(schema: &Fields) -> Fields {
    let told = ["type", "description"].into_iter();
    told.filter_map(|key| Some((key.to_owned(), schema.get(key)?.clone()))).collect()
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn object(schema: Value) -> Fields {
    match schema {
        Value::Object(object) => object,
        _ => Fields::new(),
    }
}

/// Rewrites a schema and everything below it.
fn lower(schema: &mut Value, also: &dyn Fn(&mut Fields)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| lower(item, also)),
        Value::Object(object) => {
            merge_nullable(object);
            if object.get("format").and_then(Value::as_str).is_some_and(|format| format != "uuid") {
                object.shift_remove("format");
            }
            if object.get("additionalProperties") == Some(&Value::Bool(true)) {
                object.shift_remove("additionalProperties");
            }
            also(object);
            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = unwrap_lines(text);
            }
            object.values_mut().for_each(|value| lower(value, also));
        }
        _ => {}
    }
}

/// Turns `anyOf: [X, {type: null}]` into X with `null` among its types.
fn merge_nullable(object: &mut Fields) {
    let Some(Value::Array(alternatives)) = object.get("anyOf") else { return };
    let [Value::Object(some), none] = alternatives.as_slice() else { return };
    if none.get("type").and_then(Value::as_str) != Some("null") {
        return;
    }

    let mut merged = some.clone();
    if let Some(kind) = merged.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }

    object.shift_remove("anyOf");
    for (key, value) in merged {
        object.entry(key).or_insert(value);
    }
}

/// Joins the lines of a wrapped doc comment; paragraphs and list items stay apart.
fn unwrap_lines(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        let starts = line.is_empty() || line.starts_with("- ") || joined.is_empty() || joined.ends_with('\n');
        if !joined.is_empty() {
            joined.push(if starts { '\n' } else { ' ' });
        }
        joined.push_str(line);
    }

    joined
}
