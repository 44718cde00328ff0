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
async fn malformed_parameters_of_a_known_method_are_invalid_params() {
    let mut host = Host::open(&settings(&[])).await;
    for params in [json!({"name": 7}), json!({}), json!({"name": "get_run", "arguments": "["})] {
        let answer = host.request("tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
}

#[tokio::test]
async fn arguments_may_be_the_text_of_an_object() {
    let Session { service: _service, mut host, .. } = Fixture::new().open().await;
    let arguments = json!({"page_size": 1}).to_string();
    let answer = host.request("tools/call", json!({"name": "list_tests", "arguments": arguments})).await;
    let tests = &answer["result"]["structuredContent"]["data"];
    assert_eq!(tests.as_array().map(Vec::len), Some(1), "{answer}");
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
        ("prompts/get", json!({"name": "triage_run", "arguments": {"project_id": long}})),
        ("prompts/get", json!({"name": "triage_run", "arguments": unknown_arguments})),
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
async fn an_unknown_method_is_not_found_and_malformed_parameters_are_explained() {
    let mut host = Host::open(&settings(&[])).await;
    for (method, code, message) in [
        ("tools/destroy", -32601, "unknown method `tools/destroy`"),
        ("prompts/get", -32602, "invalid params for `prompts/get`: missing field `name`"),
        ("resources/subscribe", -32602, "invalid params for `resources/subscribe`: missing field `uri`"),
    ] {
        let error = host.request(method, json!({})).await["error"].take();
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
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
async fn an_invalid_line_is_answered_and_the_session_continues() {
    // A recursive parser would overflow its stack.
    let deep = "[".repeat(100_000);
    let lines = [
        ("hello", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1", -32700),
        ("\u{0}", -32700),
        (deep.as_str(), -32700),
        ("[]", -32600),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        ("42", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 3, \"method\": \"ping\"}", -32600),
        ("{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"ping\"}", -32600),
    ];

    let mut host = Host::open(&settings(&[])).await;
    for (line, code) in lines {
        host.send_line(line).await;
        let answer = host.receive().await;
        assert_eq!(answer["error"]["code"], code, "{line:.60}: {answer}");
    }

    host.send_line("").await;
    host.send_line("   \r").await;

    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn an_invalid_request_is_answered_with_its_id() {
    let mut host = Host::open(&settings(&[])).await;
    host.send_line("{\"jsonrpc\": \"2.0\", \"id\": 77}").await;

    let answer = host.receive().await;

    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32600)));

    host.send_line("{\"jsonrpc\": \"2.0\", \"id\": \"a\", \"method\": \"tools/call\", \"params\": [1]}")
        .await;

    assert_eq!(host.receive().await["id"], "a");

    host.send_line("oops").await;

    assert_eq!(host.receive().await.get("id"), None::<&Value>);
}

#[tokio::test]
async fn an_invalid_response_is_not_answered() {
    let mut host = Host::open(&settings(&[])).await;
    for line in [
        r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": "none"}}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "error": null}"#,
        r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}, "result": {}}"#,
        r#"{"id": 1, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "id": {}, "result": {}}"#,
        r#"{"jsonrpc": "2.0", "result": 7}"#,
    ] {
        host.send_line(line).await;

        // The next message must be the answer to `ping`.
        let ping = host.start("ping", json!({})).await;
        let answer = host.receive().await;

        assert_eq!((&answer["id"], &answer["result"]), (&json!(ping), &json!({})), "{line}: {answer}");
    }
}

#[tokio::test]
async fn a_line_longer_than_16_mib_is_refused() {
    let mut host = Host::open(&settings(&[])).await;
    let long = format!("{{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"{}\"}}", "x".repeat(17 << 20));
    host.send_line(&long).await;

    let answer = host.receive().await;

    assert_eq!(answer["error"]["code"], -32600);
    assert!(answer["error"]["message"].as_str().expect("a message").contains("16 MiB"));
    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn a_second_initialize_does_not_end_the_session() {
    let mut host = Host::open(&settings(&[])).await;
    host.initialize("2025-06-18").await;
    assert_eq!(host.request("ping", json!({})).await["result"], json!({}));
}
