//! Schemas of answers. They allow `null` where the service does, and require almost nothing, because hosts drop an
//! answer that lacks a required field.
//!
//! Answers share many types. The types are generated once, and their schemas refer to each other until a schema is
//! completed or published.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Value, json};

use super::schema::{OF_FIELDS, RECORDS, into_object, merge_nullable, simplify};
use crate::fields::Fields;

/// The types of some answers.
#[derive(Debug)]
pub struct AnswerTypes(SchemaGenerator);

/// Adds the type of one answer to known types, and returns its schema, which refers to them.
pub type AnswerType = fn(&mut SchemaGenerator) -> Schema;

/// Returns the type of the answer `T`.
pub const fn answer_type<T: JsonSchema>() -> AnswerType {
    SchemaGenerator::subschema_for::<T>
}

impl Default for AnswerTypes {
    fn default() -> Self {
        Self(SchemaSettings::draft2020_12().for_serialize().into_generator())
    }
}

impl AnswerTypes {
    /// Returns the complete schema of an answer, of which only `required_fields` are required.
    pub fn complete(&mut self, answer: AnswerType, required_fields: &[&str]) -> Fields {
        let schema = answer(&mut self.0).to_value();

        finished(self.expanded(&schema), required_fields)
    }

    /// Returns the schema of an answer as hosts receive it: with its fields, and for a page with the fields of its
    /// records. The objects in these fields are published without their own fields, because hosts compile every schema
    /// before their first call, and few of them show it to a model.
    pub fn published(&mut self, answer: AnswerType, required_fields: &[&str]) -> Fields {
        let schema = into_object(answer(&mut self.0).to_value());
        let schema = self.resolved(&schema);

        let published = self.with_fields(&schema, &|name, field| match field.get("items") {
            Some(Value::Object(record)) if name == RECORDS => {
                let record =
                    self.with_fields(&self.resolved(record), &|_, field| self.without_fields(&field));
                with_keywords(&field, |keyword, value| match keyword {
                    "items" => Some(record.clone().into()),
                    _ => Some(value.clone()),
                })
            }
            _ => self.without_fields(&field),
        });

        finished(published.into(), required_fields)
    }

    /// Returns a schema without references.
    fn expanded(&self, schema: &Value) -> Value {
        match schema {
            Value::Array(schemas) => schemas.iter().map(|schema| self.expanded(schema)).collect(),
            Value::Object(schema) => {
                let expand = |(keyword, value): (String, Value)| (keyword, self.expanded(&value));
                self.resolved(schema).into_iter().map(expand).collect()
            }
            _ => schema.clone(),
        }
    }

    fn without_fields(&self, field: &Fields) -> Fields {
        with_keywords(field, |keyword, value| match (keyword, value) {
            (keyword, _) if OF_FIELDS.contains(&keyword) => None,
            ("items", Value::Object(entry)) => Some(self.without_fields(&self.resolved(entry)).into()),
            _ => Some(value.clone()),
        })
    }

    /// Returns the schema of an object in which `publish_field` returns the published form of each field.
    fn with_fields(&self, schema: &Fields, publish_field: &dyn Fn(&str, Fields) -> Fields) -> Fields {
        let publish = |(name, field): (&String, &Value)| {
            let published = field.as_object().map(|field| publish_field(name, self.resolved(field)).into());
            (name.clone(), published.unwrap_or_else(|| field.clone()))
        };

        with_keywords(schema, |keyword, value| match (keyword, value) {
            ("properties", Value::Object(fields)) => Some(fields.iter().map(publish).collect()),
            _ => Some(value.clone()),
        })
    }

    /// Returns the schema to which `schema` refers, with the own keywords of `schema`. The schemas in it may refer to
    /// others.
    fn resolved(&self, schema: &Fields) -> Fields {
        let mut schema = schema.clone();
        if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
            for alternative in alternatives {
                *alternative = self.resolved(&into_object(alternative.take())).into();
            }
            merge_nullable(&mut schema);
        }

        let Some(Value::String(reference)) = schema.shift_remove("$ref") else { return schema };
        let name = reference.trim_start_matches("#/$defs/");
        let mut resolved =
            self.0.definitions().get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        resolved.extend(schema);

        resolved
    }
}

/// Returns the schema of an answer in the form that hosts accept.
fn finished(mut schema: Value, required_fields: &[&str]) -> Fields {
    // The limits come from Rust's number types. The service documents no limits of its answers.
    simplify(&mut schema, &|object| {
        object.retain(|key, value| match key.as_str() {
            "required" | "minimum" | "maximum" | "default" => false,
            // Every answer may have further fields.
            "additionalProperties" => value != true,
            _ => true,
        });
    });

    let mut schema = into_object(schema);
    schema.shift_remove("title");
    schema.shift_remove("description");

    if !required_fields.is_empty() {
        schema.insert("required".to_owned(), json!(required_fields));
    }

    schema
}

fn with_keywords(schema: &Fields, publish: impl Fn(&str, &Value) -> Option<Value>) -> Fields {
    schema.iter().filter_map(|(keyword, value)| Some((keyword.clone(), publish(keyword, value)?))).collect()
}
