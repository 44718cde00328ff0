//! `tas-mcp upload`: uploads files as builds.

mod batch;
mod file_names;
mod flags;
mod outcomes;
mod progress_bars;

use std::sync::Arc;

use clap::{ArgMatches, Command};
use futures_util::{StreamExt as _, stream};
use tokio_util::sync::CancellationToken;

use self::{
    batch::{FileUpload, prepare_uploads},
    outcomes::Outcomes,
    progress_bars::ProgressBars,
};
use super::{
    caller::build_caller_with_files, command_error::CommandError, exit_status::ExitStatus,
    failure_output::OutputFormat, help_end::help_end, termination::TerminationSignals,
};
use crate::{
    failure::{Code, Failure},
    settings::Settings,
};

/// Commands that the help shows.
const EXAMPLES: [&str; 3] = [
    "tas-mcp upload game.apk",
    "tas-mcp upload 'out/*.apk' --tag nightly",
    "tas-mcp upload game.apk --name 1.4.2 --resume",
];

/// Maximum number of files that are uploaded at the same time (service.md 16).
const CONCURRENT_UPLOADS: usize = 4;

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    let interrupts = "The first interrupt cancels the uploads at the service. A second interrupt ends the command at once; --resume then continues the uploads later.";
    Command::new("upload")
        .about(
            "Uploads files as builds. Prints a table on a terminal, otherwise a JSON object for each build",
        )
        .after_help(help_end(&EXAMPLES, &format!("{interrupts}\n\n{}", ExitStatus::HELP)))
        .defer(|command| command.args(flags::all()))
}

/// Uploads the files. Checks all of them before the first request is sent.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let tools = build_caller_with_files(settings)?;
    let uploads = prepare_uploads(matches, &tools)?;
    let tokens: Vec<_> = uploads.iter().map(|upload| upload.handle.cancelled.clone()).collect();
    let bars = ProgressBars::new(
        uploads.iter().map(|upload| (upload.path.as_str(), Arc::clone(&upload.handle.progress))),
    );

    let outcomes = Outcomes::new(OutputFormat::from_matches(matches));

    tokio::select! {
        status = run_uploads(uploads, &bars, outcomes, handle_interrupts(&tokens)) => Ok(status),
        () = bars.keep_drawing() => Ok(ExitStatus::Success),
    }
}

/// Runs the uploads and reports each one when it ends. Stops as soon as `second_interrupt` completes.
async fn run_uploads(
    uploads: Vec<FileUpload<'_>>,
    bars: &ProgressBars,
    mut outcomes: Outcomes,
    second_interrupt: impl Future<Output = ()>,
) -> ExitStatus {
    let mut running =
        stream::iter(uploads.into_iter().map(FileUpload::run)).buffer_unordered(CONCURRENT_UPLOADS);
    let mut second_interrupt = std::pin::pin!(second_interrupt);

    loop {
        tokio::select! {
            // An upload that has ended is reported even if the interrupt arrives at the same time.
            biased;
            ended = running.next() => {
                let Some((path, outcome)) = ended else { break };
                bars.print_between(|| outcomes.add(path, outcome));
            }
            () = &mut second_interrupt => {
                let failure = Failure::new(Code::Cancelled, "upload: ended by a second interrupt")
                    .hint("call again with --resume to continue, or without it to cancel the unfinished uploads");
                bars.print_between(|| outcomes.stop(&failure));
                break;
            }
        }
    }

    bars.finish();

    outcomes.finish()
}

/// Cancels the uploads at the first signal. Completes at the second signal.
async fn handle_interrupts(tokens: &[CancellationToken]) {
    let mut signals = TerminationSignals::new();
    signals.next().await;
    tokens.iter().for_each(CancellationToken::cancel);
    signals.next().await;
}
