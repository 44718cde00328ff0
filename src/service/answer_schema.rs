//! Schemas of answers. They allow `null` where the service does, and require almost nothing, because hosts drop an
//! answer that lacks a required field.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::schema::{RECORDS, drop_fields, into_object, object_fields, simplify};
use crate::fields::Fields;

/// Returns the schema of the answer `T` with the fields at every depth, of which none is required.
pub fn complete<T: JsonSchema>() -> Fields {
    let mut types = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let schema = types.subschema_for::<T>().to_value();

    let mut schema = expanded(schema, types.definitions());
    simplify(&mut schema, &|object| {
        object.retain(|key, value| match key.as_str() {
            // The limits come from Rust's number types. The service documents no limits of its answers.
            "required" | "minimum" | "maximum" | "default" => false,
            // Every answer may have further fields.
            "additionalProperties" => value != true,
            _ => true,
        });
    });

    let mut schema = into_object(schema);
    schema.shift_remove("description");
    schema
}

/// Returns a schema in which each reference is replaced by the definition to which it refers.
fn expanded(schema: Value, definitions: &Fields) -> Value {
    match schema {
        Value::Array(schemas) => schemas.into_iter().map(|schema| expanded(schema, definitions)).collect(),
        Value::Object(mut schema) => {
            if let Some(Value::String(reference)) = schema.shift_remove("$ref") {
                let definition = definitions.get(reference.trim_start_matches("#/$defs/")).cloned();
                let own = std::mem::replace(&mut schema, into_object(definition.unwrap_or_default()));
                schema.extend(own);
            }
            let expand = |(keyword, value)| (keyword, expanded(value, definitions));
            schema.into_iter().map(expand).collect()
        }
        _ => schema,
    }
}

/// Returns the form of a complete schema that hosts receive: with the fields of the answer, and for a page with the
/// fields of its records. The objects in these fields are published without their own fields, because hosts compile
/// every schema before their first call, and few of them show it to a model.
pub fn published(complete: &Fields) -> Fields {
    let mut schema = complete.clone();
    for (name, field) in object_fields(&mut schema) {
        match field.get_mut("items") {
            Some(Value::Object(record)) if name == RECORDS => {
                object_fields(record).for_each(|(_, field)| drop_fields(field));
            }
            _ => drop_fields(field),
        }
    }

    schema
}
