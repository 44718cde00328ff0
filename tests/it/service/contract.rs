//! The examples of the contract keep its schemas, and the check of answers finds violations.

use serde_json::{Value, json};

use crate::support::contract::{self, OPERATIONS};

#[test]
fn every_example_keeps_the_contract() {
    let mut count = 0;

    for operation in OPERATIONS.iter() {
        assert_eq!(operation.body.is_some(), !operation.requests.is_empty(), "{}", operation.id);
        let request = operation.body.map(|body| (body, operation.requests.clone()));
        let answers = operation.answers.values();
        let answers = answers.filter_map(|answer| Some((answer.schema()?, answer.examples())));

        for (schema, examples) in answers.chain(request) {
            let validator = contract::validator(schema);
            for (name, example) in examples {
                assert_eq!(validator.violations(example), [""; 0], "{} {name}", operation.id);
                count += 1;
            }
        }
    }

    assert!(count > 270, "{count} examples");
}

#[test]
fn a_wrong_answer_is_a_violation() {
    let path = "/api/v1/project/demo/jobs/0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d?page=0";
    let id = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d";
    let count = |status, body: &Value| {
        let body = body.to_string();
        contract::violations("GET", path, status, Some("application/json"), body.as_bytes()).len()
    };

    assert_eq!(count(200, &json!({"job_id": id, "status": "QUEUED"})), 0);
    assert_eq!(count(200, &json!({"job_id": id, "status": "QUEUED", "unknown": true})), 0);
    assert_eq!(count(200, &json!({"job_id": id})), 1, "a required field is missing");
    assert_eq!(count(200, &json!({"job_id": "x", "status": 1})), 2, "format and type");
    assert_eq!(count(200, &json!({"job_id": id, "status": "", "runs": [{}]})), 1, "nested");
    assert_eq!(count(418, &json!({})), 1, "the status is not documented");
    assert_eq!(count(404, &json!({})), 1, "no error body");
}
