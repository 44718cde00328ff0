//! Generation of schemas from Rust types.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Value, json};

use crate::{fields::Fields, service::schema::keywords::KNOWN};

/// Returns the schema of an object that is sent unchanged and whose known fields are those of `T`.
pub(crate) fn passed_through<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", KNOWN: generator.subschema_for::<T>()})
}

/// Returns the description of `T`, which is its doc comment, and the schema of the arguments `T`.
pub fn input<T: JsonSchema>() -> (String, Fields) {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12());
    simplify(&mut schema, &|object| {
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            // `null` counts as absent in arguments, so that it is not listed as a value.
            values.retain(|value| !value.is_null());
        }
        object.retain(|key, value| key != "default" || !value.is_null());
        state_choices(object);
    });

    let mut schema = into_object(schema);
    let description = match schema.shift_remove("description") {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    schema.shift_remove("title");

    (description, schema)
}

/// Returns the schema of an answer `T`. Only `required_fields` are required.
pub fn output<T: JsonSchema>(required_fields: &[&str]) -> Fields {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12().for_serialize());
    // The limits come from Rust's number types. The service documents no limits of its answers.
    simplify(&mut schema, &|object| {
        let drops = |key: &str| matches!(key, "required" | "minimum" | "maximum" | "default");
        // A value that is an object is the schema of a field with this name, not a keyword.
        object.retain(|key, value| value.is_object() || !drops(key));
    });

    let mut schema = into_object(schema);
    schema.shift_remove("title");
    schema.shift_remove("description");

    if !required_fields.is_empty() {
        schema.insert("required".to_owned(), json!(required_fields));
    }

    schema
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        // Several hosts do not resolve `$ref`.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

fn into_object(schema: Value) -> Fields {
    match schema {
        Value::Object(object) => object,
        _ => Fields::new(),
    }
}

/// Applies the common rewriting and `also` to a schema and every schema in it.
fn simplify(schema: &mut Value, also: &dyn Fn(&mut Fields)) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| simplify(item, also)),
        Value::Object(object) => {
            merge_nullable(object);

            // Formats such as `uint32` are Rust's. Only `uuid` has a meaning for the check of arguments.
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

            object.values_mut().for_each(|value| simplify(value, also));
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

/// Puts the values of an enumeration, or of a list of them, before its description, because some hosts drop `enum`.
fn state_choices(object: &mut Fields) {
    let enumeration = object.get("enum").or_else(|| object.get("items")?.get("enum"));
    let Some(Value::Array(values)) = enumeration else { return };
    let Some((last, others)) = values.split_last() else { return };

    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let others: Vec<_> = others.iter().map(word).collect();
    let choices = format!("{} or {}.", others.join(", "), word(last));

    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = format!("{choices} {text}");
    }
}

/// Joins the lines of a wrapped doc comment. Paragraphs and list items remain separate.
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
