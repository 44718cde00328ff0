//! Injected faults and the other control routes.

use std::sync::{Arc, Mutex};

use reqwest::Method;
use serde_json::{Value, json};
use tas_mcp::sandbox::{
    Exchange, Options,
    seed::{CONFIG_PHONES, RUN_PASSED, TEST_PASSES},
};

use super::client::{Answer, Client};

/// Starts a sandbox and injects `fault`.
async fn with_fault(fault: Value) -> Client {
    let client = Client::demo().await;
    assert_eq!(client.post("/_sandbox/faults", fault).await.status, 200);
    client
}

async fn start(client: &Client) -> Answer {
    client
        .post("/runs", json!({"multiplayer_test_id": TEST_PASSES, "deployment_config_id": CONFIG_PHONES}))
        .await
}

async fn jobs(client: &Client) -> Value {
    client.read("/jobs?status=queued").await["pagination"]["total_count"].clone()
}

#[tokio::test]
async fn a_fault_applies_to_its_operation_as_often_as_requested() {
    let client = with_fault(json!({"operation": "list_runs", "status": 503, "times": 2})).await;
    client.read("/jobs").await;
    let statuses = [
        client.get("/runs").await.status,
        client.get("/runs").await.status,
        client.get("/runs").await.status,
    ];

    assert_eq!(statuses, [503, 503, 200]);
}

#[tokio::test]
async fn an_injected_answer_has_the_requested_headers_and_body() {
    let fault = json!({"status": 429, "headers": {"Retry-After": "7"}, "body": "slow down", "content_type": "text/plain"});
    let client = with_fault(fault).await;
    let answer = client.send(Method::GET, "/runs", None).await.unwrap();
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!((header("retry-after"), header("content-type")), ("7".to_owned(), "text/plain".to_owned()));
    assert_eq!(answer.text().await.unwrap(), "slow down");
}

#[tokio::test]
async fn an_operation_with_a_replaced_answer_is_not_executed() {
    let client = with_fault(json!({"operation": "start_run", "status": 502})).await;
    let before = jobs(&client).await;
    assert_eq!(start(&client).await.status, 502);
    assert_eq!(jobs(&client).await, before);
}

#[tokio::test]
async fn an_operation_can_be_executed_before_its_fault() {
    let client = with_fault(json!({"operation": "start_run", "reset": true, "after": true})).await;
    let before = jobs(&client).await.as_u64();

    assert!(
        client
            .send(
                Method::POST,
                "/runs",
                Some(json!({"instructions": "Go", "deployment_config_id": CONFIG_PHONES}).to_string())
            )
            .await
            .is_err()
    );
    assert_eq!(jobs(&client).await.as_u64(), before.map(|count| count + 1));
}

#[tokio::test]
async fn an_injected_reset_closes_the_connection_without_an_answer() {
    let client = with_fault(json!({"reset": true})).await;
    let failure = client.send(Method::GET, "/runs", None).await.unwrap_err();
    assert!(failure.is_request(), "{failure:?}");
    client.read("/runs").await;
}

#[tokio::test]
async fn a_truncated_answer_is_shorter_than_stated() {
    let client = with_fault(json!({"operation": "get_run", "truncate": true, "after": true})).await;
    let answer = client.send(Method::GET, &format!("/runs/{RUN_PASSED}"), None).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.text().await.is_err());
}

#[tokio::test]
async fn a_cut_answer_states_its_full_length() {
    let client = with_fault(json!({"operation": "get_run", "cut": 10})).await;
    let mut answer = client.send(Method::GET, &format!("/runs/{RUN_PASSED}"), None).await.unwrap();
    assert_eq!(answer.status(), 200);
    assert!(answer.content_length().unwrap() > 10);
    assert_eq!(answer.chunk().await.unwrap().map(|chunk| chunk.len()), Some(10));
    assert!(answer.chunk().await.is_err());
}

#[tokio::test]
async fn a_long_body_is_streamed() {
    let client = with_fault(json!({"bytes": 1_000_000})).await;
    let answer = client.send(Method::GET, "/runs", None).await.unwrap();
    assert_eq!(answer.content_length(), None);
    assert_eq!(answer.bytes().await.unwrap().len(), 1_000_000);
}

