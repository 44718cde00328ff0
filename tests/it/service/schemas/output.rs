//! Output schemas stay true for every answer that the document allows: hosts drop an answer that breaks them.

use serde_json::{Value, json};
use tas_mcp::service::{
    catalog::{OPERATIONS, OperationEntry},
    operation::ResponseKind,
};

use super::mutants::mutants;
use crate::support::contract::{Contract, resolved, standalone};

fn output(entry: &OperationEntry) -> Value {
    Value::Object(entry.output_schema().as_ref().clone())
}

/// The schemas of which an answer keeps one.
fn alternatives(schema: &'static Value) -> Vec<&'static Value> {
    resolved(schema)["anyOf"].as_array().map_or_else(|| vec![schema], |all| all.iter().collect())
}

/// Every answer with a status of success in the document, with its schema.
fn examples(entry: &OperationEntry) -> Vec<(String, &'static Value, &'static Value)> {
    let contract = Contract::load();
    let examples = contract.examples(entry.name).answers;
    let mut found = Vec::new();

    for (status, answer) in contract.operation(entry.name).successes() {
        // Files are raw bytes.
        let Some(schema) = answer.schema() else { continue };
        for (name, example) in &examples[&status] {
            found.push((format!("{} {status} {name}", entry.name), schema, *example));
        }
    }

    found
}

#[test]
fn answers_are_objects() {
    for entry in &OPERATIONS {
        assert_eq!(entry.output_schema()["type"], "object", "{}", entry.name);
        assert!(jsonschema::meta::is_valid(&output(entry)), "{}", entry.name);
    }
}

#[test]
fn answers_use_only_what_every_client_takes() {
    const KEYWORDS: [&str; 7] =
        ["type", "description", "properties", "required", "additionalProperties", "items", "default"];
    for entry in &OPERATIONS {
        super::input::walk(entry.name, &output(entry), &mut |place, schema| {
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
fn essential_fields_are_required_by_the_contract_and_nothing_else_is() {
    for entry in &OPERATIONS {
        let output = output(entry);
        super::input::walk(entry.name, &output, &mut |place, schema| {
            let required = schema.get("required").map_or(json!([]), Clone::clone);
            let essential = if place == entry.name { json!(entry.required_fields) } else { json!([]) };
            assert_eq!(required, essential, "{place}");
        });

        for field in entry.required_fields {
            assert!(output["properties"].get(field).is_some(), "{}: {field}", entry.name);
            for (status, answer) in Contract::load().operation(entry.name).successes() {
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
                for (field, _) in crate::support::contract::members(&resolved(one)["properties"]) {
                    assert!(output(entry)["properties"].get(field).is_some(), "{name}: {field}");
                }
            }
        }
    }
}

#[test]
fn every_answer_that_the_contract_allows_keeps_the_output_schema() {
    let mut judged = 0;
    let is_json = |entry: &&OperationEntry| {
        matches!(entry.request.response_kind, ResponseKind::Json | ResponseKind::Status)
    };

    for entry in OPERATIONS.iter().filter(is_json) {
        let ours = jsonschema::draft202012::new(&output(entry)).unwrap();
        let examples = examples(entry);

        assert!(!examples.is_empty(), "{}", entry.name);
        for (name, schema, example) in examples {
            let theirs = jsonschema::draft202012::new(&standalone(schema)).unwrap();
            for answer in std::iter::once(example.clone()).chain(mutants(schema, example)) {
                let broken =
                    |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
                if !answer.is_object() {
                    continue;
                }

                let not_allowed: Vec<_> = theirs.iter_errors(&answer).map(broken).collect();

                assert_eq!(not_allowed, [""; 0], "{name}: the mutant itself breaks the contract");

                let refused: Vec<_> = ours.iter_errors(&answer).map(broken).collect();

                assert_eq!(refused, [""; 0], "{name}");

                judged += 1;
            }
        }
    }

    assert!(judged > 3_000, "{judged} answers");
}
