//! Compares the start of the server, up to its answers, with the start of the process alone. `cargo bench --bench start`
#![expect(clippy::expect_used, reason = "a benchmark has fixed inputs")]

mod ratio;

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
};

use serde_json::json;

/// The program.
const BINARY: &str = env!("CARGO_BIN_EXE_tas-mcp");

fn main() {
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"},
    }});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});

    let first_answer = format!("{initialize}\n");
    let tool_list = format!("{initialize}\n{initialized}\n{list}\n");
    for (name, input, answers) in
        [("start to `initialize`", first_answer, 1), ("start to `tools/list`", tool_list, 2)]
    {
        ratio::compare(name, 5, || start_server(&input, answers), ("start of the process", start_process));
    }
}

/// Starts the server, sends it `input`, and reads this number of answers.
fn start_server(input: &str, answers: usize) {
    let mut server = Command::new(BINARY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut requests = server.stdin.take().expect("an input");
    requests.write_all(input.as_bytes()).expect("the server reads");

    let lines = BufReader::new(server.stdout.take().expect("an output")).lines();
    assert_eq!(lines.take(answers).filter_map(Result::ok).count(), answers, "an answer is missing");

    // The end of the server is no part of its start, and is not waited for in good order.
    server.kill().expect("a process");
    server.wait().expect("an end");
}

/// Starts the program only.
fn start_process() {
    let ended = Command::new(BINARY).arg("--version").stdout(Stdio::null()).status();
    assert!(ended.is_ok_and(|status| status.success()), "the program has failed");
}
