//! The whole command line: its definition, and the command that each subcommand runs.

mod call;
mod completions;
mod download;
mod export;
mod files;
mod http;
mod install;
mod lists;
mod login;
mod logout;
mod profile;
mod report;
mod rerun;
mod run;
mod show;
mod skills;
mod status;
mod stop;
mod tools;
mod upload;
mod wait;

use std::{ffi::OsString, net::SocketAddr};

use clap::{ArgMatches, Args, Command, error::ContextKind, value_parser};

use self::lists::ListCommand;
use super::{
    exit_status::{CommandError, ExitStatus},
    failure_output::FailureOutput,
    help::{grouped, help_end, print_settings, settings_command},
    output::{note, print_error, status_after_output},
};
use crate::settings::{self, Settings};

pub use self::{completions::complete_command_line, http::serve_http};

const MAX_HELP_WIDTH: usize = 100;

const EXAMPLES: [&str; 4] = [
    "tas-mcp demo",
    "tas-mcp --sandbox runs --failed",
    r#"tas-mcp run "Release smoke" --device "Windows PC" --wait"#,
    r#"tas-mcp report "Release smoke" --html report.html"#,
];

const SANDBOX_EXAMPLES: [&str; 2] = ["tas-mcp sandbox", "tas-mcp sandbox --listen 127.0.0.1:0 --speed 600"];

/// Parses the arguments of the process, of which the first one is the name of the program. Returns `None` if there are
/// no others. Prints the help that they ask for, or why they are invalid, in the width of the terminal.
///
/// The definitions of the subcommands would delay the start of a server. They are not built if there are no arguments,
/// or flags only.
///
/// # Errors
/// The status of the process, if everything is printed.
pub fn parse_arguments(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Option<ArgMatches>, ExitStatus> {
    let arguments: Vec<_> = arguments.into_iter().collect();
    if arguments.len() <= 1 {
        return Ok(None);
    }

    let server = without_subcommands().try_get_matches_from(&arguments);
    let matches = server.or_else(|_| program().try_get_matches_from(arguments));
    matches.map(Some).map_err(|mut error| {
        if !error.use_stderr() {
            return status_after_output(ExitStatus::Success, error.print());
        }
        // A command with similar letters is rarely what a user means.
        error.remove(ContextKind::SuggestedSubcommand);
        print_error(&error.render().to_string().replace("\n\n\n", "\n\n"));
        ExitStatus::InvalidInput
    })
}

/// Returns the program with its settings and subcommands.
pub fn program() -> Command {
    let program = without_subcommands()
        .subcommands([demo_command(), settings_command()])
        .subcommands([tools::command(), call::command(), run::command(), rerun::command(), wait::command()])
        .subcommands([stop::command()])
        .subcommands([show::command(), report::command(), files::command(), export::command()])
        .subcommands([upload::command(), download::command()])
        .subcommands(ListCommand::all().map(ListCommand::command))
        .subcommands([login::command(), logout::command()])
        .subcommands([status::command(), completions::command()])
        .subcommands([profile::command(), install::command(), skills::command()])
        .subcommands([http::command(), sandbox_command()]);

    grouped(program)
}

fn without_subcommands() -> Command {
    Command::new("tas-mcp")
        .version(env!("CARGO_PKG_VERSION"))
        .about("MCP server and command line for the Test Automation Service. Without a subcommand, serves MCP on standard input and output")
        .max_term_width(MAX_HELP_WIDTH)
        .after_help(help_end(&EXAMPLES, ""))
        .args(settings::flags())
}

fn demo_command() -> Command {
    Command::new("demo")
        .about("Shows a session of an assistant with an embedded sandbox")
        .after_help(help_end(&["tas-mcp demo"], ""))
}

/// Serves a simulation of the service from memory, with example data, until it is stopped
#[derive(Args, Debug)]
pub struct SandboxArguments {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,

    /// Permit an address that other machines can reach. Everybody there can read and change the sandbox
    #[arg(long)]
    pub expose: bool,

    /// Simulated seconds per real second; 0 stops the clock
    // A negative number is a wrong value of this flag, and not another flag.
    #[arg(long, value_name = "FACTOR", value_parser = parse_speed, allow_negative_numbers = true)]
    #[arg(default_value = "60")]
    pub speed: f64,

    /// Size of each part of a build upload except the last
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(1..))]
    #[arg(default_value = "104857600")]
    pub part_size: u64,
}

