//! The log on standard error: own events only, one line each, without secrets.

use anstream::adapter::strip_str;
use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use super::run_with;
use crate::support::{
    binary::{INITIALIZE, run_binary},
    service::Service,
};

/// Calls a tool of a server that logs with `filter`. Returns the log.
async fn log_of_call(service: &Service, filter: &str, tool: &str, arguments: Value) -> String {
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

/// A job obeys commands in its log, and other people choose the names of the service.
#[tokio::test]
async fn a_job_finds_no_command_in_any_output() {
    let service = Service::start().await;
    let name = "\u{a0}::error::a ###[error]b ##vso[task.complete] ##teamcity[x]";
    let tests = json!({"data": [{"id": seed::TEST_FAILS, "name": name}], "pagination": {"total_count": 1}});
    let run = json!({"multiplayer_run_id": seed::RUN_FAILED, "test": {"name": name}, "state": "COMPLETED", "result": name});
    let failed = seed::RUN_FAILED;

    for (variable, command) in [
        ("CI", &["tests", "--fields", "name"][..]),
        ("TF_BUILD", &["tests", "--csv", "--fields", "name"]),
        ("TEAMCITY_VERSION", &["call", "list_tests", "--json"]),
        ("GITHUB_ACTIONS", &["report", failed, "--html", "/dev/stdout"]),
        ("GITHUB_ACTIONS", &["report", failed, "--markdown"]),
        ("GITHUB_ACTIONS", &["wait", failed, "--json"]),
        ("GITHUB_ACTIONS", &["call", "list_run_bugs", "--run-id", failed]),
        ("GITHUB_ACTIONS", &["call", "list_run_bugs", "--run-id", failed, "--json", "-v"]),
    ] {
        service.fault(json!({"operation": "list_tests", "body": tests})).await;
        service.fault(json!({"operation": "get_run", "body": run, "times": 9})).await;
        service.fault(json!({"operation": "list_run_bugs", "status": 400, "body": {"error": name}})).await;
        let colours = [(variable, "true"), ("CLICOLOR_FORCE", "1")];
        let (_, output, errors) = run_with(&service, command, &colours).await;
        service.heal().await;

        let log = output.clone() + &errors;
        assert!(log.contains("teamcity"), "{command:?}: {log}");
        for line in log.lines().map(|line| strip_str(line).to_string()) {
            let is_command = line.trim_start().starts_with("::")
                || ["##[", "##vso[", "##teamcity["].iter().any(|mark| line.contains(mark));
            assert!(!is_command, "{variable} {command:?}: {line}");
        }
        if command[1] == "list_tests" {
            let value: Value = serde_json::from_str(&output).expect("JSON");
            assert_eq!(value["data"][0]["name"], name);
        }
    }
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
