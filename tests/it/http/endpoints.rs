//! The admin listener.

use serde_json::json;
use tas_mcp::sandbox::keys;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest},
    service::Service,
};

#[tokio::test]
async fn the_admin_listener_reports_health_and_numbers() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    assert_eq!(server.admin("/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(server.admin("/readyz").await, (200, "ready\n".to_owned()));

    server.call("/mcp", &[("x-api-key", keys::DEMO)], "list_runs", json!({"page_size": 1})).await;
    server.call("/mcp", &[], "list_runs", json!({})).await;
    server.request("GET", "/mcp").send().await.expect("a response");
    let (status, text) = server.admin("/metrics").await;

    assert_eq!(status, 200);
    let call = r#"mcp_method_name="tools/call",gen_ai_tool_name="list_runs""#;
    let duration = "mcp_server_operation_duration_seconds_count";
    for line in [
        format!("{duration}{{{call},error_type=\"\"}} 1"),
        format!("{duration}{{{call},error_type=\"tool_error\"}} 1"),
        "tas_mcp_http_refusals_total{http_response_status_code=\"405\"} 1".to_owned(),
        "tas_mcp_http_credentials 1".to_owned(),
        "# EOF".to_owned(),
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    assert!(!text.contains(keys::DEMO));
}

#[tokio::test]
async fn the_admin_listener_of_this_machine_serves_no_name_of_a_web_page() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    let status = async |host: &str| {
        let request = crate::support::plain_client()
            .build()
            .expect("a client")
            .get(format!("http://{}/metrics", server.admin));
        request.header("host", host).send().await.expect("a response").status().as_u16()
    };
    assert_eq!(status("rebound.example:8901").await, 403);
    assert_eq!(status("localhost:8901").await, 200);
}

#[tokio::test]
async fn the_endpoint_serves_no_path_of_the_admin_listener() {
    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    for path in ["/healthz", "/readyz", "/metrics"] {
        let response = server.request("GET", path).send().await.expect("a response");
        assert_eq!(response.status().as_u16(), 404, "{path}");
    }
}