impl SandboxArguments {
    /// Warns about an address that other machines can reach.
    ///
    /// # Errors
    /// Such an address without the permission.
    pub fn check_listen_address(&self) -> anyhow::Result<()> {
        let listen = self.listen;
        if !listen.ip().is_loopback() {
            anyhow::ensure!(self.expose, "other machines can reach {listen}: add --expose to permit it");
            let warning = "can read and change this sandbox: its keys are public";
            print_error(&format!("warning: every machine that reaches {listen} {warning}\n"));
        }

        Ok(())
    }
}

fn sandbox_command() -> Command {
    SandboxArguments::augment_args(Command::new("sandbox").after_help(help_end(&SANDBOX_EXAMPLES, "")))
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed: &f64| speed.is_finite() && *speed >= 0.0);
    speed.ok_or_else(|| "must be a number from 0".to_owned())
}

/// Runs the subcommand `name` with its arguments. Prints its failures and returns the exit status.
///
/// # Errors
/// An unknown `name`, or an output that cannot be written.
pub async fn run_subcommand(
    name: &str,
    matches: &ArgMatches,
    settings: &Settings,
) -> anyhow::Result<ExitStatus> {
    let failure_output = FailureOutput::from_matches(matches).of_command(name, matches);
    if let Some(text) = settings.address_note().filter(|_| !failure_output.is_json()) {
        note(&text);
    }

    let outcome = match name {
        "tools" => tools::run(matches, settings),
        "call" => call::run(matches, settings).await,
        "run" => run::run(matches, settings).await,
        "rerun" => rerun::run(matches, settings).await,
        "wait" => wait::run(matches, settings).await,
        "stop" => stop::run(matches, settings).await,
        "show" => show::run(matches, settings).await,
        "files" => files::run(matches, settings).await,
        "export" => export::run(matches, settings).await,
        "status" => status::run(matches, settings).await,
        "report" => report::run(matches, settings).await,
        "download" => download::run(matches, settings).await,
        "upload" => upload::run(matches, settings).await,
        "login" => login::run(matches, settings).await,
        "logout" => logout::run(matches, settings).await,
        "settings" => print_settings(program()).map(|()| ExitStatus::Success).map_err(Into::into),
        "profile" => profile::run(matches, settings),
        "install" => install::run(matches, settings),
        "skills" => skills::run(matches),
        "completions" => completions::run(matches),
        _ => match ListCommand::find(name) {
            Some(list) => list.run(matches, settings).await,
            None => Err(anyhow::anyhow!("unknown command `{name}`").into()),
        },
    };

    match outcome {
        Ok(status) => Ok(status),
        Err(CommandError::Failures(failures)) => {
            let statuses: Vec<_> = failures.iter().map(|failure| failure_output.print(failure)).collect();
            Ok(statuses.first().copied().unwrap_or(ExitStatus::InvalidInput))
        }
        Err(CommandError::AfterRequests(failure)) => Ok(failure_output.print_after_requests(&failure)),
        Err(CommandError::Other(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use crate::{cli::command_names::COMMANDS, tools::catalog};

    #[test]
    fn texts_name_commands_that_exist() {
        let program = super::program();
        for (tool, command) in COMMANDS {
            // The word after a command is an argument.
            let found = command.split(' ').next().and_then(|word| program.find_subcommand(word));
            assert!(found.is_some() && catalog::find_tool(tool).is_some(), "{tool}: {command}");
        }
    }
}
