//! The admin listener.

use std::{collections::BTreeSet, path::Path, time::Duration};

use serde_json::{Value, json};
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

/// The names of numbers in expressions of the files for monitoring.
fn names_of_numbers(text: &str) -> BTreeSet<&str> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let own = |word: &&str| {
        ["tas_mcp_", "mcp_server_", "process_"].iter().any(|start| word.starts_with(start))
            // The store has numbers of its own, if there is one.
            && !word.starts_with("tas_mcp_shared_store_")
    };
    words.filter(own).collect()
}

#[tokio::test]
async fn alerts_and_dashboard_use_numbers_that_the_server_has() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/monitoring");
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).expect("a file");
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().expect("an id")).collect();
    assert_eq!(ids.len(), panels.len());
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("targets"));
    let shown: Vec<_> = targets.map(|target| target["expr"].as_str().expect("an expression")).collect();
    let used = [shown.join(" "), read("alerts.yml")].concat();

    let service = Service::start().await;
    let server = HttpUnderTest::start(&service.settings("", &FREE_PORTS));
    server.call("/mcp", &[("x-api-key", keys::DEMO)], "get_run", json!({"run_id": "none"})).await;
    server.request("GET", "/mcp").send().await.expect("a response");
    let (_, numbers) = server.admin("/metrics").await;
    let known = |name: &&str| {
        let line = |line: &str| line.strip_prefix(*name).is_some_and(|rest| rest.starts_with(['{', ' ']));
        numbers.lines().any(line)
    };

    let names = names_of_numbers(&used);
    let unknown: Vec<_> = names.iter().filter(|name| !known(name)).collect();
    assert!(names.len() > 10 && unknown.is_empty(), "{unknown:?}\n{numbers}");
}
