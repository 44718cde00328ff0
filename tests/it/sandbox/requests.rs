//! Answers to requests that break the rules of HTTP or of the service.

use reqwest::Method;
use serde_json::json;
use tas_mcp::sandbox::seed::{CONFIG_PHONES, TEST_PASSES};

use super::client::{Client, error};

#[tokio::test]
async fn a_body_must_be_a_json_object() {
    let client = Client::demo().await;
    for body in ["", "{", "[]", "null", "{\"instructions\": }"] {
        let answer = client.send(Method::POST, "/runs", Some(body.to_owned())).await.unwrap();
        assert_eq!(answer.status(), 400, "{body}");
    }
}

#[tokio::test]
async fn values_of_a_body_are_not_coerced() {
    let body =
        json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES, "retries": "1"});
    let answer = Client::demo().await.post("/runs", body).await;
    assert_eq!(answer, error(400, "invalid request: retries: must be an integer, got a string"));
}

#[tokio::test]
async fn unknown_fields_are_refused_by_the_export_only() {
    let client = Client::demo().await;
    let start =
        json!({"instructions": "Look around", "deployment_config_id": CONFIG_PHONES, "colour": "red"});
    assert_eq!(client.post("/runs", start).await.status, 201);
    let export = json!({"multiplayer_run_id": "abc", "colour": "red"});
    assert_eq!(client.post("/runs/export/tmsys", export).await.status, 400);
}

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_refused() {
    let client = Client::demo().await;
    for path in ["/jobs/nonsense", "/test-plans/nonsense", "/runs?state=dancing", "/jobs?status=dancing"] {
        assert_eq!(client.get(path).await.status, 400, "{path}");
    }
    assert_eq!(client.post("/runs/stop", json!({"job_ids": ["nonsense"]})).await.status, 400);
}

#[tokio::test]
async fn uuids_are_equal_in_either_letter_case() {
    let path = format!("/runs?multiplayer_test_id={}", TEST_PASSES.to_ascii_uppercase());
    assert_ne!(Client::demo().await.read(&path).await["pagination"]["total_count"], 0);
}

#[tokio::test]
async fn unknown_routes_and_methods_are_refused() {
    let client = Client::demo().await;
    assert_eq!(client.get("/nothing").await, error(404, "route not found"));
    assert_eq!(client.delete("/runs").await, error(405, "method not allowed"));
}
