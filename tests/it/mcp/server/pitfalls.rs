//! Input that other servers on standard input are known to fail on.

use serde_json::{Value, json};

use super::modern;
use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::settings,
};

#[tokio::test]
async fn messages_other_than_requests_are_skipped_before_the_session() {
    let mut host = Host::connect(&settings(&[]));
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}))
        .await;
    host.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}})).await;
    host.request("server/discover", json!({"_meta": modern("2026-07-28")})).await;
    host.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;

    assert_eq!(host.initialize("2025-11-25").await["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn an_unknown_method_and_malformed_parameters_have_different_codes() {
    let mut host = Host::open(&settings(&[])).await;
    for (method, params, code) in [
        ("tools/destroy", json!({}), -32601),
        ("resources/subscribe", json!({}), -32601),
        ("prompts/get", json!({}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({"name": "get_run", "arguments": "["}), -32602),
        ("resources/read", json!({}), -32602),
        ("resources/read", json!({"uri": 7}), -32602),
        ("completion/complete", json!({"ref": {"type": "ref/what"}}), -32602),
    ] {
        let answer = host.request(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
}

#[tokio::test]
async fn arguments_that_hosts_add_are_ignored_and_others_are_violations() {
    let Session { service, mut host, .. } = Fixture::new().open().await;
    let arguments = json!({"page_size": 1, "toolCallId": "c", "_sessionID": "s", "_meta": {}});
    host.succeed("list_tests", arguments).await;
    assert_eq!(service.requests().await.len(), 1);

    let error = host.fail("list_tests", json!({"sessionID": "s", "tool_call_id": "c"})).await;
    let paths: Vec<_> =
        error["details"]["violations"].as_array().expect("a list").iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["sessionID", "tool_call_id"]);
}

#[tokio::test]
async fn an_error_repeats_only_the_beginning_of_an_argument() {
    let mut host = Host::open(&settings(&[("TAS_PROJECT_ID", "demo")])).await;
    let long = "x".repeat(1_000_000);
    let number: Value = serde_json::from_str(&"9".repeat(1_000_000)).expect("a number");
    let (unknown, record) = (format!("tas://{long}"), format!("tas://projects/demo/runs/{long}"));
    let unknown_arguments: serde_json::Map<_, _> =
        (0..10_000).map(|index| (format!("argument_{index}"), json!(""))).collect();

    for (method, params) in [
        ("resources/read", json!({"uri": unknown})),
        ("resources/read", json!({"uri": record})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/resource", "uri": unknown}, "argument": {"name": "a", "value": ""}}),
        ),
        ("prompts/get", json!({"name": "triage-run", "arguments": {"project_id": long}})),
        ("prompts/get", json!({"name": "triage-run", "arguments": unknown_arguments})),
        ("tools/call", json!({"name": "list_runs", "arguments": {"page_size": number}})),
        ("tools/call", json!({"name": "list_runs", "arguments": {"project_id": long}})),
        ("tools/call", json!({"name": "list_bugs", "arguments": {"severity": long}})),
    ] {
        let answer = host.request(method, params).await;
        let is_refused = !answer["error"].is_null() || answer["result"]["isError"] == true;
        assert!(is_refused && answer.to_string().len() < 5_000, "{method}: {}", answer.to_string().len());
    }
}

#[tokio::test]
async fn arguments_may_be_null_or_absent() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    for params in [json!({"name": "list_tests", "arguments": null}), json!({"name": "list_tests"})] {
        let answer = host.request("tools/call", params).await;
        assert_ne!(answer["result"]["isError"], true, "{answer}");
    }
}

#[tokio::test]
async fn a_second_initialize_does_not_end_the_session() {
    let mut host = Host::open(&settings(&[])).await;
    host.initialize("2025-06-18").await;
    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn what_is_no_message_does_not_end_the_session() {
    // A recursive parser would overflow its stack.
    let deep = "[".repeat(100_000);
    let mut host = Host::open(&settings(&[])).await;
    for line in ["hello", "{\"jsonrpc\": \"2.0\", \"id\": 1", "\u{0}", &deep, "", "   ", "\r"] {
        host.send_line(line).await;
        assert_eq!(host.request("ping", json!({})).await["result"], json!({}), "{line:.60}");
    }
    for line in ["[]", "42", r#"{"jsonrpc": "2.0", "id": 77}"#] {
        host.send_line(line).await;
        assert_eq!(host.receive().await["error"]["code"], -32600, "{line}");
    }
}

#[tokio::test]
async fn lines_may_end_with_a_carriage_return_and_begin_with_a_byte_order_mark() {
    let mut host = Host::open(&settings(&[])).await;
    for line in [
        "{\"jsonrpc\": \"2.0\", \"id\": 71, \"method\": \"ping\"}\r",
        "\u{feff}{\"jsonrpc\": \"2.0\", \"id\": 71, \"method\": \"ping\"}",
        "{\"jsonrpc\": \"2.0\", \"id\": 71, \"method\": \"ping\", \"params\": null}",
        "{\"jsonrpc\": \"2.0\", \"id\": 71, \"method\": \"tools/list\", \"params\": null}",
    ] {
        host.send_line(line).await;
        let answer = host.receive().await;
        assert!(answer["id"] == 71 && answer["result"].is_object(), "{line:?}: {answer}");
    }
}
