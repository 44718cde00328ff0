//! `TAS_READ_ONLY` applies to the commands as to the tools.

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};

use crate::support::{binary::run_binary, host::Host, service::Service};

const READ_ONLY: (&str, &str) = ("TAS_READ_ONLY", "true");

/// Runs a command in read-only mode. Returns the exit code and the error.
async fn run(service: &Service, arguments: &[&str]) -> (Option<i32>, Value) {
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), READ_ONLY];
    let arguments = [arguments, &["--json"]].concat();
    let output = run_binary(&arguments, &variables, &[]).await;
    let error = serde_json::from_slice::<Value>(&output.stderr).unwrap_or_default()["error"].clone();
    (output.status.code(), error)
}

#[tokio::test]
async fn a_writing_command_is_refused_with_the_message_of_the_server_before_any_request() {
    let service = Service::start().await;
    let mut host = Host::open(&service.settings(keys::DEMO, &[READ_ONLY])).await;
    let directory = tempfile::tempdir().expect("a directory");
    let build = directory.path().join("game.apk");

    std::fs::write(&build, "PK").expect("written");
    let build = build.to_str().expect("UTF-8");
    let commands: [(&str, &[&str]); 8] = [
        ("stop_runs", &["call", "stop_runs", "--job-ids", seed::JOB_RUNNING]),
        ("delete_build", &["call", "delete_build", "--build-id", seed::BUILD_ANDROID, "--yes"]),
        ("start_run", &["run", seed::TEST_PASSES, "--device", seed::CONFIG_PHONES]),
        ("start_run", &["run", seed::PLAN_SMOKE, "--device", seed::CONFIG_PHONES, "--wait"]),
        // Neither is a device asked for, nor the agreement to another entry.
        ("start_run", &["run", "Pause and resume"]),
        ("export_tmsys_run", &["export", seed::RUN_PASSED]),
        ("upload_build", &["upload", build]),
        ("upload_build", &["call", "upload_build", "--path", build]),
    ];

    for (tool, command) in commands {
        let refusal = host.request("tools/call", json!({"name": tool, "arguments": {}})).await;
        let (code, error) = run(&service, command).await;
        assert_eq!((code, &error["code"]), (Some(2), &json!("invalid_arguments")), "{command:?}: {error}");
        let server_message = refusal["error"]["message"].as_str().expect("a message");
        // The server does not list the tool, so its message calls the tool unknown; the command line knows the tool.
        assert_eq!(
            error["message"].as_str(),
            server_message.strip_prefix("unknown tool: "),
            "{server_message}"
        );
        assert!(
            error["message"].as_str().is_some_and(|message| message.contains("TAS_READ_ONLY")),
            "{error}"
        );
    }

    assert_eq!(service.requests().await, [""; 0]);
}

#[tokio::test]
async fn reading_commands_work() {
    let service = Service::start().await;
    for command in [&["call", "list_tests"][..], &["report", seed::RUN_FAILED], &["wait", seed::RUN_PASSED]] {
        assert_eq!(run(&service, command).await, (Some(0), Value::Null), "{command:?}");
    }
}

#[tokio::test]
async fn a_writing_command_is_refused_in_the_words_of_the_command_line() {
    let service = Service::start().await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO), READ_ONLY];
    let output = run_binary(&["stop", seed::JOB_RUNNING], &variables, &[]).await;

    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("error: this command changes something, and TAS_READ_ONLY allows reading only\n"),
        "{error}"
    );
}
