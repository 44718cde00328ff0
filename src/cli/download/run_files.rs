//! `tas-mcp download run`: saves the files of a run.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::flags::{OVERWRITE, destination, overwrite_flag, to_flag};
use crate::{
    call::Caller,
    cli::{
        command_error::CommandError,
        download_progress_bar::DownloadProgressBar,
        exit_status::ExitStatus,
        help_end::help_end,
        name_completion::{NameKind, name_completions},
        name_resolution::{Latest, NameResolver},
        named_arguments::is_result_id,
        output::{print_json_or_table, print_line, prints_json, status_after_output},
        quoting::quoted,
        table::Table,
        tool_arguments::{json_flag, wants_json},
    },
    failure::{Code, Failure},
    service::result_kind::ResultKind,
    tools::{
        call_options::CallOptions,
        context::CallerWithFiles,
        download::{DownloadOptions, DownloadReport, DownloadRequest},
    },
};

/// Commands that the help shows.
const EXAMPLES: [&str; 2] = [
    "tas-mcp download run latest",
    r#"tas-mcp download run "Pause and resume" --pattern '*.png' --to pictures"#,
];

const RUN_ID: &str = "run-id";
const PLAYER: &str = "player";
const PATTERN: &str = "pattern";

/// Returns the definition of the command.
pub(super) fn command() -> Command {
    let run_id = Arg::new(RUN_ID).value_name("RUN").required(true);
    let player = Arg::new(PLAYER).long(PLAYER).value_name("N").action(ArgAction::Append);
    let pattern = Arg::new(PATTERN).long(PATTERN).value_name("GLOB").action(ArgAction::Append);

    Command::new("run")
        .about("Saves the files of a run. With several players, each has a directory of its own")
        .after_help(help_end(&EXAMPLES, ExitStatus::HELP))
        .arg(json_flag())
        .arg(
            run_id
                .help("Id of a run or of one player (RUN-PLAYER), `latest`, or the name of a test: its latest run")
                .add(name_completions(NameKind::Result(ResultKind::Run))),
        )
        .arg(to_flag("Directory, created if missing. Default: a directory named after the run"))
        .arg(player.value_parser(value_parser!(u64).range(1..)).help("Only this player, counted from 1"))
        .arg(pattern.help("Only files whose names match: `*.png`, `deliverables/**`"))
        .arg(overwrite_flag("Replace other files of the same names"))
}

/// Downloads the files and prints them.
pub(super) async fn run(
    matches: &ArgMatches,
    tools: &CallerWithFiles,
    progress: &DownloadProgressBar,
) -> Result<ExitStatus, CommandError> {
    let run = matches.get_one::<String>(RUN_ID).cloned().unwrap_or_default();
    let run_id = resolve_run(&tools.caller, run).await?;
    let destination = destination(matches, &tools.files, &run_id)?;
    let request = DownloadRequest {
        project: None,
        players: matches.get_many::<u64>(PLAYER).map(|players| players.copied().collect()),
        patterns: matches.get_many::<String>(PATTERN).map(|patterns| patterns.cloned().collect()),
        overwrite: matches.get_flag(OVERWRITE),
        run_id,
        files: None,
    };

    let call_options = CallOptions { progress: Arc::new(progress.clone()), ..CallOptions::silent() };
    let outcome = request.run(&tools.caller, &destination, &DownloadOptions::default(), &call_options).await;
    // A bar that remains would be mixed with the result.
    progress.clear();

    let report = outcome.map_err(CommandError::AfterRequests)?;
    let hint = report.hint.clone().filter(|_| !prints_json(wants_json(matches)));
    let printed = print_json_or_table(&report, table(&report), wants_json(matches))
        .and_then(|()| hint.map_or(Ok(()), print_line));

    Ok(status_after_output(exit_status(&report), printed))
}

/// Returns the id of the run that a user names: an id of a run or of a player, `latest`, or a test whose latest run is
/// meant.
async fn resolve_run(caller: &Caller, run: String) -> Result<String, Failure> {
    // The download reads the run, so that an id needs no look-up.
    if is_result_id(ResultKind::Run, &run) {
        return Ok(run);
    }

    let result = NameResolver::new(caller, None).result(&run, Latest::Result).await?;
    match result.kind {
        ResultKind::Run => Ok(result.id),
        kind => {
            let message = format!("`{run}` is a {}, and not a run", kind.noun());
            Err(Failure::new(Code::InvalidArguments, message)
                .hint(format!("`tas-mcp report {}` names its runs", quoted(&result.id))))
        }
    }
}

fn table(report: &DownloadReport) -> Table {
    let mut table = Table::new(["file", "bytes", "note"]);
    // A reason that is cut off does not help.
    table.keep_whole(2);
    for file in &report.files {
        let note = if file.kept { "already present" } else { "" };
        table.add_row([file.path.as_str(), &file.size.to_string(), note]);
    }

    for failed in &report.failed {
        table.add_row([failed.file_ref.as_str(), "", &failed.message]);
    }

    table
}

/// Returns the status for the first file that could not be downloaded.
fn exit_status(report: &DownloadReport) -> ExitStatus {
    let failed = report.failed.first();
    failed.map_or(ExitStatus::Success, |failed| ExitStatus::after_requests(failed.code))
}
