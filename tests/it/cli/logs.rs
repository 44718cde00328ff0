//! The log on standard error: own events only, one line each, without secrets.

use serde_json::json;
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, service::Service};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Calls a tool of a server that logs with `filter`. Returns the log.
async fn log_of_call(service: &Service, filter: &str, tool: &str, arguments: serde_json::Value) -> String {
    let (base_url, knowledge_url) = (service.base_url(), service.knowledge_url());
    let variables = [
        ("TAS_BASE_URL", base_url.as_str()),
        ("TAS_KNOWLEDGE_URL", knowledge_url.as_str()),
        ("TAS_API_KEY", keys::DEMO),
        ("TAS_LOG", filter),
        ("TAS_TOOLSETS", "all"),
    ];
    let params = json!({"name": tool, "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
    let output = run_binary(&[], &variables, &[INITIALIZE, &call]).await;

    String::from_utf8(output.stderr).expect("UTF-8")
}

#[tokio::test]
async fn a_text_of_the_service_cannot_forge_a_line_or_control_the_terminal() {
    let service = Service::start().await;
    let text = "no\n2026-01-01T00:00:00Z ERROR tas_mcp: forged\r\u{1b}[2Jhidden\u{202e}";
    service.fault(json!({"operation": "get_run", "status": 400, "body": {"error": text}})).await;

    let log = log_of_call(&service, "info", "get_run", json!({"run_id": seed::RUN_PASSED})).await;

    let lines: Vec<_> = log.lines().filter(|line| line.contains("forged")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains("no 2026-01-01"), "{log}");
    assert!(!log.contains(['\u{1b}', '\r', '\u{202e}']), "{log:?}");
}

#[tokio::test]
async fn no_level_logs_arguments_addresses_or_the_events_of_libraries() {
    let service = Service::start().await;
    let arguments = json!({"run_id": format!("{}-1", seed::RUN_FAILED), "filename": "agent.log"});

    let log = log_of_call(&service, "trace", "get_run_artifact", arguments).await;

    assert!(log.contains("get_run_artifact"), "{log}");
    assert!(log.lines().all(|line| line.contains("tas_mcp")), "{log}");
    for secret in ["agent.log", "X-Amz", "127.0.0.1", keys::DEMO] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[tokio::test]
async fn every_command_logs_its_requests_with_a_flag() {
    for flags in [&["-v"][..], &["--log", "debug"]] {
        for command in [&["runs"][..], &["report", seed::RUN_FAILED], &["status"], &["call", "list_tests"]] {
            let service = Service::start().await;
            let base_url = service.base_url();
            let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
            let output = run_binary(&[command, flags].concat(), &variables, &[]).await;
            let log = String::from_utf8(output.stderr).expect("UTF-8");

            assert!(output.status.success() && log.contains("status=200"), "{command:?} {flags:?}: {log}");
            assert!(!log.contains("127.0.0.1") && !log.contains(keys::DEMO), "{log}");
        }
    }
}
