//! `tas-mcp completions`: what shells need to complete commands, tools and their arguments.

use std::io::Write;

use anyhow::Context;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

/// The command.
pub fn command() -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true).value_parser(value_parser!(Shell));
    Command::new("completions")
        .about("Prints a script that completes this command line in a shell")
        .arg(shell)
}

/// Prints the completions of `program`, the whole command line.
pub fn run(matches: &ArgMatches, mut program: Command) -> anyhow::Result<()> {
    let shell = *matches.get_one::<Shell>("shell").context("no shell is named")?;
    let name = program.get_name().to_owned();
    // Made as a whole first: a generator panics where its reader has enough.
    let mut script = Vec::new();

    clap_complete::generate(shell, &mut program, name, &mut script);
    std::io::stdout().write_all(&script)?;

    Ok(())
}
