//! The built binary as a child process with pipes. Its settings are only those that a test gives.

use std::process::{Output, Stdio};

use tas_mcp::settings::{HTTP_SETTINGS, SETTINGS};
use tokio::{io::AsyncWriteExt, process::Command};

use super::HANG_LIMIT;

/// Variables that decide the colours and the width of the output.
const TERMINAL_VARIABLES: [&str; 6] = ["CI", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "NO_COLOR"];

/// Variables with which the log is that of a CI job, as `CI` is.
const JOB_VARIABLES: [&str; 3] = ["GITHUB_ACTIONS", "TEAMCITY_VERSION", "TF_BUILD"];

/// The first message of a host.
pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

/// Home directory of the programs: without files of the developer.
pub(crate) const HOME: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/home");

/// Variables with which a program finds the files and the keychain of its user.
pub(crate) const HOME_VARIABLES: [(&str, &str); 4] = [
    ("HOME", HOME),
    ("XDG_CONFIG_HOME", ""),
    ("APPDATA", HOME),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus"),
];

/// Returns the binary with these arguments and variables.
pub(crate) fn binary(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    program(env!("CARGO_BIN_EXE_tas-mcp"), arguments, variables)
}

/// Returns another program with these arguments and variables. Its settings of the binary are only those that a test gives.
pub(crate) fn program(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(name);
    // The environment of the tests may contain settings of the developer, of a terminal and of a CI system.
    let settings = SETTINGS.iter().chain(HTTP_SETTINGS.iter()).map(|setting| setting.variable);
    for variable in settings.chain(TERMINAL_VARIABLES).chain(JOB_VARIABLES) {
        command.env_remove(variable);
    }

    std::fs::create_dir_all(HOME).expect("a directory");
    command.args(arguments).envs(HOME_VARIABLES).envs(variables.iter().copied()).kill_on_drop(true);
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

    tokio::time::timeout(HANG_LIMIT, child.wait_with_output()).await.expect("an end").expect("an output")
}
