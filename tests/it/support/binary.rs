//! The built binary as a child with pipes, and no setting but those that are given.

use std::{
    process::{Output, Stdio},
    time::Duration,
};

use tas_mcp::settings::SETTINGS;
use tokio::{io::AsyncWriteExt, process::Command};

/// The binary with these arguments and variables.
pub(crate) fn binary(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tas-mcp"));
    for setting in SETTINGS {
        command.env_remove(setting.variable);
    }

    command.args(arguments).envs(variables.iter().copied()).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());

    command
}

/// Starts the binary, sends these lines, closes the input and waits for its end.
pub(crate) async fn told(arguments: &[&str], variables: &[(&str, &str)], lines: &[&str]) -> Output {
    let mut child = binary(arguments, variables).spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("an input");

    for line in lines {
        input.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
    }

    drop(input);

    tokio::time::timeout(Duration::from_secs(30), child.wait_with_output())
        .await
        .expect("an end")
        .expect("an output")
}
