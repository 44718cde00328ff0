//! The commands of the README and of the pages in `docs/`.

use tas_mcp::{
    cli,
    sandbox::{Options, keys},
};

use super::{
    super::terminal::run_in_terminal,
    pages::{blocks, pages},
};
use crate::support::{binary::program, service::Service};

/// Commands that build and test the program.
const CARGO_COMMANDS: [&str; 2] = ["cargo test", "cargo install --path ."];

/// Returns the commands of the shell blocks, without comments.
fn shell_commands() -> Vec<String> {
    let blocks = pages().into_iter().flat_map(|(_, page)| blocks(&page, "sh"));
    let lines: Vec<_> =
        blocks.flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    lines.iter().map(|line| line.split(" #").next().unwrap_or_default().trim().to_owned()).collect()
}

/// Returns the commands in the sentences and tables of the pages.
fn quoted_commands() -> Vec<String> {
    let texts = pages().into_iter().map(|(_, page)| page);
    let quoted: Vec<_> = texts
        .flat_map(|page| page.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    quoted.into_iter().filter(|text| text.starts_with("tas-mcp ")).collect()
}

#[tokio::test]
async fn the_shell_commands_succeed() {
    // A run of an hour takes less than a second.
    let service = Service::with(Options { speed: 6000.0, ..Options::default() }).await;
    let directory = tempfile::tempdir().expect("a directory");
    let mut tried = 0;

    for command in shell_commands() {
        if CARGO_COMMANDS.contains(&command.as_str()) {
            continue;
        }
        let arguments = command.strip_prefix("tas-mcp ").or(command.strip_prefix("cargo run -- "));
        let arguments = arguments.unwrap_or_else(|| panic!("unknown command: {command}"));
        // These commands run until they are stopped, and their fixed ports may be in use. Other tests start them.
        if ["sandbox ", "http "].iter().any(|endless| arguments.starts_with(endless)) {
            continue;
        }

        let script = format!("'{}' {arguments}", env!("CARGO_BIN_EXE_tas-mcp"));
        let mut shell = program("sh", &["-c", &script], &[]);
        // The commands may change files in the home directory, which is no directory for files of the tools.
        shell
            .env("HOME", directory.path().join("home"))
            .env("TAS_BASE_URL", service.base_url())
            .env("TAS_KNOWLEDGE_URL", service.knowledge_url());
        let output = shell.env("TAS_API_KEY", keys::DEMO).current_dir(directory.path()).output().await;
        let output = output.expect("a shell");

        // 10: at least one of the tests failed, as they do in the sandbox.
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 10)), "{command}: {errors}");
        tried += 1;
    }

    assert!(tried > 2, "only {tried} commands were run");
}

/// Returns the commands of the console blocks of a page, each with its output.
fn console_sessions(page: &str) -> Vec<(String, String)> {
    let blocks = blocks(page, "console").into_iter();
    let sessions = blocks.flat_map(|block| {
        let sessions = block.split("$ tas-mcp ").skip(1).map(str::to_owned);
        sessions.collect::<Vec<_>>()
    });
    sessions
        .map(|session| {
            let (command, output) = session.split_once('\n').expect("an output");
            (command.to_owned(), output.to_owned())
        })
        .collect()
}

/// A line `...` of the page stands for any lines.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_outputs_in_the_pages_are_those_of_the_program() {
    let mut compared = 0;
    for (_, page) in pages() {
        for (command, expected) in console_sessions(&page) {
            let arguments: Vec<_> = command.split(' ').collect();
            let (code, output) = run_in_terminal(100, &arguments, &[("NO_COLOR", "1")], &[]).await;
            assert!(matches!(code, Some(0 | 10)), "{command}: {output}");

            let mut rest = output.as_str();
            for part in expected.split("...\n").map(str::trim_end) {
                let found = rest.find(part);
                let start = found.unwrap_or_else(|| panic!("{command} prints\n{output}\nnot\n{part}"));
                rest = &rest[start + part.len()..];
            }
            compared += 1;
        }
    }
    assert!(compared >= 2, "{compared}");
}

#[test]
fn the_commands_in_sentences_and_tables_are_valid() {
    let mut checked = 0;
    for command in quoted_commands() {
        let is_template = ["<", "[", "|", "COMMAND", "HOST", "\n"].iter().any(|part| command.contains(part));
        if is_template {
            continue;
        }
        let parsed = cli::program().try_get_matches_from(shlex::split(&command).expect("words"));

        // A command may be named without its required arguments.
        let is_valid = parsed.map_or_else(
            |error| {
                use clap::error::ErrorKind;
                matches!(
                    error.kind(),
                    ErrorKind::MissingRequiredArgument
                        | ErrorKind::MissingSubcommand
                        | ErrorKind::DisplayHelp
                        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                )
            },
            |_| true,
        );
        assert!(is_valid, "{command}");
        checked += 1;
    }

    assert!(checked > 10, "only {checked} commands were checked");
}
