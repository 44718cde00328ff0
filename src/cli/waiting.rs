//! The one way in which commands wait: progress on standard error, an interruption after which the wait can be continued,
//! the verdicts on standard output and as JUnit XML, and the exit status that they determine.

use std::{
    io::{IsTerminal as _, Result as IoResult, Write as _},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use clap::{Arg, ArgMatches};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::{
    calls::{ConsentAnswer, ask},
    command_line_text::{continue_with, next_command},
    exit_status::{CommandError, ExitStatus},
    failure_output::OutputFormat,
    file_flags::{OutputFile, path_value},
    name_resolution::jobs_of,
    output::{note, print_line, print_table, print_text, prints_json, status_after_output},
    reply_output::verdict_style,
    table::{Cell, Table},
    termination::TerminationSignals,
};
use crate::{
    call::{
        Caller,
        arguments::{CommonArguments, ToolArguments},
    },
    failure::Failure,
    fields::Fields,
    service::{api::runs::StopRuns, catalog::ListedOperation as _},
    settings::Settings,
    text::single_line,
    tools::{
        call_options::{CallOptions, ProgressSink},
        junit::{self, Case, CaseReader},
        waiting::{Completion, WaitStatus, WaitTarget},
    },
};

/// Maximum and default of the time to wait, in seconds.
pub(super) const MAX_TIMEOUT_S: u64 = 7_200;

/// Flag that names the JUnit file.
pub(super) const JUNIT: &str = "junit";

/// Interval at which the spinner moves.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn junit_flag() -> Arg {
    let flag = Arg::new(JUNIT).long(JUNIT).value_name("FILE").value_parser(path_value());
    flag.help("Write the verdicts as JUnit XML, for CI; the screenshots of failures go to FILE without its extension and `-screenshots`")
}

/// Where the verdicts go.
pub(super) struct VerdictOutput {
    junit: Option<OutputFile>,
    format: OutputFormat,
}

impl VerdictOutput {
    /// Returns what the flags select. Checks that the JUnit file can be written before any request is sent.
    pub(super) fn from_matches(matches: &ArgMatches) -> Result<Self, Failure> {
        let path = matches.get_one::<PathBuf>(JUNIT);
        let junit = path.map(|path| OutputFile::from_flag(JUNIT, path)).transpose()?;
        Ok(Self { junit, format: OutputFormat::from_matches(matches) })
    }
}

/// What is waited for, so that the wait can be continued.
pub(super) struct WaitSubject<'a> {
    pub(super) settings: &'a Settings,
    pub(super) caller: &'a Caller,
    pub(super) project: Option<&'a str>,
    pub(super) target: WaitTarget,
    /// Ids of the jobs that are known already.
    pub(super) jobs: Vec<String>,
    /// The service's answer to the start, if the command started anything.
    pub(super) started: Option<Value>,
    pub(super) not_started: Vec<NotStarted>,
}

/// A run that could not be started.
#[derive(Clone, Debug)]
pub(super) struct NotStarted {
    /// Label of the device; empty if the service does not name the device.
    pub(super) device: String,
    pub(super) reason: String,
}

