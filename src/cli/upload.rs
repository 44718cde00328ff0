//! `tas-mcp upload`: uploads files as builds.

mod batch;

use std::{sync::Arc, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use futures_util::{StreamExt as _, stream};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use self::batch::{FileUpload, prepare_uploads};
use super::{
    calls::{YES, build_caller_with_files},
    exit_status::{CommandError, ExitStatus},
    failure_output::OutputFormat,
    help::help_end,
    name_completion::complete_argument,
    output::{json_flag, print_line, print_table, prints_json, status_after_output},
    table::Table,
    termination::TerminationSignals,
    tool_arguments::properties,
};
use crate::{
    failure::{Code, Failure},
    fields::Fields,
    service::tool::PROJECT_ID,
    settings::Settings,
    tools::{
        catalog::ListedTool as _,
        composite::{UploadBuild, UploadBuildAnswer},
        upload::{FinishedUpload, UploadProgress},
    },
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp upload game.apk",
    "tas-mcp upload 'out/*.apk' --tag nightly",
    "tas-mcp upload game.apk --name 1.4.2 --resume",
];

/// What the help says about interrupts.
const INTERRUPTS: &str = "The first interrupt cancels the uploads at the service. A second interrupt ends the command at once; --resume then continues the uploads later.";

/// Maximum number of files that are uploaded at the same time (service.md 16).
const CONCURRENT_UPLOADS: usize = 4;

/// Interval at which the progress bars are drawn.
const DRAW_INTERVAL: Duration = Duration::from_millis(200);

const FILES: &str = "files";
const NAME: &str = "name";
const TAG: &str = "tag";
const AUTO_DELETE: &str = "auto-delete";
const NO_FILL_DETAILS: &str = "no-fill-details";
const NO_CHECKSUM: &str = "no-checksum";
const RESUME: &str = "resume";

/// Flags with a value: the argument of the tool, the placeholder and the help.
const VALUE_FLAGS: [(&str, &str, &str); 8] = [
    (NAME, "NAME", "Name of the build, for a single file. Default: the file name"),
    (
        "platform",
        "PLATFORM",
        "windows, macos, linux, android, ios-native, ios-simulator, xbox or playstation. Default: derived from the file name",
    ),
    ("description", "TEXT", "Up to 1000 characters"),
    ("details", "JSON", "Origin of the build: an object with the parts vcs, ci, app, build and upload"),
    (
        "deletion_policy",
        "WORD",
        "Builds that --auto-delete deletes first: least_recent or oldest. Default: least_recent",
    ),
    (
        "upload_timeout",
        "MINUTES",
        "How long the service keeps received parts, 1 to 1440. Default: depends on the size, at least 60",
    ),
    ("multipart", "BOOL", "false: send the file in one request. Default: true"),
    (PROJECT_ID, "ID", "Project, if no setting names one"),
];

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new("upload")
        .about(
            "Uploads files as builds. Prints a table on a terminal, otherwise a JSON object for each build",
        )
        .after_help(help_end(&EXAMPLES, &format!("{INTERRUPTS}\n\n{}", ExitStatus::HELP)))
        .defer(with_flags)
}

fn with_flags(command: Command) -> Command {
    let files = Arg::new(FILES).value_name("FILE").num_args(1..).required(true);
    let files =
        files.value_hint(ValueHint::FilePath).help("Files to upload, or patterns such as `out/*.apk`");
    let tag = Arg::new(TAG).long(TAG).value_name("TAG").action(ArgAction::Append);
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };

    let tool = UploadBuild::tool();
    let schemas = properties(&tool);
    let values = VALUE_FLAGS.map(|(name, placeholder, help)| {
        let flag = Arg::new(name).long(name.replace('_', "-")).value_name(placeholder).help(help);
        // Users name the project with `--project`, as in every command.
        let flag = flag.hide(name == PROJECT_ID);
        match schemas.and_then(|schemas| schemas.get(name)) {
            Some(schema) => complete_argument(flag, name, schema),
            None => flag,
        }
    });

    command.arg(files).args(values).args([
        json_flag(),
        tag.help("Tag of 1 to 50 characters; may be repeated"),
        switch(AUTO_DELETE, "Delete old builds permanently when the storage is full"),
        switch(YES, "Do not ask for confirmation; a person has accepted --auto-delete"),
        switch(NO_FILL_DETAILS, "Do not fill the details from git and CI"),
        switch(NO_CHECKSUM, "Do not compute the SHA-256 of the files, which limits a very fast network"),
        switch(RESUME, "Continue an unfinished upload of the same file instead of cancelling it"),
    ])
}

