//! The check of answers against the contract finds violations.

use serde_json::{Value, json};

use crate::support::{
    contract::{Contract, Operation, standalone},
    schema::Validator,
};

const JSON: Option<&str> = Some("application/json");

/// The path with the examples of its parameters; placeholders are `any` where the document has none.
fn example_path(operation: &Operation) -> String {
    let segment = |name: &'static str| {
        let Some(name) = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')) else { return name };
        let parameter = operation.parameters.iter().find(|parameter| parameter["name"] == name);
        parameter.and_then(|parameter| parameter["example"].as_str()).unwrap_or("any")
    };
    operation.path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

fn violations(method: &str, path: &str, status: u16, body: &Value) -> Vec<String> {
    Contract::load().violations(method, path, status, JSON, body.to_string().as_bytes())
}

#[test]
fn every_answer_example_keeps_the_contract() {
    let contract = Contract::load();
    let mut examples = 0;

    for operation in contract.operations() {
        for (status, named) in contract.examples(operation.id).answers {
            for example in named.values() {
                let found = violations(&operation.method, &example_path(operation), status, example);
                assert_eq!(found, Vec::<String>::new(), "{}", operation.id);
                examples += 1;
            }
        }
    }

    assert!(examples > 250, "{examples} examples");
}

#[test]
fn every_request_example_keeps_the_contract() {
    let contract = Contract::load();
    for operation in contract.operations() {
        let Some(body) = operation.body else { continue };
        let validator = Validator::new(&standalone(body));
        let requests = contract.examples(operation.id).requests;
        assert!(!requests.is_empty(), "{}", operation.id);
        for (name, request) in requests {
            assert!(validator.is_valid(request), "{} {name}", operation.id);
        }
    }
}

#[test]
fn a_wrong_answer_is_a_violation() {
    let path = "/api/v1/project/demo/jobs/0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d?page=0";
    let id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
    let count = |status, body: &Value| violations("GET", path, status, body).len();

    assert_eq!(count(200, &json!({"job_id": id, "status": "QUEUED"})), 0);
    assert_eq!(count(200, &json!({"job_id": id, "status": "QUEUED", "unknown": true})), 0);
    assert_eq!(count(200, &json!({"job_id": id})), 1, "a required field is missing");
    assert_eq!(count(200, &json!({"job_id": "x", "status": 1})), 2, "format and type");
    assert_eq!(count(200, &json!({"job_id": id, "status": "", "runs": [{}]})), 1, "nested");
    assert_eq!(count(418, &json!({})), 1, "the status is not documented");
    assert_eq!(count(404, &json!({})), 1, "no error body");
}
