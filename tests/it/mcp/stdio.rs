//! The binary as hosts start it: a child process with pipes.

use std::{
    process::{ExitStatus, Output},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tas_mcp::sandbox::{keys, seed};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};

use crate::support::{
    HANG_LIMIT,
    binary::{INITIALIZE, binary, run_binary},
    service::Service,
};

/// Maximum time until the process exits, with a margin for a busy machine.
const EXIT_LIMIT: Duration = Duration::from_secs(3);

/// Returns the messages on standard output.
fn messages(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("every line of standard output is JSON"))
        .collect()
}

/// Starts the binary against this service, and a call that the service does not answer.
async fn start_hanging_call(
    service: &Service,
    operation: &str,
    arguments: Value,
) -> (Child, tokio::process::ChildStdin) {
    service.fault(json!({"operation": operation, "delay_ms": 60_000})).await;
    let base_url = service.base_url();
    let variables = [("TAS_BASE_URL", base_url.as_str()), ("TAS_API_KEY", keys::DEMO)];
    let mut child = binary(&[], &variables).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": operation, "arguments": arguments}});

    input.write_all(format!("{INITIALIZE}\n{call}\n").as_bytes()).await.expect("the server reads");
    let mut output = BufReader::new(child.stdout.take().expect("an output"));
    output.read_line(&mut String::new()).await.expect("the answer to initialize");
    child.stdout = Some(output.into_inner());

    // The call must have reached the service before a test ends the process.
    while service.requests().await.is_empty() {
        tokio::task::yield_now().await;
    }

    (child, input)
}

/// Waits for the end of the process, which must come soon after `since`.
async fn exit_status(mut child: Child, since: Instant) -> ExitStatus {
    let status = child.wait().await.expect("a status");
    assert!(since.elapsed() < EXIT_LIMIT, "it took {:?}", since.elapsed());
    status
}

#[tokio::test]
async fn what_was_read_is_answered_after_the_end_of_input() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"get_run","arguments":{{"run_id":"{}"}}}}}}"#,
        seed::RUN_FAILED
    );
    let output = run_binary(&["--sandbox"], &[], &[INITIALIZE, list, &call, "[]"]).await;

    assert!(output.status.success());

    let mut answered: Vec<_> = messages(&output).iter().map(|message| message["id"].as_u64()).collect();
    answered.sort_unstable();

    assert_eq!(answered, [None, Some(0), Some(1), Some(2)]);

    let run = messages(&output).into_iter().find(|message| message["id"] == 2).expect("the call's answer");

    assert_eq!(run["result"]["structuredContent"]["multiplayer_run_id"], seed::RUN_FAILED);
}

#[tokio::test]
async fn the_end_of_input_before_the_first_request_is_no_error() {
    let output = run_binary(&[], &[], &[]).await;
    assert!(output.status.success());
    assert!(output.stdout.is_empty());
}

#[tokio::test]
async fn the_end_of_input_ends_the_process_during_a_call() {
    let service = Service::start().await;
    let (child, input) = start_hanging_call(&service, "list_tests", json!({})).await;
    let since = Instant::now();
    drop(input);
    assert!(exit_status(child, since).await.success());
}

/// The answers are far longer than what a pipe takes. Only the end is tested, and not the time that a busy machine needs for 200
/// requests.
#[tokio::test]
async fn the_end_of_input_ends_the_process_although_the_host_reads_nothing() {
    let mut child = binary(&[], &[]).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");
    let list = |id| format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}));
    let lines = format!("{INITIALIZE}\n{}", (1..=200).map(list).collect::<String>());
    input.write_all(lines.as_bytes()).await.expect("the server reads");

    drop(input);
    // The pipe stays open.
    let _output = child.stdout.take();
    let ended = tokio::time::timeout(HANG_LIMIT, child.wait()).await;
    assert!(ended.expect("an end").expect("a status").success());
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_ends_the_process_during_a_call() {
    for signal in ["-TERM", "-INT"] {
        let service = Service::start().await;
        let (child, _input) = start_hanging_call(&service, "list_tests", json!({})).await;
        let since = Instant::now();
        let id = child.id().expect("it runs").to_string();
        let killed = Command::new("kill").args([signal, &id]).status().await.expect("kill is there");
        assert!(killed.success());
        assert!(exit_status(child, since).await.success(), "{signal}");
    }
}

#[tokio::test]
async fn standard_output_contains_only_json_rpc() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_run","arguments":{"run_id":"nowhere"}}}"#;
    let output = run_binary(&["--sandbox", "--log", "trace"], &[], &["not json", INITIALIZE, call]).await;
    assert!(messages(&output).iter().all(|message| message["jsonrpc"] == "2.0"));
    let logged = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(logged.contains("tas_mcp"), "the log contains events of this crate");
    assert!(!logged.contains(keys::DEMO), "the key is in the log");
}

#[tokio::test]
async fn without_settings_tools_are_listed_and_calls_explain_what_is_missing() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_tests","arguments":{}}}"#;
    let output = run_binary(&[], &[("TAS_BASE_URL", "${BASE_URL}")], &[INITIALIZE, list, call]).await;
    let messages = messages(&output);
    let answer = |id: u64| messages.iter().find(|message| message["id"] == id).expect("an answer");

    assert!(answer(1)["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()));

    let text = answer(2)["result"]["content"][0]["text"].as_str().expect("text");
    for said in ["not_configured", "variable TAS_BASE_URL", "${BASE_URL}", "did not replace"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[tokio::test]
async fn the_command_line_takes_no_key() {
    let output = run_binary(&["--api-key", "svc_x"], &[], &[]).await;
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test]
async fn the_demo_succeeds_and_has_no_colors_in_a_pipe() {
    let output = run_binary(&["demo"], &[("TAS_BASE_URL", "https://elsewhere.example/api/v1")], &[]).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("project_scope_mismatch") && !text.contains('\u{1b}'), "{text}");
}

/// The shell keeps the standard input of the server open in another process.
#[cfg(unix)]
#[tokio::test]
async fn the_process_ends_when_the_one_that_has_started_it_is_gone() {
    let program = env!("CARGO_BIN_EXE_tas-mcp");
    // Of these processes, only the server writes to the output of the shell once the shell is gone.
    let script =
        format!("mkfifo pipe; sleep 900 > pipe & echo $!; {program} < pipe & exec sleep 900 > /dev/null");
    let directory = tempfile::tempdir().expect("a directory");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(directory.path()).stdout(std::process::Stdio::piped());
    let mut shell = shell.spawn().expect("a shell");
    let mut lines = BufReader::new(shell.stdout.take().expect("an output")).lines();
    let writer = lines.next_line().await.expect("a line").expect("an id");

    let pipe = tokio::fs::OpenOptions::new().write(true).open(directory.path().join("pipe")).await;
    pipe.expect("a pipe").write_all(format!("{INITIALIZE}\n").as_bytes()).await.expect("it reads");
    lines.next_line().await.expect("a line").expect("an answer");

    shell.kill().await.expect("it ends");
    let end = tokio::time::timeout(HANG_LIMIT, lines.next_line()).await.expect("it does not run on");
    assert_eq!(end.expect("the end"), None);
    Command::new("kill").arg(writer).status().await.expect("kill is there");
}