impl WaitSubject<'_> {
    /// Returns the advice to continue the wait.
    pub(super) fn advice(&self) -> String {
        let ids = match &self.target {
            WaitTarget::Single(result) => std::slice::from_ref(&result.id),
            WaitTarget::Jobs(ids) => ids,
        };
        let project = self.project.into_iter().flat_map(|project| ["--project", project]);
        let words: Vec<_> =
            std::iter::once("wait").chain(ids.iter().map(String::as_str)).chain(project).collect();

        continue_with(self.settings, &words)
    }

    /// Prints the ids of the jobs, and the command that continues the wait.
    pub(super) fn announce(&self) {
        let jobs = match &self.target {
            WaitTarget::Jobs(ids) => ids,
            WaitTarget::Single(_) => &self.jobs,
        };
        if !jobs.is_empty() {
            note(&format!("jobs: {}", jobs.join(" ")));
        }
        note(&self.advice());
    }

    /// Announces the wait, waits for the end of `wait`, prints the verdicts and writes the JUnit file. Returns the exit
    /// status that the verdicts determine. An output that cannot be written replaces only the status of success.
    pub(super) async fn finish(
        &self,
        wait: impl Future<Output = Result<Completion, Failure>>,
        output: VerdictOutput,
    ) -> Result<ExitStatus, CommandError> {
        self.announce();
        let Some(completion) = self.interruptible(wait).await? else { return Ok(ExitStatus::TimedOut) };

        let printed = self.print(&completion, output.format == OutputFormat::Json);
        let status = status_after_output(self.exit_status(&completion), printed);
        if status == ExitStatus::TimedOut {
            note(&self.advice());
        }

        // The file is written even if standard output is closed.
        let Some(file) = output.junit else { return Ok(status) };
        let document = match self.junit_document(&completion, file.directory_beside("screenshots")).await {
            Ok(document) => document,
            Err(error) => return Ok(status_after_output(status, Err(error))),
        };
        let Err(failure) = file.write(&document) else { return Ok(status) };
        output.format.print(&failure);

        Ok(if status == ExitStatus::Success { ExitStatus::Rejected } else { status })
    }

    /// Waits for the end of `wait` or for a signal. After a signal a user at the terminal is asked whether to stop the
    /// runs. Returns `None` after a signal.
    async fn interruptible(
        &self,
        wait: impl Future<Output = Result<Completion, Failure>>,
    ) -> Result<Option<Completion>, CommandError> {
        let mut signals = TerminationSignals::new();
        tokio::select! {
            completion = wait => return Ok(Some(completion?)),
            () = signals.next() => {}
        }

        tokio::select! {
            ended = self.end_early() => ended.map(|()| None),
            // A second signal is not discussed.
            () = signals.next() => Ok(None),
        }
    }

    /// Says how to continue, and stops the runs if the user wants it.
    async fn end_early(&self) -> Result<(), CommandError> {
        note("interrupted; the runs continue");
        note(&self.advice());

        let question =
            tokio::task::spawn_blocking(|| ask("The runs can be stopped now; stopped runs have no verdict"));
        // A thread that panics has not asked.
        if question.await.map_or(Ok(ConsentAnswer::NotAsked), |answer| answer)? != ConsentAnswer::Yes {
            return Ok(());
        }

        let jobs = jobs_of(self.caller, self.project, &self.target, &self.jobs).await?;
        let own = Fields::from_iter([("job_ids".to_owned(), json!(jobs))]);
        let arguments = ToolArguments::new(own, CommonArguments::in_project(self.project));
        self.caller.call_guarded(StopRuns::entry(), arguments).await?;
        note(&format!("stopped jobs: {}", jobs.join(" ")));

        Ok(())
    }

    /// Returns success only if every requested run was started, has finished and has passed.
    fn exit_status(&self, completion: &Completion) -> ExitStatus {
        if completion.status == WaitStatus::TimedOut {
            ExitStatus::TimedOut
        } else if completion.all_passed == Some(true) && self.not_started.is_empty() {
            ExitStatus::Success
        } else {
            ExitStatus::NotPassed
        }
    }

    fn print(&self, completion: &Completion, raw: bool) -> IoResult<()> {
        let table = self.verdict_table(completion);
        let summary = self.summary(completion);
        if !prints_json(raw) {
            return print_table(table).and_then(|()| print_text(summary));
        }

        let mut value = json!(completion);
        if let (Some(started), Value::Object(fields)) = (&self.started, &mut value) {
            fields.insert("started".to_owned(), started.clone());
        }
        let printed = print_line(value);

        // The log of a CI job usually contains only standard error, so the table is printed there.
        let logged = write!(anstream::stderr(), "{}{summary}", table.with_styles());
        printed.and(logged)
    }

    /// Returns a table with a row for each test.
    fn verdict_table(&self, completion: &Completion) -> Table {
        let mut table = Table::new(["verdict", "test", "platform", "run", "attempts", "reason"]);
        for column in [0, 3, 5] {
            table.keep_whole(column);
        }

        for item in &completion.items {
            let verdict = item.verdict().or_else(|| item.status.clone()).unwrap_or_default();
            let style = verdict_style(&verdict);
            table.add_row([
                Cell::from(verdict).styled(style),
                item.name().to_owned().into(),
                item.platform.clone().unwrap_or_default().into(),
                item.run_id.clone().unwrap_or_default().into(),
                item.attempts.map(|attempts| attempts.to_string()).unwrap_or_default().into(),
                item.reason.clone().unwrap_or_default().into(),
            ]);
        }

        // What has no verdict still has a reason.
        let mut add_notice = |state: &str, platform: &str, reason: &str| {
            let state = Cell::from(state).styled(verdict_style(state));
            let empty = Cell::default;
            table.add_row([state, empty(), platform.into(), empty(), empty(), reason.into()]);
        };
        for run in &self.not_started {
            add_notice("not started", &run.device, &run.reason);
        }
        for reason in unread_reasons(completion) {
            add_notice("not read", "", &reason);
        }

        table
    }

    /// Returns the number of passed tests, and the command that explains a failure.
    fn summary(&self, completion: &Completion) -> String {
        let passed = completion.verdicts.get("SUCCESS").unwrap_or(&0);
        let total = completion.total + self.not_started.len();
        let failed = completion.result_to_explain();
        let explanation = failed.and_then(|(_, id)| next_command(self.settings, &["report", id]));
        let explanation = explanation.map(|command| format!("details: {command}\n"));

        format!("{passed} of {total} passed\n{}", explanation.unwrap_or_default())
    }

    /// Returns the verdicts as JUnit XML. Saves the screenshots of failures in the directory `screenshots`.
    async fn junit_document(
        &self,
        completion: &Completion,
        screenshots: Option<PathBuf>,
    ) -> anyhow::Result<String> {
        let plan = junit::plan_name(completion);
        let reader = CaseReader::new(self.caller, self.project, &plan, screenshots);
        let with_items = reader.cases(completion).await.into_iter();
        let not_started = self.not_started.iter();
        let not_started = not_started.map(|run| Case::not_started(&run.device, &run.reason, &plan));
        let unread = unread_reasons(completion);
        let not_read = unread.iter().map(|reason| Case::not_read(reason, &plan));
        let cases: Vec<_> = with_items.chain(not_started).chain(not_read).collect();

        Ok(junit::render_document(&plan, &cases)?)
    }
}

