//! Values of another type than the stated one, whose meaning is clear. Some hosts send them.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{host::Host, peer::Peer};

/// An answer that fits every tool used here.
const ANSWER: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\": [], \"ok\": true}";

/// The request that a call sends: its first line without version, and its body.
async fn sent_request(tool: &str, arguments: Value) -> (String, Value) {
    let mut peer = Peer::answering(ANSWER).await;
    let mut host = Host::open(&peer.settings(keys::DEMO, &[])).await;
    host.succeed(tool, arguments).await;

    let request = peer.requests().pop().expect("a request");
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1");

    (line.replace(" /api/v1", " "), serde_json::from_str(body).unwrap_or_default())
}

#[tokio::test]
async fn values_of_a_query_are_coerced_to_their_type() {
    for (arguments, query) in [
        (json!({"page": "3"}), "page=3"),
        (json!({"page": 3.0}), "page=3"),
        (json!({"page": " 3 "}), "page=3"),
        (json!({"bugs": "true"}), "bugs=true"),
        (json!({"bugs": "TRUE"}), "bugs=true"),
        (json!({"state": "COMPLETED"}), "state=completed"),
        (json!({"tags": "smoke"}), "tags=smoke"),
        (json!({"tags": "[\"a\", \"b\"]"}), "tags=a%2Cb"),
        (json!({"tags": ["1", 2]}), "tags=1%2C2"),
        (json!({"tags": 7}), "tags=7"),
        (json!({"test_type": 5}), "test_type=5"),
        (json!({"page": null, "tags": null, "page_size": 7}), "page_size=7"),
    ] {
        let (line, _) = sent_request("list_runs", arguments.clone()).await;
        assert_eq!(line, format!("GET /runs?{query}"), "{arguments}");
    }

    let line = async |arguments: Value| sent_request("list_runs", arguments).await.0;
    assert_eq!(line(json!({"page": null, "project_id": null})).await, "GET /runs");
    assert_eq!(line(json!({"project_id": "undefined"})).await, "GET /runs");
    assert_eq!(line(json!({"project_id": 7})).await, "GET /project/7/runs");
}

#[tokio::test]
async fn values_of_a_body_are_coerced_to_their_type() {
    let base =
        json!({"multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS});
    let with = |name: &str, value: Value| {
        let mut arguments = base.clone();
        arguments[name] = value;
        arguments
    };

    for (name, given, expected) in [
        ("retries", json!("2"), json!(2)),
        ("render_templates", json!("False"), json!(false)),
        ("additional_tags", json!("nightly"), json!(["nightly"])),
        ("options", json!("{\"performance_monitoring\": \"true\"}"), json!({"performance_monitoring": true})),
        ("options", json!({"mobile_geolocation": null}), json!({})),
        (
            "player_deployment_configs",
            json!(format!(
                "{{\"1\": {{\"deployment_config_id\": \"{}\", \"build_id\": null}}}}",
                seed::CONFIG_IPHONE
            )),
            json!({"1": {"deployment_config_id": seed::CONFIG_IPHONE}}),
        ),
    ] {
        let (line, body) = sent_request("start_run", with(name, given)).await;
        assert_eq!((line.as_str(), body), ("POST /runs", with(name, expected)), "{name}");
    }

    let (_, body) = sent_request("start_run", with("name", Value::Null)).await;

    assert_eq!(body, base, "null counts as absent");

    let (_, body) = sent_request("stop_runs", json!({"job_ids": seed::JOB_RUNNING, "confirm": "true"})).await;

    assert_eq!(body, json!({"job_ids": [seed::JOB_RUNNING]}));
}

#[tokio::test]
async fn free_data_is_sent_unchanged() {
    let data = json!({"count": "3", "gone": null, "list": "[1]"});
    let arguments = json!({
        "multiplayer_test_id": seed::TEST_PASSES, "deployment_config_id": seed::CONFIG_WINDOWS,
        "render_templates": true, "template_data": data,
    });
    let (_, body) = sent_request("start_run", arguments).await;

    assert_eq!(body["template_data"], data);
}
