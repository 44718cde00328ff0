//! `tas-mcp completions`: prints a script with which a shell completes command lines.
//!
//! The script passes each incomplete command line to the hidden command `tas-mcp complete`.

use clap::{Arg, ArgMatches, Command, value_parser};

use super::{
    command_error::CommandError, exit_status::ExitStatus, help_end::help_end, output::print_text,
    shell::Shell,
};

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "source <(tas-mcp completions bash)",
    "tas-mcp completions zsh > ~/.zfunc/_tas-mcp",
    "tas-mcp completions fish > ~/.config/fish/completions/tas-mcp.fish",
];

const SHELL: &str = "shell";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let shell = Arg::new(SHELL).value_name("SHELL").required(true).value_parser(value_parser!(Shell));
    Command::new("completions")
        .about("Prints a completion script for a shell")
        .after_help(help_end(&EXAMPLES, ""))
        .arg(shell.help("Shell that runs the script"))
}

/// Prints the script of the shell.
pub(super) fn run(matches: &ArgMatches) -> Result<ExitStatus, CommandError> {
    let shell = matches.get_one::<Shell>(SHELL).copied().unwrap_or(Shell::Bash);
    print_text(script(shell))?;

    Ok(ExitStatus::Success)
}

fn script(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("completions/bash.sh"),
        Shell::Elvish => include_str!("completions/elvish.elv"),
        Shell::Fish => include_str!("completions/fish.fish"),
        Shell::Powershell => include_str!("completions/powershell.ps1"),
        Shell::Zsh => include_str!("completions/zsh.sh"),
    }
}