/// Returns the reasons why tests are missing from the items.
fn unread_reasons(completion: &Completion) -> Vec<String> {
    completion.unread.iter().map(|unread| format!("{}: {}", unread.what, unread.why)).collect()
}

/// Returns the options of a call whose progress is shown on standard error.
pub(super) fn options_with_progress() -> CallOptions {
    CallOptions { progress: Arc::new(WaitProgress::new()), ..CallOptions::silent() }
}

/// Display of the progress of a wait on standard error: a bar on a terminal, otherwise a line for every change.
#[derive(Debug)]
enum WaitProgress {
    Bar(ProgressBar),
    /// The line that was printed last.
    Lines(Mutex<String>),
}

impl WaitProgress {
    fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::default());
        }

        let style = ProgressStyle::with_template("{spinner} {elapsed_precise} [{bar:20}] {wide_msg}");
        let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(TICK);

        Self::Bar(bar)
    }
}

impl ProgressSink for WaitProgress {
    fn shows_steps(&self) -> bool {
        true
    }

    fn report(&self, done: u64, total: u64, message: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(single_line(message));
            }

            Self::Lines(last) => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                // Equal lines would fill the log of a CI job.
                if *last != message {
                    message.clone_into(&mut last);
                    // If standard error is closed, the wait continues without progress messages.
                    drop(writeln!(anstream::stderr(), "{}", single_line(message)));
                }
            }
        }
    }
}

impl Drop for WaitProgress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
