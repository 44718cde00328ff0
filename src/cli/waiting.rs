//! The one way in which commands wait: an interruption after which the wait can be continued,
//! the verdicts on standard output and as JUnit XML, and the exit status that they determine.

use std::{collections::BTreeSet, io::IsTerminal as _, path::PathBuf, time::Duration};

use clap::{Args, value_parser};
use serde_json::{Value, json};

use super::{
    columns::{duration_text, verdict},
    command_names::{continue_with, next_command},
    exit_status::{CommandError, ExitStatus, TerminationSignal, TerminationSignals},
    failure_output::FailureOutput,
    file_flags::{OutputFile, path_value},
    gate::GateFlags,
    junit::{self, CaseReader},
    output::{Output, Shown, note, status_after_output, terminal_width, write_error},
    progress::Progress,
    table::{Cell, Fit, Table},
};
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::{
        api::{Uuid, builds::GetBuild},
        record_kind::ResultTarget,
    },
    settings::Settings,
    tools::{
        project_client::ProjectClient,
        waiting::{Completion, Wait, WaitStatus},
    },
};

/// Maximum and default of the time to wait, in seconds.
pub(super) const MAX_TIMEOUT_S: u64 = 7_200;

#[derive(Args)]
pub(super) struct JunitFlag {
    #[arg(long, value_name = "FILE", value_parser = path_value())]
    #[arg(
        help = "Write the verdicts as JUnit XML, for CI; the screenshots of failures go to FILE without its extension and `-screenshots`"
    )]
    pub(super) junit: Option<PathBuf>,
}

// What a command has that may wait for what it starts.
#[derive(Args)]
pub(super) struct WaitFlags {
    #[arg(long, help = "Wait until everything has finished, and print the verdicts")]
    pub(super) wait: bool,

    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MAX_TIMEOUT_S))]
    #[arg(help = "Maximum time to wait, 1-7200. Default: 7200")]
    timeout_seconds: Option<u64>,

    #[command(flatten)]
    pub(super) junit: JunitFlag,
}

impl WaitFlags {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.unwrap_or(MAX_TIMEOUT_S))
    }

    /// A flag of the wait, or the flag `other`, is an error without `--wait`.
    pub(super) fn check(&self, other: Option<&str>) -> Result<(), Failure> {
        let junit = self.junit.junit.as_ref().map(|_| "junit");
        match junit.or(self.timeout_seconds.map(|_| "timeout-seconds")).or(other) {
            Some(flag) if !self.wait => {
                let failure = Failure::new(Code::InvalidArguments, format!("`--{flag}` needs `--wait`"));
                Err(failure.hint("nothing was sent"))
            }
            _ => Ok(()),
        }
    }
}

pub(super) struct VerdictOutput {
    junit: Option<OutputFile>,
    output: Output,
    failures: FailureOutput,
    /// Decides instead of the verdicts.
    gate: Option<GateFlags>,
}

impl VerdictOutput {
    /// Checks that the JUnit file can be written before any request is sent.
    pub(super) fn new(junit: &JunitFlag, output: Output, failures: FailureOutput) -> Result<Self, Failure> {
        let junit = junit.junit.as_deref().map(|path| OutputFile::from_flag("junit", path)).transpose()?;
        Ok(Self { junit, output, failures, gate: None })
    }

    /// Lets the gate decide, if one of its flags is given.
    pub(super) fn with_gate(self, gate: &GateFlags) -> Self {
        Self { gate: gate.given().map(|_| gate.clone()), ..self }
    }
}

/// What is waited for, so that the wait can be continued.
pub(super) struct WaitSubject<'a> {
    pub(super) settings: &'a Settings,
    pub(super) caller: &'a Caller,
    pub(super) project: Option<&'a str>,
    pub(super) target: ResultTarget,
    /// Ids of the jobs that are known already.
    pub(super) jobs: Vec<String>,
    /// The service's answer to the start, if the command started anything.
    pub(super) started: Option<Value>,
    pub(super) not_started: Vec<NotStarted>,
    /// Id of the build that the service has chosen, if the user named none.
    pub(super) chosen_build: Option<String>,
}