/// Uploads the files. Checks all of them before the first request is sent.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let tools = build_caller_with_files(settings)?;
    let uploads = prepare_uploads(matches, &tools)?;
    let tokens: Vec<_> = uploads.iter().map(|upload| upload.handle.cancelled.clone()).collect();
    let bars = ProgressBars::new(&uploads);
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
                bars.display.suspend(|| outcomes.add(path, outcome));
            }
            () = &mut second_interrupt => {
                let failure = Failure::new(Code::Cancelled, "upload: ended by a second interrupt")
                    .hint("call again with --resume to continue, or without it to cancel the unfinished uploads");
                bars.display.suspend(|| outcomes.status = outcomes.format.print(&failure));
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

/// The outcomes of the uploads that have ended.
struct Outcomes {
    prints_json: bool,
    format: OutputFormat,
    /// The builds, for a terminal.
    table: Table,
    status: ExitStatus,
    printed: anyhow::Result<()>,
}

impl Outcomes {
    fn new(format: OutputFormat) -> Self {
        let table = Table::new(["FILE", "BUILD", "BYTES", "SECONDS"]);
        let prints_json = prints_json(format == OutputFormat::Json);
        Self { prints_json, format, table, status: ExitStatus::Success, printed: Ok(()) }
    }

    /// Adds the outcome of an upload. The first failure determines the exit status.
    fn add(&mut self, path: String, outcome: Result<FinishedUpload, Failure>) {
        match outcome {
            Ok(finished) if self.prints_json => {
                // If standard output is closed, the other uploads continue.
                if let Err(error) = print_build(&path, finished) {
                    self.printed = Err(error);
                }
            }

            Ok(finished) => {
                let (size, seconds) = (finished.build.size.to_string(), format!("{:.1}", finished.seconds));
                self.table.add_row([path, finished.build.build_id, size, seconds]);
            }

            Err(failure) => {
                let status = self.format.print_after_requests(&failure.detail("path", path));
                if self.status == ExitStatus::Success {
                    self.status = status;
                }
            }
        }
    }

    /// Prints the table on a terminal, and returns the exit status.
    fn finish(self) -> ExitStatus {
        let status = status_after_output(self.status, self.printed);
        if self.prints_json || self.table.is_empty() {
            return status;
        }

        status_after_output(status, print_table(self.table))
    }
}

fn print_build(path: &str, build: FinishedUpload) -> anyhow::Result<()> {
    let mut line = Fields::from_iter([("path".to_owned(), json!(path))]);
    if let Value::Object(fields) = serde_json::to_value(UploadBuildAnswer::from(build))? {
        line.extend(fields);
    }
    print_line(Value::Object(line))?;
    Ok(())
}

/// Progress bars on standard error, one for each file. Nothing is drawn if standard error is not a terminal.
struct ProgressBars {
    display: MultiProgress,
    bars: Vec<(ProgressBar, Arc<UploadProgress>)>,
}

impl ProgressBars {
    fn new(uploads: &[FileUpload<'_>]) -> Self {
        let display = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3}% {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bars = uploads.iter().map(|upload| {
            let progress = Arc::clone(&upload.handle.progress);
            let bar = ProgressBar::new(progress.total()).with_style(style.clone());
            (display.add(bar).with_prefix(upload.path.clone()), progress)
        });

        Self { bars: bars.collect(), display }
    }

    /// Draws the bars repeatedly. Does not complete.
    async fn keep_drawing(&self) {
        loop {
            self.update();
            tokio::time::sleep(DRAW_INTERVAL).await;
        }
    }

    /// Draws the bars for the last time.
    fn finish(&self) {
        self.update();
        self.bars.iter().for_each(|(bar, _)| bar.abandon());
    }

    fn update(&self) {
        for (bar, progress) in &self.bars {
            bar.set_position(progress.sent());
            bar.set_message(progress.describe());
        }
    }
}
