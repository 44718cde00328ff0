//! `tas-mcp uninstall`: removes the server from the configuration of hosts.

use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};

use super::{
    exit_status::{CommandError, ExitStatus},
    help::help_end,
    host_change::{EXIT_CODES, HostArguments, change_hosts},
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp uninstall", "tas-mcp uninstall cursor --yes"];

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let command = Command::new("uninstall")
        .about("Removes this server from MCP clients, after showing the change")
        .after_help(help_end(&EXAMPLES, EXIT_CODES));

    HostArguments::augment_args(command)
}

/// Changes the hosts.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let arguments = HostArguments::from_arg_matches(matches)?;
    change_hosts(&arguments, &arguments.selected()?, None)
}
