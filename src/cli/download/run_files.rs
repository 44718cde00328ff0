//! `tas-mcp download run`: saves the files of a run.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::flags::{OVERWRITE, destination, overwrite_flag, to_flag};
use crate::{
    cli::{
        command_error::CommandError,
        download_progress_bar::DownloadProgressBar,
        exit_status::ExitStatus,
        output::{print_json_or_table, status_after_output},
        table::Table,
    },
    tools::{
        caller::CallerContext,
        dispatcher::Dispatcher,
        download::{DownloadOptions, DownloadReport, DownloadRequest},
    },
};

const RUN_ID: &str = "run-id";
const PLAYER: &str = "player";
const PATTERN: &str = "pattern";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let run_id = Arg::new(RUN_ID).value_name("RUN_ID").required(true);
    let player = Arg::new(PLAYER).long(PLAYER).value_name("N").action(ArgAction::Append);
    let pattern = Arg::new(PATTERN).long(PATTERN).value_name("GLOB").action(ArgAction::Append);

    Command::new("run")
        .about("Saves the files of a run. With several players, each has a directory of its own")
        .after_help(ExitStatus::HELP)
        .arg(run_id.help("Id of a run, or of one player: RUN-PLAYER"))
        .arg(to_flag("Directory, created if missing. Default: a directory named after the run"))
        .arg(player.value_parser(value_parser!(u64).range(1..)).help("Only this player, counted from 1"))
        .arg(pattern.help("Only files whose names match: `*.png`, `deliverables/**`"))
        .arg(overwrite_flag("Replace other files of the same names"))
}

/// Downloads the files and prints them.
pub(super) async fn run(
    matches: &ArgMatches,
    dispatcher: &Dispatcher,
    progress: &DownloadProgressBar,
) -> Result<ExitStatus, CommandError> {
    let run_id = matches.get_one::<String>(RUN_ID).cloned().unwrap_or_default();
    let destination = destination(matches, dispatcher, &run_id)?;
    let request = DownloadRequest {
        project: None,
        players: matches.get_many::<u64>(PLAYER).map(|players| players.copied().collect()),
        patterns: matches.get_many::<String>(PATTERN).map(|patterns| patterns.cloned().collect()),
        overwrite: matches.get_flag(OVERWRITE),
        run_id,
        files: None,
    };

    let caller = CallerContext { progress: Arc::new(progress.clone()), ..CallerContext::silent() };
    let outcome = request.run(dispatcher.gateway(), &destination, &DownloadOptions::default(), &caller).await;
    // A bar that remains would be mixed with the result.
    progress.clear();

    let report = outcome.map_err(CommandError::AfterRequests)?;
    let printed = print_json_or_table(&report, &table(&report));

    Ok(status_after_output(exit_status(&report), printed))
}

fn table(report: &DownloadReport) -> Table {
    let mut table = Table::new(["file", "bytes", "note"]);
    for file in &report.files {
        let note = if file.kept { "already present" } else { "" };
        table.add_row([file.path.as_str(), &file.size.to_string(), note]);
    }

    for failed in &report.failed {
        table.add_row([failed.file_ref.as_str(), "", &failed.message]);
    }

    if let Some(hint) = &report.hint {
        table.add_row(["", "", hint]);
    }

    table
}

/// Returns the status for the first file that could not be downloaded.
fn exit_status(report: &DownloadReport) -> ExitStatus {
    let failed = report.failed.first();
    failed.map_or(ExitStatus::Success, |failed| ExitStatus::after_requests(failed.code))
}
