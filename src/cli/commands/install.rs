//! `tas-mcp install`: how a host learns of the server.

use std::process::Command as Process;

use clap::{ArgMatches, Args, Command, FromArgMatches as _};

use crate::{
    cli::{
        exit_status::{CommandError, ExitStatus},
        help::help_end,
        hosts::{Connection, Host, HostCommand, Server},
        output::{note, print_text},
    },
    failure::{Code, Failure},
    settings::Settings,
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp install claude-code --run",
    "tas-mcp install cursor --sandbox",
    "tas-mcp install codex --profile staging",
];

const NOTES: &str = "The host starts this program with the settings that are flags of this command, such as --project, --profile, --sandbox and --read-only. The server gets the key of `tas-mcp login`; no entry contains a key.";

#[derive(Args)]
struct InstallArguments {
    /// Program that shall use the server
    #[arg(value_enum)]
    host: Host,

    /// Run the command of the host, in place of printing it
    #[arg(long)]
    run: bool,
}

pub(super) fn command() -> Command {
    let command = Command::new("install")
        .about("Prints the command or the entry with which a host learns of this server")
        .after_help(help_end(&EXAMPLES, NOTES));

    InstallArguments::augment_args(command)
}

/// Prints the command or the entry, or runs the command.
pub(super) fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let InstallArguments { host, run } = InstallArguments::from_arg_matches(matches)?;
    let path = std::env::current_exe()?.display().to_string();
    let server = Server::Program { path, arguments: settings.given_flags() };

    match host.connection(&server) {
        Some(Connection::Command(command)) if run => return start(host, &command),
        Some(Connection::Command(command)) => print_text(format!("{command}\n"))?,
        Some(Connection::Entry(_)) if run => return Err(no_command(host).into()),
        Some(Connection::Entry(entry)) => {
            let file = host.file().map(|file| file.display().to_string());
            note(&format!("add this to {}", file.as_deref().unwrap_or("the configuration of the host")));
            print_text(entry)?;
        }
        None => return Err(no_command(host).into()),
    }

    Ok(ExitStatus::Success)
}

/// Runs the command of the host, whose output is that of this command.
fn start(host: Host, command: &HostCommand) -> Result<ExitStatus, CommandError> {
    note(&format!("running: {command}"));
    let status = Process::new(command.program).args(&command.arguments).status().map_err(|error| {
        Failure::new(Code::FileError, format!("`{}` cannot be started: {error}", command.program))
            .hint(format!("install {} first, or run the command by hand", host.title()))
    })?;

    Ok(if status.success() { ExitStatus::Success } else { ExitStatus::Rejected })
}

fn no_command(host: Host) -> Failure {
    Failure::new(Code::InvalidArguments, format!("{} has no command that adds a server", host.title()))
        .hint("leave out `--run`: the entry and the path of its file are printed")
}
