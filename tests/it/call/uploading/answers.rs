//! Answers of the service that the sandbox does not give.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::build;
use crate::support::{host::Host, stub::Stub};

/// A service that answers every request like this, and a server in front of it.
async fn answering(status: u16, body: Value) -> (Stub, Host) {
    let stub = Stub::start(move |_| std::future::ready((status, body.clone()))).await;
    let host =
        Host::open(&stub.settings(keys::DEMO, &[("TAS_PROJECT_ID", "demo"), ("TAS_TOOLSETS", "builds")]))
            .await;
    (stub, host)
}

/// Success is judged by the status, not by the body (service.md 10.7).
#[tokio::test]
async fn the_status_alone_decides_whether_a_completion_succeeds() {
    for (body, expected) in [
        (json!({"build_id": "b"}), json!({"build_id": "b"})),
        (json!({"status": "queued", "more": [1]}), json!({"status": "queued", "more": [1]})),
        (json!({}), json!({})),
        (json!({"done": true}), json!({"done": true})),
        (Value::Null, json!({})),
        (json!("ok"), json!({})),
    ] {
        let (_stub, mut host) = answering(200, body).await;
        assert_eq!(host.succeed("complete_build_upload", json!({"build_id": "b"})).await, expected);
    }

    let (_stub, mut host) = answering(400, json!({"build_id": "b"})).await;

    assert_eq!(host.fail("complete_build_upload", json!({"build_id": "b"})).await["code"], "rejected");
}

#[tokio::test]
async fn an_initiation_without_a_build_id_is_a_bad_response() {
    let (_stub, mut host) = answering(200, json!({"upload_id": "u"})).await;
    let error = host.fail("initiate_build_upload", build(1)).await;
    assert_eq!(error["code"], "bad_response");
}

#[tokio::test]
async fn only_reading_requests_are_retried() {
    let (stub, mut host) = answering(503, json!({"error": "busy"})).await;
    let calls = [
        ("initiate_build_upload", build(1), 1),
        ("complete_build_upload", json!({"build_id": "b"}), 1),
        ("cancel_build_upload", json!({"build_id": "b", "object_key": "o"}), 1),
        ("get_build_upload_parts", json!({"upload_id": "u", "object_key": "o", "part_numbers": [1]}), 4),
    ];

    let mut sent = 0;
    for (tool, arguments, requests) in calls {
        let error = host.fail(tool, arguments).await;
        assert_eq!(error["code"], "service_unavailable");
        assert_eq!(stub.requests().len() - sent, requests, "{tool}");
        sent = stub.requests().len();
        let is_in_doubt =
            error["hint"].as_str().is_some_and(|hint| hint.starts_with("it may have happened: "));
        assert_eq!(is_in_doubt, requests == 1, "{tool}: {error}");
    }
}

#[tokio::test]
async fn part_numbers_and_keys_are_one_encoded_value_each() {
    let (stub, mut host) = answering(200, json!({"upload_urls": []})).await;
    let arguments = json!({"upload_id": "u&x=1", "object_key": "demo/a b.apk", "part_numbers": ["3", 1]});
    host.succeed("get_build_upload_parts", arguments).await;
    let expected = "GET /project/demo/builds/upload/parts?upload_id=u%26x%3D1&object_key=demo%2Fa%20b.apk&part_numbers=3%2C1";
    assert_eq!(stub.requests(), [expected]);
}
