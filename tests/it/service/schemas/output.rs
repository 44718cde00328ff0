//! Output schemas accept the answers of the contract, because hosts drop an answer that breaks its schema.

use serde_json::{Value, json};
use tas_mcp::service::{
    catalog::{OPERATIONS, OperationEntry},
    operation::ResponseKind,
};

use crate::support::{
    contract::{self, members, resolved},
    schema::Validator,
};

fn output_schema(entry: &OperationEntry) -> Value {
    Value::Object(entry.output_schema().as_ref().clone())
}

/// The alternatives of a schema: an answer is valid for one of them.
fn alternatives(schema: &'static Value) -> Vec<&'static Value> {
    resolved(schema)["anyOf"].as_array().map_or_else(|| vec![schema], |all| all.iter().collect())
}

/// Every example of a successful answer in the contract: its name, its schema and its value.
fn examples(entry: &OperationEntry) -> Vec<(String, &'static Value, &'static Value)> {
    let mut found = Vec::new();

    for (status, answer) in contract::operation(entry.name).successes() {
        // Answers without a schema are files.
        let Some(schema) = answer.schema() else { continue };
        for (name, example) in answer.examples() {
            found.push((format!("{} {status} {name}", entry.name), schema, example));
        }
    }

    found
}

#[test]
fn output_schemas_are_objects() {
    for entry in &OPERATIONS {
        assert_eq!(entry.output_schema()["type"], "object", "{}", entry.name);
        Validator::new(&output_schema(entry));
    }
}

#[test]
fn output_schemas_use_only_keywords_that_every_host_supports() {
    const KEYWORDS: [&str; 7] =
        ["type", "description", "properties", "required", "additionalProperties", "items", "default"];
    for entry in &OPERATIONS {
        super::input::walk(entry.name, &output_schema(entry), &mut |place, schema| {
            for keyword in schema.as_object().expect("no schema is a boolean").keys() {
                assert!(KEYWORDS.contains(&keyword.as_str()), "{place}: {keyword}");
            }
            let kinds = &schema["type"];
            assert!(kinds.is_null() || kinds.is_string() || kinds.is_array(), "{place}");
            assert!(schema.get("additionalProperties").is_none_or(Value::is_object), "{place}");
        });
    }
}

#[test]
fn only_required_fields_of_the_contract_are_required() {
    for entry in &OPERATIONS {
        let output_schema = output_schema(entry);
        super::input::walk(entry.name, &output_schema, &mut |place, schema| {
            assert_eq!(schema.get("required"), None, "{place}");
        });

        for field in entry.required_fields {
            assert!(output_schema["properties"].get(field).is_some(), "{}: {field}", entry.name);
            for (status, answer) in contract::operation(entry.name).successes() {
                let required = |one: &&'static Value| {
                    let names = resolved(one)["required"].as_array();
                    names.is_some_and(|names| names.contains(&json!(field)))
                };
                let required = alternatives(answer.schema().unwrap()).iter().all(required);
                assert!(required, "{} {status}: {field}", entry.name);
            }
        }
    }
}

#[test]
fn every_field_of_the_contract_is_described() {
    for entry in &OPERATIONS {
        for (name, schema, _) in examples(entry) {
            for one in alternatives(schema) {
                for (field, _) in members(&resolved(one)["properties"]) {
                    assert!(output_schema(entry)["properties"].get(field).is_some(), "{name}: {field}");
                }
            }
        }
    }
}

#[test]
fn output_schemas_accept_the_examples_of_the_contract() {
    let is_json = |entry: &&OperationEntry| {
        matches!(entry.request.response_kind, ResponseKind::Json | ResponseKind::Status)
    };

    for entry in OPERATIONS.iter().filter(is_json) {
        let schema = Validator::new(&output_schema(entry));
        let examples = examples(entry);

        assert!(!examples.is_empty(), "{}", entry.name);
        for (name, _, example) in examples.into_iter().filter(|(.., example)| example.is_object()) {
            assert_eq!(schema.violations(example), [""; 0], "{name}");
        }
    }
}
