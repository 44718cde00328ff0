//! `tas-mcp download`: saves the files of a run, or the Minion installer.

mod flags;
mod minion;
mod run_files;

use clap::{ArgMatches, Command};

use super::{
    caller::build_caller_with_files, command_error::CommandError, download_progress_bar::DownloadProgressBar,
    exit_status::ExitStatus, help_end::help_end,
};
use crate::settings::Settings;

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = ["tas-mcp download run latest", "tas-mcp download minion"];

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    Command::new("download")
        .about("Saves the files of a run, or the Minion installer. Resumes an interrupted download")
        .subcommand_required(true)
        .subcommand_value_name("run|minion")
        .arg_required_else_help(true)
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
        .subcommands([run_files::command(), minion::command()])
}

/// Downloads the files and prints what was saved.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let tools = build_caller_with_files(settings)?;
    let progress = DownloadProgressBar::new();

    match matches.subcommand() {
        Some(("run", matches)) => run_files::run(matches, &tools, &progress).await,
        Some(("minion", matches)) => minion::run(matches, &tools, &progress).await,
        _ => Err(anyhow::anyhow!("the subcommand is missing").into()),
    }
}
