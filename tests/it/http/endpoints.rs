//! The admin listener.

use std::time::Duration;

use serde_json::json;
use tas_mcp::sandbox::keys;

use crate::support::{
    http_client::{FREE_PORTS, HttpUnderTest},
    service::{Service, settings},
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
        "tas_mcp_failures_total{code=\"unauthenticated\"} 1".to_owned(),
        "tas_mcp_service_request_duration_seconds_count{host=\"main\",status_class=\"2xx\"} 1".to_owned(),
        "tas_mcp_service_available{host=\"main\"} 1".to_owned(),
        format!("tas_mcp_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
        "# EOF".to_owned(),
    ] {
        assert!(text.lines().any(|known| known == line), "{line}\n{text}");
    }
    assert!(!text.contains(keys::DEMO));
}

#[tokio::test]
async fn readiness_says_which_host_of_the_service_has_not_answered_for_a_minute() {
    let dead = ("TAS_BASE_URL", "http://127.0.0.1:9/api/v1");
    let server = HttpUnderTest::start(&settings(&[&FREE_PORTS[..], &[dead]].concat()));
    server.call("/mcp", &[("x-api-key", keys::DEMO)], "list_runs", json!({})).await;
    let early = reqwest::get(format!("http://{}/readyz", server.admin)).await.expect("a response");
    assert_eq!(early.text().await.expect("text"), "ready\n", "one failure says little");

    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    let (status, text) = server.admin("/readyz").await;

    // Another process would not have the service either.
    assert_eq!(status, 200);
    let problem = text.lines().nth(1).expect("a problem");
    assert!(problem.starts_with("the service at TAS_BASE_URL has not answered for 6"), "{text}");
    assert!(problem.contains("no connection to 127.0.0.1:9"), "{text}");
}
