//! Runs a subcommand and reports its error.

use clap::ArgMatches;
use futures_util::future::LocalBoxFuture;

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
pub fn run_subcommand<'a>(
    name: &'a str,
    matches: &'a ArgMatches,
    settings: &'a Settings,
) -> LocalBoxFuture<'a, anyhow::Result<ExitStatus>> {
    Box::pin(run_and_print(name, matches, settings))
}

async fn run_and_print(name: &str, matches: &ArgMatches, settings: &Settings) -> anyhow::Result<ExitStatus> {
    explain_embedded_sandbox(name, matches, settings);

    // The futures of the subcommands are large. Boxed, they do not enlarge the future of this function.
    let outcome = match name {
        "tools" => tools::run(matches, settings),
        "call" => Box::pin(call::run(matches, settings)).await,
        "run" => Box::pin(run::run(matches, settings)).await,
        "wait" => Box::pin(wait::run(matches, settings)).await,
        "stop" => Box::pin(stop::run(matches, settings)).await,
        "export" => Box::pin(export::run(matches, settings)).await,
        "status" => Box::pin(status::run(matches, settings)).await,
        "report" => Box::pin(report::run(matches, settings)).await,
        "download" => Box::pin(download::run(matches, settings)).await,
        "upload" => Box::pin(upload::run(matches, settings)).await,
        "login" => Box::pin(login::run(matches, settings)).await,
        "logout" => Box::pin(logout::run(matches, settings)).await,
        "doctor" => Box::pin(doctor::run(matches, settings)).await,
        "settings" => settings_help::run(program()).map(|()| ExitStatus::Success).map_err(Into::into),
        "profile" => Box::pin(profile::run(matches, settings)).await,
        "config" => config::run(matches, settings),
        "install" => install::run(matches, settings),
        "uninstall" => uninstall::run(matches),
        "completions" => completions::run(matches),
        "complete" => complete::run(matches, settings, program()).await,
        _ => match ListCommand::find(name) {
            Some(list) => Box::pin(list.run(matches, settings)).await,
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
