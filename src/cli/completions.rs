//! `tas-mcp completions`: prints a script with which a shell completes commands, tools and arguments.

use std::io::Write as _;

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{command_error::CommandError, exit_status::ExitStatus};

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell));
    Command::new("completions").about("Prints a completion script for a shell").arg(shell)
}

/// Prints the completion script of `program`.
pub(super) fn run(matches: &ArgMatches, mut program: Command) -> Result<ExitStatus, CommandError> {
    let shell = *matches.get_one::<Shell>("shell").context("the shell is missing")?;
    let name = program.get_name().to_owned();

    // The generator panics if it cannot write, so it writes to memory and not to a pipe that may be closed.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, name, &mut script);
    std::io::stdout().write_all(&script)?;

    Ok(ExitStatus::Success)
}
