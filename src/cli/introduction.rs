//! `tas-mcp` without a subcommand on a terminal: an explanation, because nobody can speak MCP by hand.

use std::io::{IsTerminal as _, Write as _};

use super::exit_status::ExitStatus;

const TEXT: &str = "\
tas-mcp is an MCP server for the Test Automation Service, and a command line for people and CI.

Without a subcommand, tas-mcp serves MCP on standard input and output. An assistant or an IDE
starts it so. This terminal is neither, so nothing was started.

  tas-mcp demo                          a session of an assistant, with an embedded sandbox
  tas-mcp --sandbox call list_tests     a command, with an embedded sandbox; needs no account
  tas-mcp help                          all commands
  tas-mcp help settings                 address, key, project and the other settings
  tas-mcp doctor                        what is set, and whether the service can be used

To connect an assistant, add this to its configuration:

  {\"mcpServers\": {\"tas\": {\"command\": \"tas-mcp\", \"args\": [\"--sandbox\"]}}}
";

/// Returns whether a user has started the server on a terminal.
pub fn is_started_by_person() -> bool {
    std::io::stdin().is_terminal()
}

/// Explains on standard error what the program is. Returns the status of a command line without a command.
pub fn explain_program() -> ExitStatus {
    // If standard error is closed, the exit status is all that can be reported.
    drop(anstream::stderr().write_all(TEXT.as_bytes()));

    ExitStatus::InvalidInput
}
