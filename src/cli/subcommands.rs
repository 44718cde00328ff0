//! Runs a subcommand and reports its error.

use clap::ArgMatches;

use super::{
    advice::explain_embedded_sandbox, call, command_error::CommandError, complete, completions, config,
    doctor, download, exit_status::ExitStatus, export, failure_output::OutputFormat, install,
    lists::ListCommand, login, logout, profile, program::program, report, run, settings_help, status, stop,
    tools, uninstall, upload, wait,
};
use crate::settings::Settings;

/// Runs the subcommand `name` with its arguments. Prints its failures and returns the exit status.
///
/// # Errors
/// An unknown `name`, or an output that cannot be written.
pub async fn run_subcommand(
    name: &str,
    matches: &ArgMatches,
    settings: &Settings,
) -> anyhow::Result<ExitStatus> {
    explain_embedded_sandbox(name, matches, settings);

    let outcome = match name {
        "tools" => tools::run(matches, settings),
        "call" => call::run(matches, settings).await,
        "run" => run::run(matches, settings).await,
        "wait" => wait::run(matches, settings).await,
        "stop" => stop::run(matches, settings).await,
        "export" => export::run(matches, settings).await,
        "status" => status::run(matches, settings).await,
        "report" => report::run(matches, settings).await,
        "download" => download::run(matches, settings).await,
        "upload" => upload::run(matches, settings).await,
        "login" => login::run(matches, settings).await,
        "logout" => logout::run(matches, settings).await,
        "doctor" => doctor::run(matches, settings).await,
        "settings" => settings_help::run(program()).map(|()| ExitStatus::Success).map_err(Into::into),
        "profile" => profile::run(matches, settings),
        "config" => config::run(matches, settings),
        "install" => install::run(matches, settings),
        "uninstall" => uninstall::run(matches),
        "completions" => completions::run(matches),
        "complete" => complete::run(matches, settings, program()).await,
        _ => match ListCommand::find(name) {
            Some(list) => list.run(matches, settings).await,
            None => Err(anyhow::anyhow!("unknown command `{name}`").into()),
        },
    };

    let format = OutputFormat::from_matches(matches);
    match outcome {
        Ok(status) => Ok(status),
        Err(CommandError::Failures(failures)) => {
            let statuses: Vec<_> = failures.iter().map(|failure| format.print(failure)).collect();
            Ok(statuses.first().copied().unwrap_or(ExitStatus::InvalidInput))
        }
        Err(CommandError::AfterRequests(failure)) => Ok(format.print_after_requests(&failure)),
        Err(CommandError::Other(error)) => Err(error),
    }
}
