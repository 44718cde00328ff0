//! What the tools make of answers that the sandbox does not give.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use super::build;
use crate::support::{host::Host, stub::Stub};

/// A service that answers every request in one way, and a server in front of it.
async fn answering(status: u16, body: Value) -> (Stub, Host) {
    let stub = Stub::start(move |_| std::future::ready((status, body.clone()))).await;
    let host = Host::open(&stub.settings(keys::DEMO, &[("TAS_PROJECT_ID", "demo")])).await;
    (stub, host)
}

/// Success is judged by the status, not by the body (supplement 10.7).
#[tokio::test]
async fn a_completion_succeeds_by_its_status() {
    for (body, shown) in [
        (json!({"build_id": "b"}), json!({"build_id": "b"})),
        (json!({"status": "queued", "more": [1]}), json!({"status": "queued", "more": [1]})),
        (json!({}), json!({})),
        (json!({"done": true}), json!({"done": true})),
        (Value::Null, json!({})),
        (json!("ok"), json!({})),
    ] {
        let (_stub, mut host) = answering(200, body).await;
        assert_eq!(host.succeed("complete_build_upload", json!({"build_id": "b"})).await, shown);
    }

    let (_stub, mut host) = answering(400, json!({"build_id": "b"})).await;

    assert_eq!(host.fail("complete_build_upload", json!({"build_id": "b"})).await["code"], "rejected");
}

#[tokio::test]
async fn an_initiation_without_a_build_is_no_answer() {
    let (_stub, mut host) = answering(200, json!({"upload_id": "u"})).await;
    let error = host.fail("initiate_build_upload", build(1)).await;
    assert_eq!(error["code"], "bad_response");
}

#[tokio::test]
async fn what_writes_is_sent_once_and_what_reads_again() {
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
        let doubt = error["hint"].as_str().is_some_and(|hint| hint.starts_with("it may have happened: "));
        assert_eq!(doubt, requests == 1, "{tool}: {error}");
    }
}

#[tokio::test]
async fn part_numbers_and_keys_travel_as_one_value_each() {
    let (stub, mut host) = answering(200, json!({"upload_urls": []})).await;
    let arguments = json!({"upload_id": "u&x=1", "object_key": "demo/a b.apk", "part_numbers": ["3", 1]});
    host.succeed("get_build_upload_parts", arguments).await;
    let expected = "GET /project/demo/builds/upload/parts?upload_id=u%26x%3D1&object_key=demo%2Fa%20b.apk&part_numbers=3%2C1";
    assert_eq!(stub.requests(), [expected]);
}