#[tokio::test]
async fn a_delay_does_not_change_the_answer() {
    let client = with_fault(json!({"delay_ms": 1})).await;
    assert_eq!(start(&client).await.status, 201);
}

#[tokio::test]
async fn faults_can_be_removed() {
    let client = with_fault(json!({"status": 500, "times": 9})).await;
    client.delete("/_sandbox/faults").await;
    client.read("/runs").await;
}

#[tokio::test]
async fn control_routes_refuse_unknown_fields() {
    let client = Client::demo().await;
    for (path, body, named) in [
        ("/_sandbox/faults", json!({"state": 500}), "state"),
        ("/_sandbox/faults", json!({"operation": "get_rum"}), "get_rum"),
        ("/_sandbox/clock", json!({"advance_seconds": 1, "now": 2}), "now"),
        ("/_sandbox/clock", json!({"advance_seconds": -1}), "advance_seconds"),
    ] {
        let answer = client.post(path, body).await;
        assert_eq!(answer.status, 400);
        assert!(answer.body["error"].as_str().unwrap().contains(named), "{}", answer.body);
    }
}

#[tokio::test]
async fn the_clock_starts_at_a_fixed_moment_and_advances() {
    let client = Client::demo().await;
    let advanced = client.post("/_sandbox/clock", json!({"advance_seconds": 90.5})).await;
    assert_eq!(advanced.body, json!({"now": "2026-03-02T09:16:30.500+00:00"}));
}

#[tokio::test]
async fn the_request_log_contains_no_keys() {
    let client = Client::demo().await;
    client.post("/_sandbox/faults", json!({"reset": true})).await;
    client.send(Method::GET, "/runs?page=0", None).await.unwrap_err();
    client.get("/nothing").await;

    let log = client.read("/_sandbox/requests").await["data"].clone();
    let row = |operation: Value, path: &str, status: Value| json!({"operation": operation, "method": "GET", "path": path, "status": status, "key": "key_demo"});
    let expected = json!([
        row(json!("list_runs"), "/api/v1/runs?page=0", json!(null)),
        row(json!(null), "/api/v1/nothing", json!(404)),
    ]);

    assert_eq!(log, expected);
}

#[tokio::test]
async fn an_observer_sees_answers_of_operations_but_no_injected_answers() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&log);
    let observer = move |exchange: &Exchange| {
        let Exchange { method, path, status, content_type, body } = exchange;
        assert_eq!(content_type.as_deref(), Some("application/json"));
        assert!(serde_json::from_slice::<Value>(body).is_ok());
        notes.lock().unwrap().push(format!("{method} {path} {status}"));
    };

    let client = Client::with(Options::default(), Some(Arc::new(observer))).await;
    client.read("/runs?page=1").await;
    client.post("/_sandbox/faults", json!({"status": 500, "after": true})).await;
    client.get("/runs").await;
    client.post("/_sandbox/faults", json!({"headers": {"x-note": "1"}})).await;
    client.get("/bugs/none").await;
    client.get("/nothing").await;

    assert_eq!(*log.lock().unwrap(), ["GET /api/v1/runs?page=1 200", "GET /api/v1/bugs/none 404"]);
}

#[tokio::test]
async fn a_dropped_sandbox_closes_its_connections() {
    let address = Client::demo().await.sandbox.address();
    // The runtime ends the accepting task at the next opportunity.
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_delayed_request_can_be_released() {
    let client = with_fault(json!({"operation": "list_tests", "delay_ms": 60_000})).await;
    let started = std::time::Instant::now();
    let release = async {
        while client.get("/_sandbox/requests").await.body["data"] == json!([]) {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.post("/_sandbox/release", json!({})).await.status, 200);
    };

    let (answer, ()) = tokio::join!(client.get("/tests"), release);

    assert_eq!(answer.status, 200);
    assert!(started.elapsed() < std::time::Duration::from_secs(30));
}
