//! The protocol revisions over HTTP.

use serde_json::{Value, json};
use tas_mcp::sandbox::keys;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of, modern_metadata, with_headers},
    service::Service,
};

/// Sends a request of a host with a session, with these headers. Returns the answer.
async fn legacy(server: &HttpUnderTest, headers: &[(&str, &str)], method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = with_headers(server.message("/mcp", &message), headers);
    json_of(request.send().await.expect("a response")).await
}

#[tokio::test]
async fn revisions_with_sessions_need_no_session() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let client = json!({"name": "host", "version": "1"});

    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let answer = legacy(&server, &[], "initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], revision);

        let headers = [("mcp-protocol-version", revision), ("x-api-key", keys::DEMO)];
        let listed = legacy(&server, &headers, "tools/list", json!({})).await;
        assert_eq!(listed["result"]["resultType"], Value::Null);
        let call = json!({"name": "list_runs", "arguments": {"page_size": 1}});
        let answer = legacy(&server, &headers, "tools/call", call).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
}

#[tokio::test]
async fn an_error_of_the_newest_revision_has_its_status() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let cases = [
        ("ping", json!({}), 404, -32601),
        ("no/such/method", json!({}), 404, -32601),
        ("resources/subscribe", json!({}), 404, -32601),
        ("tools/call", json!({"name": "no_such_tool"}), 200, -32602),
        ("tasks/get", json!({"taskId": "x"}), 400, -32021),
    ];

    for (method, params, status, code) in cases {
        let response = server.modern("/mcp", &[], method, params).await;
        assert_eq!(response.status().as_u16(), status, "{method}");
        assert_eq!(json_of(response).await["error"]["code"], code, "{method}");
    }

    let unknown = legacy(&server, &[], "no/such/method", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32601);
}

#[tokio::test]
async fn headers_that_differ_from_the_message_are_refused() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let (version, method, name) = ("mcp-protocol-version", "mcp-method", "mcp-name");
    let complete = [(version, "2026-07-28"), (method, "tools/call"), (name, "list_runs")];
    let incomplete = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let newest = modern_metadata();
    let mut unknown = modern_metadata();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");

    let encoded = [complete[0], complete[1], (name, "=?base64?bGlzdF9ydW5z?=")];
    let refused: [(&[_], &Value, Option<i64>); 12] = [
        (&complete, &newest, None),
        (&encoded, &newest, None),
        (&complete[1..], &newest, Some(-32020)),
        (&[complete[0], complete[2]], &newest, Some(-32020)),
        (&complete[..2], &newest, Some(-32020)),
        (&[complete[0], (method, "tools/list"), complete[2]], &newest, Some(-32020)),
        (&[complete[0], complete[1], (name, "get_run")], &newest, Some(-32020)),
        (&[complete[0], complete[1], (name, "=?base64?%%%?=")], &newest, Some(-32020)),
        (&[(version, "2025-11-25"), complete[1], complete[2]], &newest, Some(-32020)),
        (&complete, &json!({}), Some(-32602)),
        (&complete, &incomplete, Some(-32602)),
        (&[(version, "2099-01-01"), complete[1], complete[2]], &unknown, Some(-32022)),
    ];

    for (headers, metadata, expected) in refused {
        let params = json!({"name": "list_runs", "_meta": metadata});
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let request = with_headers(server.post("/mcp"), headers).body(message.to_string());
        let response = request.send().await.expect("a response");

        let status = response.status().as_u16();
        let answer = json_of(response).await;
        assert_eq!(answer["error"]["code"].as_i64(), expected, "{headers:?} {metadata}: {answer}");
        assert_eq!(status, if expected.is_some() { 400 } else { 200 }, "{headers:?} {metadata}");
        assert_eq!(answer["id"], 7);
    }
}
