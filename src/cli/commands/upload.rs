//! `tas-mcp upload`: uploads files as builds.

mod batch;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{ArgMatches, Args, Command, FromArgMatches as _, ValueHint};
use futures_util::{StreamExt as _, stream};
use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};
use serde::Serialize;
use serde_json::{Value, json};
use serde_with::skip_serializing_none;

use self::batch::{FileUpload, prepare_uploads};
use crate::{
    cli::{
        calls::build_caller_with_files,
        columns::{counted, duration_text, size},
        exit_status::{CommandError, ExitStatus, TerminationSignals},
        failure_output::FailureOutput,
        help::help_end,
        output::{Output, Shown, note},
        table::{Cell, Fit, Table},
        tool_arguments::ChangeFlags,
    },
    failure::{Code, Failure},
    fields::Fields,
    settings::Settings,
    tools::{
        composite::UploadBuildAnswer,
        files::TransferProgress,
        upload::{FinishedUpload, PLATFORMS},
    },
};

const EXAMPLES: [&str; 3] = [
    "tas-mcp upload game.apk",
    "tas-mcp upload 'out/*.apk' --tag nightly",
    r#"tas-mcp upload game.apk --name 1.4.2 --commit "$COMMIT" --branch main"#,
];

const UPLOAD: &str = "upload";

const INTERRUPTS: &str =
    "An interrupted upload is continued by the same command: only what is missing is sent.";

/// Maximum number of files that are uploaded at the same time (service.md 16).
const CONCURRENT_UPLOADS: usize = 4;

const DRAW_INTERVAL: Duration = Duration::from_millis(200);

// The names of the fields are those of the arguments of the tool.
#[skip_serializing_none]
#[derive(Args, Serialize)]
struct UploadArguments {
    /// Files to upload, or patterns such as `out/*.apk`
    #[arg(value_name = "FILE", num_args = 1.., required = true, value_hint = ValueHint::FilePath)]
    #[serde(skip)]
    files: Vec<String>,

    /// Name of the build, for a single file. Default: the file name
    #[arg(long)]
    name: Option<String>,

    /// Default: derived from the file name
    #[arg(long, value_name = "WORD", value_parser = PLATFORMS)]
    platform: Option<String>,

    /// Up to 1000 characters
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Tag of 1 to 50 characters; may be repeated
    #[arg(long)]
    #[serde(rename = "tags", skip_serializing_if = "Vec::is_empty")]
    tag: Vec<String>,

    /// Delete old builds permanently when the storage is full
    #[arg(long)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    auto_delete: bool,

    /// Commit of the build. Default: that of the job of GitHub, GitLab or Jenkins
    #[arg(long, value_name = "HASH")]
    #[serde(skip)]
    commit: Option<String>,

    /// Branch of the commit
    #[arg(long, value_name = "NAME")]
    #[serde(skip)]
    branch: Option<String>,

    /// Address of the CI job
    #[arg(long, value_name = "URL")]
    #[serde(skip)]
    run_url: Option<String>,

    #[command(flatten)]
    #[serde(skip)]
    change: ChangeFlags,
}

/// Returns the definition of the command. Its flags are built only when the command is used.
pub(super) fn command() -> Command {
    Command::new(UPLOAD)
        .about("Uploads files as builds. Prints a row for each build; with --json a JSON object, as soon as it is complete")
        .after_help(help_end(&EXAMPLES, &format!("{INTERRUPTS}\n\n{}", ExitStatus::HELP)))
        .defer(UploadArguments::augment_args)
}

/// Uploads the files. Checks all of them before the first request is sent.
pub(super) async fn run(matches: &ArgMatches, settings: &Settings) -> Result<ExitStatus, CommandError> {
    let arguments = UploadArguments::from_arg_matches(matches)?;
    let output = arguments.change.output();
    let tools = build_caller_with_files(settings)?;
    let uploads = prepare_uploads(&arguments, &tools).await?;
    if arguments.change.dry_run {
        return show_requests(uploads, &output).await;
    }

    let bars = ProgressBars::new(&uploads);
    let outcomes = Outcomes::new(&output, FailureOutput::from_matches(matches).of_command(UPLOAD, matches));
    run_uploads(uploads, &bars, outcomes).await
}

async fn show_requests(uploads: Vec<FileUpload<'_>>, output: &Output) -> Result<ExitStatus, CommandError> {
    let mut shown = Vec::new();
    for upload in uploads {
        let path = upload.path.clone();
        shown.push(json!({"path": path, "dry_run": true, "request": upload.preview().await?}));
    }

    output.print(ExitStatus::Success, &json!(shown), || Shown::Json(format!("{:#}", json!(shown))))
}

