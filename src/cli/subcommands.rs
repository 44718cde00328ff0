//! Runs a subcommand and reports its error.

use clap::ArgMatches;

use super::{
    call,
    command_error::CommandError,
    completions, doctor, download,
    exit_status::ExitStatus,
    failure_output::{print_failure, print_failure_after_requests},
    program::program,
    report, run, tools, upload, wait,
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
    // The futures of the subcommands are large. Boxed, they do not enlarge the future of this function.
    let outcome = match name {
        "tools" => tools::run(matches, settings),
        "call" => Box::pin(call::run(matches, settings)).await,
        "run" => Box::pin(run::run(matches, settings)).await,
        "wait" => Box::pin(wait::run(matches, settings)).await,
        "report" => Box::pin(report::run(matches, settings)).await,
        "download" => Box::pin(download::run(matches, settings)).await,
        "upload" => Box::pin(upload::run(matches, settings)).await,
        "doctor" => Box::pin(doctor::run(matches, settings)).await,
        "completions" => completions::run(matches, program()),
        _ => Err(anyhow::anyhow!("unknown command `{name}`").into()),
    };

    match outcome {
        Ok(status) => Ok(status),
        Err(CommandError::Failures(failures)) => {
            let statuses: Vec<_> = failures.iter().map(print_failure).collect();
            Ok(statuses.first().copied().unwrap_or(ExitStatus::InvalidInput))
        }
        Err(CommandError::AfterRequests(failure)) => Ok(print_failure_after_requests(&failure)),
        Err(CommandError::Other(error)) => Err(error),
    }
}