/// A run that could not be started.
#[derive(Clone, Debug)]
pub(super) struct NotStarted {
    /// Label of the device; empty if the service does not name the device.
    pub(super) device: String,
    pub(super) reason: String,
}

impl<'a> WaitSubject<'a> {
    pub(super) fn new(
        settings: &'a Settings,
        caller: &'a Caller,
        project: Option<&'a str>,
        target: ResultTarget,
    ) -> Self {
        let (jobs, started, not_started, chosen_build) = (Vec::new(), None, Vec::new(), None);
        Self { settings, caller, project, target, jobs, started, not_started, chosen_build }
    }

    pub(super) fn advice(&self) -> String {
        let ids = match &self.target {
            ResultTarget::Single(result) => std::slice::from_ref(&result.id),
            ResultTarget::Jobs(ids) => ids,
        };
        let project = self.project.into_iter().flat_map(|project| ["--project", project]);
        let words: Vec<_> =
            std::iter::once("wait").chain(ids.iter().map(String::as_str)).chain(project).collect();

        continue_with(self.settings, &words)
    }

    pub(super) fn known_jobs(&self) -> &[String] {
        match &self.target {
            ResultTarget::Jobs(ids) => ids,
            ResultTarget::Single(_) => &self.jobs,
        }
    }

    /// Says how to wait for what was started, what was not started, and which build the service has chosen.
    pub(super) async fn announce(&self) {
        note(&self.advice());
        for run in &self.not_started {
            let device = if run.device.is_empty() { String::new() } else { format!(" on {}", run.device) };
            note(&format!("not started{device}: {}", run.reason));
        }
        self.report_chosen_build().await;
    }

    /// Prints which build the service has chosen. The start is done, so that a failure is only a missing name.
    async fn report_chosen_build(&self) {
        let Some(id) = &self.chosen_build else { return };
        let client = ProjectClient { caller: self.caller.clone(), project: self.project.map(str::to_owned) };
        let build = client.call(&GetBuild { build_id: Uuid(id.clone()) }).await.ok();

        let name = build.map(|build| build.view::<GetBuild>().build.name).filter(|name| !name.is_empty());
        let name = name.map(|name| format!("{name} ")).unwrap_or_default();
        note(&format!("the service chose the build {name}({id})"));
    }

    /// Announces the wait, waits for the end, prints the verdicts and writes the JUnit file. Returns the exit status that the
    /// verdicts determine. An output that cannot be written replaces only the status of success.
    pub(super) async fn finish(
        &self,
        timeout: Duration,
        output: VerdictOutput,
    ) -> Result<ExitStatus, CommandError> {
        let mut signals = TerminationSignals::new();
        note(&self.advice());
        // A signal drops the wait, which removes the progress bar, before anything is printed.
        let completion = tokio::select! {
            completion = self.wait(timeout) => completion?,
            signal = signals.receive() => return Ok(self.interrupted_by(signal)),
        };

        let printed = self.print(&completion, output.output)?;
        let mut status = self.exit_status(&completion);
        let mut known_runs = BTreeSet::new();
        if status == ExitStatus::TimedOut {
            note(&self.advice());
        } else if let Some(gate) = output.gate.filter(|_| self.not_started.is_empty()) {
            let decision = gate.decide(self.caller, self.project, &self.target).await;
            (status, known_runs) = decision.map_err(CommandError::AfterRequests)?;
        }
        if status == ExitStatus::Success {
            status = printed;
        }

        // The file is written even if standard output is closed.
        let Some(file) = output.junit else { return Ok(status) };
        let document =
            match self.junit_document(&completion, &known_runs, file.directory_beside("screenshots")).await {
                Ok(document) => document,
                Err(error) => return Ok(status_after_output(status, Err(error))),
            };
        let Err(failure) = file.write(&document) else { return Ok(status) };
        output.failures.print(&failure);

        Ok(if status == ExitStatus::Success { ExitStatus::Rejected } else { status })
    }