/// Runs the uploads and reports each one when it ends. A signal ends the command and leaves the unfinished uploads.
async fn run_uploads(
    uploads: Vec<FileUpload<'_>>,
    bars: &ProgressBars,
    mut outcomes: Outcomes<'_>,
) -> Result<ExitStatus, CommandError> {
    let mut running =
        stream::iter(uploads.into_iter().map(FileUpload::run)).buffer_unordered(CONCURRENT_UPLOADS);
    let mut signals = TerminationSignals::new();
    let mut ticks = tokio::time::interval(DRAW_INTERVAL);

    let signal = loop {
        tokio::select! {
            // An upload that has ended is reported even if the signal arrives at the same time.
            biased;
            ended = running.next() => {
                let Some((path, outcome)) = ended else { break None };
                if outcome.is_err() {
                    bars.remove(&path);
                }
                bars.display.suspend(|| outcomes.add(path, outcome))?;
            }
            signal = signals.receive() => break Some(signal),
            _ = ticks.tick() => bars.update(),
        }
    };

    bars.finish();
    if let Some(signal) = signal {
        let failure = Failure::new(Code::Cancelled, "upload: interrupted");
        outcomes.failures.print(&failure.hint("the same command continues the uploads"));
        outcomes.status = signal.exit_status();
    }

    outcomes.finish()
}

struct Outcomes<'a> {
    output: &'a Output,
    failures: FailureOutput,
    /// The builds that are printed at the end, as rows.
    builds: Vec<(String, FinishedUpload)>,
    began: Instant,
    status: ExitStatus,
}

impl<'a> Outcomes<'a> {
    fn new(output: &'a Output, failures: FailureOutput) -> Self {
        Self { output, failures, builds: Vec::new(), began: Instant::now(), status: ExitStatus::Success }
    }

    /// Adds the outcome of an upload. The first failure determines the exit status.
    fn add(&mut self, path: String, outcome: Result<FinishedUpload, Failure>) -> Result<(), CommandError> {
        match outcome {
            Ok(finished) if self.output.has_rows() => self.builds.push((path, finished)),
            // If standard output is closed, the other uploads continue.
            Ok(finished) => {
                self.status = self.output.print(self.status, &line(&path, finished)?, String::new)?;
            }
            Err(failure) => {
                let status = self.failures.print_after_requests(&failure.detail("path", path));
                if self.status == ExitStatus::Success {
                    self.status = status;
                }
            }
        }

        Ok(())
    }

    fn finish(self) -> Result<ExitStatus, CommandError> {
        let Some((_, last)) = self.builds.last() else { return Ok(self.status) };
        let mut table = Table::new(["file", "build", "id", "size", "took"]).fitting(2..5, Fit::Whole);
        for (path, build) in &self.builds {
            let took = Cell::from(duration_text(build.seconds)).exactly(&format!("{:.1}", build.seconds));
            let [path, name, id] = [path, &build.name, &build.build_id].map(|text| Cell::from(text.as_str()));
            table.add_row([path, name, id, size(build.size), took]);
        }

        let status = self.output.print(self.status, &Value::Null, || table)?;
        let (builds, took) = (counted(self.builds.len(), "build"), self.began.elapsed().as_secs_f64());
        let bytes = HumanBytes(self.builds.iter().map(|(_, build)| build.size).sum());
        let project = last.project_id.as_deref().unwrap_or_default();
        note(&format!("{builds}, {bytes}, in {}: project {project}", duration_text(took)));

        Ok(status)
    }
}

fn line(path: &str, build: FinishedUpload) -> serde_json::Result<Value> {
    let mut line = Fields::from_iter([("path".to_owned(), json!(path))]);
    if let Value::Object(fields) = serde_json::to_value(UploadBuildAnswer::finished(build))? {
        line.extend(fields);
    }
    Ok(Value::Object(line))
}

/// Progress bars on standard error, one for each file. Nothing is drawn if standard error is not a terminal.
struct ProgressBars {
    display: MultiProgress,
    bars: Vec<(ProgressBar, Arc<TransferProgress>)>,
}

impl ProgressBars {
    fn new(uploads: &[FileUpload<'_>]) -> Self {
        let display = MultiProgress::new();
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3}% {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bars = uploads.iter().map(|upload| {
            let progress = Arc::clone(&upload.progress);
            let bar = ProgressBar::new(progress.total()).with_style(style.clone());
            (display.add(bar).with_prefix(upload.path.clone()), progress)
        });

        Self { bars: bars.collect(), display }
    }

    /// Removes the bar of a failed upload: its failure is what remains.
    fn remove(&self, path: &str) {
        let bars = self.bars.iter().filter(|(bar, _)| bar.prefix() == path);
        bars.for_each(|(bar, _)| bar.finish_and_clear());
    }

    /// Draws the bars for the last time. The bars of unfinished uploads are removed.
    fn finish(&self) {
        self.update();
        for (bar, progress) in &self.bars {
            if progress.done() < progress.total() { bar.finish_and_clear() } else { bar.abandon() }
        }
    }

    fn update(&self) {
        for (bar, progress) in &self.bars {
            bar.set_position(progress.done());
            bar.set_message(progress.describe());
        }
    }
}
