//! The commands that call and list tools.

use serde_json::{Value, json};
use tas_mcp::{
    sandbox::{keys, seed},
    tools::catalog,
};

use crate::support::{binary::run_binary, service::Service};

mod account;
#[cfg(target_os = "linux")]
mod closed_streams;
mod completions;
mod docs;
mod gates;
mod help;
#[cfg(target_os = "linux")]
mod home;
mod http;
#[cfg(target_os = "linux")]
mod install;
mod lists;
#[cfg(target_os = "linux")]
mod login;
mod logs;
mod messages;
mod names;
#[cfg(target_os = "linux")]
mod output_files;
mod packages;
#[cfg(target_os = "linux")]
mod profiles;
mod read_only;
mod records;
mod reruns;
mod sandbox;
#[cfg(target_os = "linux")]
mod skills;
mod status;
#[cfg(target_os = "linux")]
mod terminal;
mod waits;

/// Runs a command with this service. Returns the exit code, standard output and standard error.
async fn run(service: &Service, arguments: &[&str]) -> (Option<i32>, String, String) {
    run_with(service, arguments, &[]).await
}

/// Does the same with further variables, which may replace the key.
async fn run_with(
    service: &Service,
    arguments: &[&str],
    more: &[(&str, &str)],
) -> (Option<i32>, String, String) {
    let base_url = service.base_url();
    let variables = [&[("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)], more].concat();
    let output = run_binary(arguments, &variables, &[]).await;
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");

    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Runs `tas-mcp call` with this service. Returns the exit code, the printed result and the error.
async fn call(service: &Service, arguments: &[&str], input: &[&str]) -> (Option<i32>, Value, Value) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let arguments: Vec<_> =
        std::iter::once("call").chain(arguments.iter().copied()).chain(["--json"]).collect();
    let output = run_binary(&arguments, &variables, input).await;
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap_or_default();
    // A note may precede the failure.
    let error = output.stderr.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty()).unwrap_or_default();
    (output.status.code(), json(&output.stdout), json(error)["error"].clone())
}

#[tokio::test]
async fn a_result_is_printed_as_json_with_exit_code_0() {
    let service = Service::start().await;
    for flag in ["--run-id", "--run_id"] {
        let (code, run, error) = call(&service, &["get_run", flag, seed::RUN_FAILED], &[]).await;
        assert_eq!(
            (code, &run["multiplayer_run_id"], error),
            (Some(0), &json!(seed::RUN_FAILED), Value::Null)
        );
    }
}

#[tokio::test]
async fn a_list_argument_repeats_its_flag() {
    let service = Service::start().await;
    let jobs = ["stop_runs", "--yes", "--job-ids", seed::JOB_RUNNING, "--job-ids", seed::JOB_QUEUED];
    let (code, stopped, _) = call(&service, &jobs, &[]).await;
    assert_eq!((code, &stopped["stopped_count"]), (Some(0), &json!(2)));
}

#[tokio::test]
async fn flags_override_json_from_an_argument_or_standard_input() {
    let service = Service::start().await;
    let (code, page, _) = call(&service, &["list_tests", "--args", r#"{"page_size": 2}"#], &[]).await;

    assert_eq!((code, page["data"].as_array().map(Vec::len)), (Some(0), Some(2)));
    for arguments in
        [&["list_tests", "--page-size", "1"][..], &["list_tests", "--args", r#"{"page_size": 1}"#]]
    {
        let (code, page, _) = call(&service, arguments, &[]).await;
        assert_eq!((code, page["data"].as_array().map(Vec::len)), (Some(0), Some(1)), "{arguments:?}");
    }

    let flags = ["list_tests", "--args", "-", "--page-size", "1"];
    let (code, page, _) = call(&service, &flags, &[r#"{"page_size": 2}"#]).await;

    assert_eq!((code, page["data"].as_array().map(Vec::len)), (Some(0), Some(1)));
}

#[tokio::test]
async fn the_exit_code_is_the_kind_of_failure() {
    let service = Service::start().await;
    let export = ["export_tmsys_run", "--yes", "--multiplayer-run-id", seed::RUN_FAILED];
    service.fault(json!({"operation": "export_tmsys_run", "reset": true})).await;
    service.fault(json!({"operation": "list_bugs", "status": 500})).await;

    let cases: [(&[&str], i32, &str); 7] = [
        (&["get_run", "--run-id", "nowhere"], 1, "not_found"),
        (&["get_run"], 2, "invalid_arguments"),
        (&["get_rum"], 2, "invalid_arguments"),
        (&["list_tests", "--args", "[]"], 2, "invalid_arguments"),
        (&["list_tests", "--timeout-s", "0"], 2, "not_configured"),
        (&["list_bugs"], 3, "service_unavailable"),
        (&export, 4, "outcome_unknown"),
    ];

    for (arguments, expected, error_code) in cases {
        let (code, _, error) = call(&service, arguments, &[]).await;
        assert_eq!((code, &error["code"]), (Some(expected), &json!(error_code)), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_hint_for_missing_settings_names_flags_and_variables() {
    for arguments in
        [&["call", "list_tests", "--json"][..], &["wait", "x", "--json"], &["upload", "Cargo.toml", "--json"]]
    {
        let output = run_binary(arguments, &[], &[]).await;
        let error = serde_json::from_slice::<Value>(&output.stderr).expect("JSON")["error"].clone();
        assert_eq!((output.status.code(), &error["code"]), (Some(2), &json!("not_configured")));
        let hint = error["hint"].as_str().expect("a hint");
        assert!(hint.contains("flags or variables") && !hint.contains("restart"), "{arguments:?}: {hint}");
    }
}

#[tokio::test]
async fn tools_lists_every_tool_with_its_cost() {
    let output = run_binary(&["tools"], &[], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let names: Vec<_> = text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, catalog::tools().map(|entry| entry.name).collect::<Vec<_>>());
    assert!(text.lines().next().is_some_and(|head| head.contains("tokens")));
}

#[tokio::test]
async fn one_tool_is_printed_as_hosts_receive_it() {
    let output = run_binary(&["tools", "get_run"], &[], &[]).await;
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let snapshot: Value = serde_json::from_str(include_str!("../../tools/get_run.json")).expect("JSON");
    assert_eq!(printed, snapshot);
}