    async fn wait(&self, timeout: Duration) -> Result<Completion, Failure> {
        // The progress bar begins after everything that is said once.
        self.report_chosen_build().await;
        let (target, project) = (self.target.clone(), self.project.map(str::to_owned));
        let wait = Wait { target, project, timeout, interval: None };

        let completion = wait.run(self.caller, &Progress::of_wait().options()).await;
        completion.map_err(|failure| match &self.started {
            Some(started) => {
                let hint = format!("the start succeeded; {}", self.advice());
                failure.detail("started", started.clone()).hint(hint)
            }
            None => failure,
        })
    }

    /// Says how to continue, and returns the exit status.
    fn interrupted_by(&self, signal: TerminationSignal) -> ExitStatus {
        if std::io::stderr().is_terminal() {
            // The terminal shows the typed Ctrl-C.
            note("");
        }
        note("interrupted; the runs continue");
        note(&self.advice());

        signal.exit_status()
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

    /// Prints the verdicts. Returns the status of an output that cannot be written, or success.
    fn print(&self, completion: &Completion, output: Output) -> Result<ExitStatus, CommandError> {
        let (table, summary) = (self.verdict_table(completion), self.summary(completion));
        if !output.is_for_programs() {
            let text = table.fit(terminal_width()).to_string() + &summary;
            return output.print(ExitStatus::Success, &completion, || Shown::Text(text));
        }

        // The log of a CI job usually contains only standard error, so the table is printed there.
        let logged = write_error(&format!("{table}{summary}"));
        let mut value = json!(completion);
        if let (Some(started), Value::Object(fields)) = (&self.started, &mut value) {
            fields.insert("started".to_owned(), started.clone());
        }
        let status = output.print(ExitStatus::Success, &value, || table)?;

        Ok(status_after_output(status, logged))
    }

    /// Returns a table with a row for each test. A reason is never shortened.
    fn verdict_table(&self, completion: &Completion) -> Table {
        let header = ["verdict", "test", "platform", "run", "attempts", "reason"];
        let mut table = Table::new(header).fitting([0, 3], Fit::Whole).fitting([5], Fit::Programs);
        let mut add = |state: &str, [test, platform, run, attempts]: [&str; 4], reason: &str| {
            let cells = [test, platform, run, attempts, reason].map(Cell::from);
            table.add_row(std::iter::once(verdict(state)).chain(cells));
            table.add_note(reason);
        };

        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        for item in &completion.items {
            let state = item.verdict().or_else(|| item.status.clone()).unwrap_or_default();
            let attempts = item.attempts.map(|attempts| attempts.to_string()).unwrap_or_default();
            let cells = [item.name(), &text(&item.platform), &text(&item.run_id), &attempts];
            add(&state, cells, &text(&item.reason));
        }
        // What has no verdict still has a reason.
        for run in &self.not_started {
            add("not started", ["", &run.device, "", ""], &run.reason);
        }
        for reason in unread_reasons(completion) {
            add("not read", [""; 4], &reason);
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

        let time = duration_text(completion.elapsed_seconds);
        format!("{passed} of {total} passed; waited {time}\n{}", explanation.unwrap_or_default())
    }

    /// Returns the verdicts as JUnit XML. Saves the screenshots of failures in the directory `screenshots`.
    async fn junit_document(
        &self,
        completion: &Completion,
        known_runs: &BTreeSet<String>,
        screenshots: Option<PathBuf>,
    ) -> anyhow::Result<String> {
        let plan = junit::plan_name(completion);
        let reader = CaseReader::new(self.caller, self.project, &plan, screenshots);
        let mut suites = reader.suites(completion, known_runs).await;
        for run in &self.not_started {
            let device = format!("[{}]", run.device);
            suites.push(junit::suite_of_error(&device, "not started", &run.reason, &plan));
        }
        for reason in unread_reasons(completion) {
            suites.push(junit::suite_of_error("[other tests]", "not read", &reason, &plan));
        }

        Ok(junit::render_document(&plan, suites)?)
    }
}

fn unread_reasons(completion: &Completion) -> Vec<String> {
    completion.missing.unread.iter().map(|unread| format!("{}: {}", unread.what, unread.why)).collect()
}
