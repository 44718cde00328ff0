//! JSON Schemas as MCP hosts accept them: inlined, without combinators, `$schema` and Rust's number formats.
//!
//! Schemas of arguments use the conservative subset that every host accepts. Those of answers allow `null` where the service
//! does, and require almost nothing, because hosts drop an answer that lacks a required field.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde_json::{Value, json};

use crate::fields::Fields;

/// The value may also have this JSON type.
pub const OR_TYPE: &str = "x-or-type";

/// Schema of the known fields of an object that is sent unchanged. Arguments are checked against the schema. The
/// published schema is an object with any fields.
pub const KNOWN: &str = "x-known";

/// Keywords that only the check of arguments reads. Some hosts refuse `format` and `uniqueItems`.
const INTERNAL: [&str; 4] = [OR_TYPE, KNOWN, "format", "uniqueItems"];

/// Returns the schema of an object that is sent unchanged and whose known fields are those of `T`.
pub(crate) fn passed_through<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", KNOWN: generator.subschema_for::<T>()})
}

/// Returns the description of `T`, which is its doc comment, and the schema of the arguments `T`.
pub fn input<T: JsonSchema>() -> (String, Fields) {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        // Several hosts do not resolve `$ref`.
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
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

/// Fields at every depth of an answer.
pub const EVERY_DEPTH: usize = usize::MAX;

/// The fields of an answer, and of the records of a page. Hosts compile every schema before their first call, and few of them
/// show it to a model.
pub const PUBLISHED_DEPTH: usize = 1;

/// Creates the generator of [`answer`]. It describes each type once, however many answers have it.
pub fn answer_types() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// Returns the schema of the answer `T` with the fields of objects up to `depth`, of which none is required.
pub fn answer<T: JsonSchema>(types: &mut SchemaGenerator, depth: usize) -> Fields {
    let schema = types.subschema_for::<T>().to_value();

    let mut schema = expanded(schema, types.definitions(), depth);
    simplify(&mut schema, &|object| {
        object.retain(|key, value| match key.as_str() {
            // The limits come from Rust's number types. The service documents no limits of its answers.
            "required" | "minimum" | "maximum" | "default" => false,
            // Every answer may have further fields.
            "additionalProperties" => value != true,
            // Hosts show them to no model, and some clients read no line of more than 64 KiB.
            "description" => !value.is_string(),
            _ => true,
        });
    });

    into_object(schema)
}

/// Returns a schema in which each reference is replaced by the definition to which it refers. Below `depth`, objects lose the
/// schemas of their fields.
fn expanded(schema: Value, definitions: &Fields, depth: usize) -> Value {
    match schema {
        Value::Array(schemas) => {
            schemas.into_iter().map(|schema| expanded(schema, definitions, depth)).collect()
        }
        Value::Object(mut schema) => {
            let is_kept = |keyword: &String| depth > 0 || !OF_FIELDS.contains(&keyword.as_str());
            schema.retain(|keyword, _| is_kept(keyword));
            if let Some(Value::String(reference)) = schema.shift_remove("$ref") {
                let definition = definitions.get(reference.trim_start_matches("#/$defs/"));
                let keywords = definition.and_then(Value::as_object).into_iter().flatten();
                let kept = keywords.filter(|(keyword, _)| is_kept(keyword));
                let own = std::mem::replace(&mut schema, kept.map(|(k, v)| (k.clone(), v.clone())).collect());
                schema.extend(own);
            }

            let expand = |(keyword, value)| match (keyword, value) {
                (keyword, Value::Object(fields)) if keyword == "properties" => {
                    (keyword, Value::Object(expanded_fields(fields, definitions, depth)))
                }
                (keyword, value) => (keyword, expanded(value, definitions, depth)),
            };
            schema.into_iter().map(expand).collect()
        }
        _ => schema,
    }
}

/// Returns the schemas of the fields of an object. The records of a page have the depth of the page.
fn expanded_fields(fields: Fields, definitions: &Fields, depth: usize) -> Fields {
    let expand = |(name, field): (String, Value)| {
        let is_list_of_records = name == RECORDS && field.get("items").is_some();
        let depth = if is_list_of_records { depth } else { depth.saturating_sub(1) };
        (name, expanded(field, definitions, depth))
    };
    fields.into_iter().map(expand).collect()
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
            // An object without known fields may have any.
            if object.get("additionalProperties") == Some(&Value::Bool(true))
                && !object.contains_key("properties")
            {
                object.shift_remove("additionalProperties");
            }
            also(object);

            if let Some(Value::String(text)) = object.get_mut("description") {
                *text = unwrap_lines(text);
            }

            for (keyword, value) in object {
                match value {
                    // A field may have the name of a keyword.
                    Value::Object(fields) if keyword == "properties" => {
                        for field in fields.values_mut() {
                            // A value of any type. Some hosts refuse a schema that is no object.
                            if *field == true {
                                *field = json!({});
                            }
                            simplify(field, also);
                        }
                    }
                    value => simplify(value, also),
                }
            }
        }
        _ => {}
    }
}

