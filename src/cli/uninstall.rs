//! `tas-mcp uninstall`: removes the server from the configuration of hosts.

use clap::{ArgMatches, Command};

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    host_change::{EXIT_CODES, change_hosts, flags, selected_hosts},
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp uninstall", "tas-mcp uninstall cursor --yes"];

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("uninstall")
        .about("Removes this server from the configuration of MCP clients, after showing the change")
        .after_help(help_end(&EXAMPLES, EXIT_CODES))
        .args(flags())
}

/// Changes the hosts.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    change_hosts(matches, &selected_hosts(matches)?, None)
}
