//! Requests that are not served.

use serde_json::json;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest, json_of, with_headers},
    service::Service,
};

/// A request that lists the tools.
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

async fn start(more: &[(&str, &str)]) -> (Service, HttpUnderTest) {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &[&FREE_PORTS, more].concat()));
    (service, server)
}

#[tokio::test]
async fn a_request_that_cannot_be_served_has_its_status() {
    let (_service, server) = start(&[("TAS_HTTP_MAX_BODY", "2048")]).await;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#, "x".repeat(3_000));
    let batch = format!("[{LIST}]");
    let cases: [(&str, &str, &[_], &str, u16, i64); 14] = [
        ("POST", "/mcp", &[("content-type", "application/json; charset=utf-8")], LIST, 200, 0),
        ("GET", "/mcp", &[], "", 405, -32600),
        ("DELETE", "/mcp", &[], "", 405, -32600),
        ("PUT", "/mcp", &[("content-type", "application/json")], LIST, 405, -32600),
        ("POST", "/", &[("content-type", "application/json")], LIST, 404, -32600),
        ("POST", "/mcp/demo/other", &[("content-type", "application/json")], LIST, 404, -32600),
        ("POST", "/mcp", &[("content-type", "text/plain")], LIST, 415, -32600),
        ("POST", "/mcp", &[], LIST, 415, -32600),
        ("POST", "/mcp", &[("content-type", "application/json")], "{", 400, -32700),
        ("POST", "/mcp", &[("content-type", "application/json")], "", 400, -32700),
        ("POST", "/mcp", &[("content-type", "application/json")], &batch, 400, -32600),
        ("POST", "/mcp", &[("content-type", "application/json")], &long, 413, -32600),
        ("POST", "/mcp?api_key=svc_abcdef", &[("content-type", "application/json")], LIST, 400, -32600),
        ("POST", "/mcp/x/leen", &[("content-type", "application/json")], LIST, 400, -32600),
    ];

    for (method, path, headers, body, status, code) in cases {
        let request = with_headers(server.request(method, path), headers).body(body.to_owned());
        let response = request.send().await.expect("a response");

        let case = format!("{method} {path} {headers:?} {}", &body[..body.len().min(40)]);
        assert_eq!(response.status().as_u16(), status, "{case}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{case}");
        let id = response.headers()["x-request-id"].to_str().expect("text").to_owned();
        let error = &json_of(response).await["error"];
        assert_eq!(error["code"].as_i64().unwrap_or_default(), code, "{case}");
        assert!(code == 0 || error["data"]["request_id"] == id, "{case}: {error}");
    }
}

#[tokio::test]
async fn an_error_of_a_method_has_the_id_of_its_request() {
    let (_service, server) = start(&[]).await;
    for (message, code) in [
        (json!({"jsonrpc": "2.0", "id": 1, "method": "no/such"}), -32601),
        (json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "none"}}), -32602),
    ] {
        let request = server.post("/mcp").header("x-request-id", "proxy-1").body(message.to_string());
        let error = &json_of(request.send().await.expect("a response")).await["error"];
        assert_eq!(
            (&error["code"], &error["data"]["request_id"]),
            (&json!(code), &json!("proxy-1")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_notification_is_accepted_and_a_response_is_not() {
    let (_service, server) = start(&[]).await;
    for (message, status) in [
        (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), 202),
        (json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}), 202),
        (json!({"jsonrpc": "2.0", "id": 1, "result": {}}), 400),
    ] {
        let response = server.post("/mcp").body(message.to_string()).send().await.expect("a response");
        assert_eq!(response.status().as_u16(), status, "{message}");
    }
}

#[tokio::test]
async fn unknown_hosts_and_origins_are_refused_on_every_path() {
    let variables =
        [("TAS_HTTP_ALLOWED_HOSTS", "tas.internal"), ("TAS_HTTP_ALLOWED_ORIGINS", "https://ide.example.com")];
    let (_service, server) = start(&variables).await;
    let cases = [
        ("host", "tas.internal:8900", 200),
        ("host", "attacker.example", 403),
        ("origin", "https://ide.example.com", 200),
        ("origin", "http://localhost:6274", 200),
        ("origin", "https://attacker.example", 403),
        ("origin", "null", 403),
    ];

    for (header, value, expected) in cases {
        for path in ["/mcp", "/mcp/demo", "/nothing"] {
            let request = server.post(path).header(header, value).body(LIST);
            let status = request.send().await.expect("a response").status().as_u16();
            let expected = if path == "/nothing" && expected == 200 { 404 } else { expected };
            assert_eq!(status, expected, "{header}: {value} {path}");
        }
    }
}

#[tokio::test]
async fn web_pages_of_known_origins_may_send_credentials() {
    let (_service, server) = start(&[]).await;
    let origin = ("origin", "http://localhost:6274");
    let preflight =
        with_headers(server.request("OPTIONS", "/mcp"), &[origin]).send().await.expect("a response");

    assert_eq!(preflight.status().as_u16(), 204);
    assert_eq!(preflight.headers()["access-control-allow-origin"], origin.1);
    let allowed =
        preflight.headers()["access-control-allow-headers"].to_str().expect("text").to_ascii_lowercase();
    for header in
        ["authorization", "x-api-key", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"]
    {
        assert!(allowed.split(',').any(|name| name.trim() == header), "{header}: {allowed}");
    }

    let refused = with_headers(server.request("GET", "/mcp"), &[origin]).send().await.expect("a response");
    assert_eq!(refused.headers()["access-control-allow-origin"], origin.1, "a page reads why it is refused");
    let foreign = with_headers(server.request("OPTIONS", "/mcp"), &[("origin", "https://a.example")]);
    assert_eq!(foreign.send().await.expect("a response").status().as_u16(), 403);
}
