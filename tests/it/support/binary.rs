//! The built binary as a child process with pipes. Its settings are only those that a test gives.

use std::{
    process::{Output, Stdio},
    time::Duration,
};

use tas_mcp::settings::SETTINGS;
use tokio::{io::AsyncWriteExt, process::Command};

/// Longest run of the binary. After this a test fails instead of hanging.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Returns the binary with these arguments and variables.
pub(crate) fn binary(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tas-mcp"));
    // The environment of the tests may contain settings of the developer.
    for setting in SETTINGS {
        command.env_remove(setting.variable);
    }

    command.args(arguments).envs(variables.iter().copied()).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());

    command
}

/// Starts the binary, writes these lines to its standard input, closes it, and waits for the end of the process.
pub(crate) async fn run_binary(arguments: &[&str], variables: &[(&str, &str)], lines: &[&str]) -> Output {
    let mut child = binary(arguments, variables).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");

    for line in lines {
        input.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    drop(input);

    tokio::time::timeout(TIME_LIMIT, child.wait_with_output()).await.expect("an end").expect("an output")
}
