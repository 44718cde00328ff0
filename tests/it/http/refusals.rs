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
    let (_service, server) = start(&[]).await;
    let json = ("content-type", "application/json");
    let (batch, padded) = (format!("[{LIST}]"), format!("{LIST}{}", " ".repeat(64 << 10)));
    let two_keys = [json, ("x-api-key", "svc_aaaaaa"), ("x-api-key", "svc_bbbbbb")];
    let cases: [(&str, &str, &[_], &str, u16); 16] = [
        ("POST", "/mcp", &[("content-type", "application/json; charset=utf-8")], LIST, 200),
        ("GET", "/mcp", &[], "", 405),
        ("DELETE", "/mcp", &[], "", 405),
        ("PUT", "/mcp", &[json], LIST, 405),
        ("POST", "/", &[json], LIST, 404),
        // Paths of the admin listener, and the metadata of an issuer that is not configured.
        ("GET", "/healthz", &[], "", 404),
        ("GET", "/readyz", &[], "", 404),
        ("GET", "/metrics", &[], "", 404),
        ("GET", "/.well-known/oauth-protected-resource/mcp", &[], "", 404),
        ("POST", "/mcp", &[("content-type", "text/plain")], LIST, 415),
        ("POST", "/mcp", &[], LIST, 415),
        ("POST", "/mcp", &[json], "{", 415),
        ("POST", "/mcp", &[json], "", 415),
        ("POST", "/mcp", &[json], &batch, 415),
        ("POST", "/mcp", &[json], &padded, 413),
        ("POST", "/mcp", &two_keys, LIST, 400),
    ];

    for (method, path, headers, body, status) in cases {
        let request = with_headers(server.request(method, path), headers).body(body.to_owned());
        let response = request.send().await.expect("a response");

        let case = format!("{method} {path} {headers:?} {}", &body[..body.len().min(40)]);
        assert_eq!(response.status().as_u16(), status, "{case}");
        assert_eq!(response.headers()["cache-control"], "no-store", "{case}");
        assert!(response.headers().contains_key("x-request-id"), "{case}");
        // A host that gets status 400 without a JSON-RPC error takes the server for one of an older revision.
        assert!(status != 400 || json_of(response).await["error"]["code"] == -32600, "{case}");
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
async fn unknown_hosts_and_origins_are_refused() {
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
        for path in ["/mcp", "/mcp/demo"] {
            let request = server.post(path).header(header, value).body(LIST);
            let status = request.send().await.expect("a response").status().as_u16();
            assert_eq!(status, expected, "{header}: {value} {path}");
        }
    }
}

#[tokio::test]
async fn web_pages_of_known_origins_may_send_credentials() {
    let (_service, server) = start(&[]).await;
    let origin = ("origin", "http://localhost:6274");
    let asked = "authorization,x-api-key,content-type,mcp-protocol-version,mcp-method,mcp-name";
    let headers = [origin, ("access-control-request-headers", asked)];
    let preflight = with_headers(server.request("OPTIONS", "/mcp"), &headers).send().await;
    let preflight = preflight.expect("a response");

    assert_eq!(preflight.status().as_u16(), 200);
    assert_eq!(preflight.headers()["access-control-allow-origin"], origin.1);
    assert_eq!(preflight.headers()["access-control-allow-headers"], asked);

    let refused = with_headers(server.request("GET", "/mcp"), &[origin]).send().await.expect("a response");
    assert_eq!(refused.headers()["access-control-allow-origin"], origin.1, "a page reads why it is refused");
}