/// Turns `anyOf: [X, {type: null}]` into X with `null` among its types.
fn merge_nullable(object: &mut Fields) {
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else { return };
    let [Value::Object(some), none] = alternatives.as_mut_slice() else { return };
    if none.get("type").and_then(Value::as_str) != Some("null") {
        return;
    }

    let mut merged = std::mem::take(some);
    if let Some(kind) = merged.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }

    object.shift_remove("anyOf");
    for (key, value) in merged {
        object.entry(key).or_insert(value);
    }
}

/// Puts the values of an enumeration, or of a list of them, before its description, because some hosts drop `enum`. A
/// description that explains each value stays as it is.
fn state_choices(object: &mut Fields) {
    let enumeration = object.get("enum").or_else(|| object.get("items")?.get("enum"));
    let Some(Value::Array(values)) = enumeration else { return };
    let Some((last, others)) = values.split_last() else { return };

    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let words: Vec<_> = others.iter().map(word).collect();
    let (others, last) = (words.join(", "), word(last));

    if let Some(Value::String(text)) = object.get_mut("description") {
        let explains = |word: &String| text.contains(&format!("`{word}`"));
        if !words.iter().chain([&last]).all(explains) {
            *text = format!("{others} or {last}. {text}");
        }
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

/// Field of a page that holds its records.
pub const RECORDS: &str = "data";

/// Keywords that describe the fields of an object.
const OF_FIELDS: [&str; 3] = ["properties", "additionalProperties", "required"];

/// Returns the schemas of the fields of an object.
pub fn properties(schema: &Fields) -> Option<&Fields> {
    schema.get("properties")?.as_object()
}

/// Returns the schema of the object at the path `path` of dotted names. A name below a list leads into its entries.
pub fn object_below<'a>(schema: &'a Fields, path: &str) -> Option<&'a Fields> {
    path.split('.').filter(|name| !name.is_empty()).try_fold(schema, |object, name| {
        let field = properties(object)?.get(name)?;
        field.get("items").unwrap_or(field).as_object()
    })
}

fn object_fields(schema: &mut Fields) -> impl Iterator<Item = (&String, &mut Fields)> {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name, field.as_object_mut()?)))
}

/// Removes from the schema of the arguments of a tool, or of the entries of a list, what hosts do not see: the keywords
/// that only the check of arguments reads, and the schemas of the fields of an argument, because some hosts drop them.
/// The description of the argument lists its fields.
pub fn publish(schema: &mut Fields) {
    let has_maximum = ["maxItems", "maxLength"].map(|keyword| schema.contains_key(keyword));
    schema.retain(|keyword, value| match keyword.as_str() {
        // It is not worth its tokens that an id or a list is not empty.
        "minItems" => value != 1 || has_maximum[0],
        "minLength" => value != 1 || has_maximum[1],
        keyword => !INTERNAL.contains(&keyword),
    });

    for (_, property) in object_fields(schema) {
        publish(property);
        property.retain(|keyword, _| !OF_FIELDS.contains(&keyword.as_str()));
    }
    if let Some(Value::Object(entry)) = schema.get_mut("items") {
        publish(entry);
    }
}
