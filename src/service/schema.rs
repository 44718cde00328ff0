//! JSON Schemas as MCP hosts accept them: inlined, without combinators, `$schema` and Rust's number formats.
//!
//! Schemas of arguments use the conservative subset that every host accepts. Those of answers allow `null` where the service
//! does, and require almost nothing, because hosts drop an answer that lacks a required field.

use schemars::{
    JsonSchema, Schema, SchemaGenerator,
    generate::SchemaSettings,
    json_schema,
    transform::{RecursiveTransform, Transform as _},
};
use serde_json::{Value, json};

use crate::fields::Fields;

/// The value may also have this JSON type.
pub const OR_TYPE: &str = "x-or-type";

/// Schema of the known fields of an object that is sent unchanged. Arguments are checked against it. In such an object it has
/// the usual fields: others, and values of other types, break no rule.
pub const KNOWN: &str = "x-known";

/// Returns the schema of an object that is sent unchanged and whose known fields are those of `T`.
pub(crate) fn passed_through<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut fields = generator.subschema_for::<T>();
    RecursiveTransform(simplify_argument).transform(&mut fields);
    let or_type = fields.remove(OR_TYPE);
    let mut object = json_schema!({"type": "object", KNOWN: fields});
    object.ensure_object().extend(or_type.map(|or_type| (OR_TYPE.to_owned(), or_type)));
    object
}

pub(crate) fn entries_passed_through<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": passed_through::<T>(generator)})
}

/// Returns the description of `T`, which is its doc comment, and the schema of the arguments `T`.
pub fn input<T: JsonSchema>() -> (String, Fields) {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // Several hosts do not resolve `$ref`.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let settings = settings.with_transform(RecursiveTransform(simplify_argument));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();

    schema.remove("title");
    let description = schema.remove("description");
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default();

    (description.to_owned(), std::mem::take(schema.ensure_object()))
}

fn simplify_argument(schema: &mut Schema) {
    let object = schema.ensure_object();
    simplify(object);
    // `null` counts as absent in arguments, so that it is neither a type, nor a value, nor a default.
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    object.retain(|keyword, value| keyword != "default" || !value.is_null());

    if let Some(Value::String(text)) = object.get_mut("description") {
        // A doc comment is wrapped, and has an empty line between its paragraphs.
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
}

/// Creates the generator of [`answer`]. It describes each type once, however many answers have it.
pub fn answer_types() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Returns the schema of the answer `T` with the fields of objects up to `depth`, of which none is required.
pub fn answer<T: JsonSchema>(types: &mut SchemaGenerator, depth: usize) -> Fields {
    let mut schema = types.subschema_for::<T>();
    expand(schema.ensure_object(), types.definitions(), depth);
    RecursiveTransform(simplify_answer).transform(&mut schema);

    std::mem::take(schema.ensure_object())
}

fn simplify_answer(schema: &mut Schema) {
    let object = schema.ensure_object();
    simplify(object);
    object.retain(|keyword, value| match keyword.as_str() {
        // The limits come from Rust's number types. The service documents no limits of its answers. Hosts show descriptions to
        // no model, and some clients read no line of more than 64 KiB.
        "required" | "minimum" | "maximum" | "default" | "description" | "enum" | "patternProperties" => {
            false
        }
        // Every answer may have further fields, and of what may be null the name is enough.
        "additionalProperties" => value != true,
        "type" => value.is_string(),
        "items" => value.get("properties").is_some(),
        _ => true,
    });
}

/// Replaces each reference in a schema by the definition to which it refers. Below `depth`, objects lose the schemas of their
/// fields.
fn expand(schema: &mut Fields, definitions: &Fields, depth: usize) {
    let is_kept = |keyword: &String| depth > 0 || !OF_FIELDS.contains(&keyword.as_str());
    schema.retain(|keyword, _| is_kept(keyword));
    if let Some(Value::String(reference)) = schema.shift_remove("$ref") {
        let definition = definitions.get(reference.trim_start_matches("#/$defs/"));
        let keywords = definition.and_then(Value::as_object).into_iter().flatten();
        let kept = keywords.filter(|(keyword, _)| is_kept(keyword));
        let own = std::mem::replace(schema, kept.map(|(k, v)| (k.clone(), v.clone())).collect());
        schema.extend(own);
    }

    for (keyword, value) in schema {
        match value {
            Value::Object(fields) if keyword == "properties" => {
                for (name, field) in fields {
                    let Value::Object(field) = field else { continue };
                    // The records of a page have the depth of the page.
                    let is_list_of_records = name == RECORDS && field.contains_key("items");
                    expand(
                        field,
                        definitions,
                        if is_list_of_records { depth } else { depth.saturating_sub(1) },
                    );
                }
            }
            Value::Object(schema) => expand(schema, definitions, depth),
            Value::Array(schemas) => {
                let schemas = schemas.iter_mut().filter_map(Value::as_object_mut);
                schemas.for_each(|schema| expand(schema, definitions, depth));
            }
            _ => {}
        }
    }
}

/// Removes what neither a host nor the check of arguments reads.
fn simplify(object: &mut Fields) {
    merge_nullable(object);
    // Formats such as `uint32` are Rust's.
    if object.get("format").is_some_and(|format| format != "uuid") {
        object.shift_remove("format");
    }
    // An object without known fields may have any.
    if object.get("additionalProperties") == Some(&Value::Bool(true)) && !object.contains_key("properties") {
        object.shift_remove("additionalProperties");
    }
}

/// Turns `anyOf: [X, {type: null}]` into X with `null` among its types.
fn merge_nullable(object: &mut Fields) {
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else { return };
    let [Value::Object(some), none] = alternatives.as_mut_slice() else { return };
    if none.get("type").is_none_or(|kind| kind != "null") {
        return;
    }

    let mut merged = std::mem::take(some);
    if let Some(kind) = merged.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    object.shift_remove("anyOf");
    for (keyword, value) in merged {
        object.entry(keyword).or_insert(value);
    }
}

/// Field of a page that holds its records.
pub const RECORDS: &str = "data";

/// Keywords that describe the fields of an object.
pub(crate) const OF_FIELDS: [&str; 3] = ["properties", "additionalProperties", "required"];

/// Returns the schemas of the fields of an object.
pub fn properties(schema: &Fields) -> Option<&Fields> {
    schema.get("properties")?.as_object()
}

/// Returns the schema of the records of a page; `None` if the answer is no page.
pub fn records(answer: &Fields) -> Option<&Fields> {
    properties(answer)?.get(RECORDS)?.get("items")?.as_object()
}
