//! The check of answers against the contract finds violations.

use serde_json::{Value, json};

use crate::support::{
    contract::{Contract, Operation, resolved, standalone},
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
fn an_example_path_finds_its_own_operation() {
    let contract = Contract::load();
    for operation in contract.operations() {
        let found = contract.find(&operation.method, &example_path(operation));
        assert_eq!(found.map(|found| found.id), Some(operation.id));
    }
}

#[test]
fn paths_with_and_without_project_are_the_same_operation() {
    let contract = Contract::load();
    let found = |method, path| contract.find(method, path).map(|found| found.id);

    assert_eq!(found("GET", "/api/v1/jobs/x"), Some("get_job"));
    assert_eq!(found("GET", "/api/v1/project/demo/jobs/x"), Some("get_job"));
    assert_eq!(found("POST", "/api/v1/runs/stop"), Some("stop_runs_unprefixed"));
    assert_eq!(found("GET", "/api/v1/runs/stop"), Some("get_run_unprefixed"));
    assert_eq!(found("GET", "/runs/x-1/artifacts/a/b.log"), Some("get_run_artifact"));
    assert_eq!(found("GET", "/api/v1/runs/x-1/artifacts"), None);
    assert_eq!(found("GET", "/api/v1/jobs/"), None);
    assert_eq!(found("DELETE", "/api/v1/jobs/x"), None);
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

#[test]
fn a_wrong_content_type_is_a_violation() {
    let body = json!({"job_id": "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "status": "QUEUED"}).to_string();
    let count = |kind, body: &str| {
        Contract::load().violations("GET", "/api/v1/jobs/x", 200, kind, body.as_bytes()).len()
    };

    assert_eq!(count(Some("application/json; charset=utf-8"), &body), 0);
    assert_eq!(count(Some("text/plain"), &body), 1);
    assert_eq!(count(None, &body), 1);
    assert_eq!(count(JSON, ""), 1);
    assert_eq!(count(JSON, "<html>"), 1);
}

#[test]
fn a_body_may_be_missing_only_where_the_contract_allows_it() {
    let count = |method, path, status, body: &[u8]| {
        Contract::load().violations(method, path, status, None, body).len()
    };
    assert_eq!(count("GET", "/api/v1/jobs/x", 429, b""), 0);
    assert_eq!(count("GET", "/api/v1/minions/download", 307, b""), 0);
    assert_eq!(count("GET", "/api/v1/minions/download", 307, b"{}"), 1);
}

#[test]
fn an_unknown_path_answers_404_or_405() {
    assert_eq!(violations("GET", "/api/v1/nothing", 404, &json!({})).len(), 0);
    assert_eq!(violations("DELETE", "/api/v1/runs", 405, &json!({})).len(), 0);
    assert_eq!(violations("GET", "/api/v1/nothing", 200, &json!({})).len(), 1);
}

#[test]
fn references_lead_to_what_they_name() {
    let operation = Contract::load().operation("get_test_plan");
    let (_, answer) = operation.successes().next().unwrap();

    assert_eq!(
        resolved(answer.schema().unwrap())["required"],
        json!(["id", "project_id", "name", "test_items"])
    );
    assert_eq!(operation.path_in_project(), "/test-plans/{testPlanId}");
    assert_eq!(operation.permission, "project:read-runs");
}
