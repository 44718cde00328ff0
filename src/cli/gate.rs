//! The gate of a CI job: which failures and bugs of finished results fail a command that waits.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use super::{exit_status::ExitStatus, output::note};
use crate::{
    call::Caller,
    failure::Failure,
    service::{
        api::bugs::Severity,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    tools::{
        context::CallOptions,
        summary::{Summary, SummaryRequest},
    },
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Any,
    New,
    Never,
}

#[derive(Args, Clone, Debug, Default)]
pub(super) struct GateFlags {
    #[arg(long, value_name = "WORD", value_enum, hide_possible_values = true)]
    #[arg(
        help = "Failures that fail the command: `any` (the default), `new` (of tests that did not fail in the result that it compares with) or `never`"
    )]
    fail_on: Option<FailOn>,

    #[arg(long, value_name = "RESULT")]
    #[arg(
        help = "What `--fail-on new` compares with: `latest-passed` (the default), `previous`, an id, or the name or id of a build"
    )]
    compare_with: Option<String>,

    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    #[arg(help = "A bug that is worse than low, medium, high or critical fails the command")]
    max_bug_severity: Option<Severity>,
}

pub(super) fn severity(word: &str) -> Result<Severity, String> {
    serde_json::from_value(word.into())
        .map_err(|_| "must be `low`, `medium`, `high` or `critical`".to_owned())
}

impl GateFlags {
    pub(super) fn given(&self) -> Option<&'static str> {
        let fail_on = self.fail_on.map(|_| "fail-on");
        let compare_with = self.compare_with.as_ref().map(|_| "compare-with");
        fail_on.or(compare_with).or(self.max_bug_severity.map(|_| "max-bug-severity"))
    }

    fn fail_on(&self) -> FailOn {
        let default = if self.compare_with.is_some() { FailOn::New } else { FailOn::Any };
        self.fail_on.unwrap_or(default)
    }

    /// Decides about the results of finished runs, and prints the reasons of what fails the command. Returns the status, and the
    /// runs whose tests failed in the result that was compared with, too.
    pub(super) async fn decide(
        &self,
        caller: &Caller,
        project: Option<&str>,
        target: &ResultTarget,
    ) -> Result<(ExitStatus, BTreeSet<String>), Failure> {
        let (mut status, mut known_runs) = (ExitStatus::Success, BTreeSet::new());
        let targets = match target {
            ResultTarget::Single(id) => vec![id.clone()],
            ResultTarget::Jobs(jobs) => jobs.iter().map(|id| ResultId::new(ResultKind::Job, id)).collect(),
        };

        for target in targets {
            let compare_with = self.compare_with.as_deref().unwrap_or("latest-passed").to_owned();
            let request = SummaryRequest {
                target: target.into(),
                project: project.map(str::to_owned),
                compare_with: (self.fail_on() == FailOn::New).then_some(compare_with),
                history: None,
            };
            let summary = request.run(caller, &CallOptions::silent()).await?;

            for (failed, reason) in self.reasons(&summary) {
                note(&format!("gate: {reason}"));
                status = if status == ExitStatus::Success { failed } else { status };
            }
            let known = summary.comparison.and_then(|comparison| comparison.known).unwrap_or_default();
            known_runs.extend(known.into_iter().filter_map(|change| change.run_id));
        }

        Ok((status, known_runs))
    }

    /// Returns why one result fails the command. What cannot be decided fails it, too.
    fn reasons(&self, summary: &Summary) -> Vec<(ExitStatus, String)> {
        let failures = match self.fail_on() {
            FailOn::Any => any_failure(summary),
            FailOn::New => new_failures(summary),
            FailOn::Never => None,
        };
        let bugs = self.max_bug_severity.and_then(|most| bugs(summary, most));

        failures.map(|reason| (ExitStatus::NotPassed, reason)).into_iter().chain(bugs).collect()
    }
}

fn bugs(summary: &Summary, most: Severity) -> Option<(ExitStatus, String)> {
    let found = || summary.bugs.iter().flatten();
    let worse = found().filter(|(word, _)| severity(word).is_ok_and(|severity| severity > most));
    let worse: Vec<_> = worse.map(|(word, count)| format!("{count} {word}")).collect();
    let is_known = summary.bugs_complete == Some(true) && found().all(|(word, _)| severity(word).is_ok());

    if worse.is_empty() {
        let reason = "not decided: not every bug or severity is known".to_owned();
        (!is_known).then_some((ExitStatus::NotPassed, reason))
    } else {
        Some((ExitStatus::WorseBugs, format!("there are worse bugs than allowed: {}", worse.join(", "))))
    }
}

fn any_failure(summary: &Summary) -> Option<String> {
    let failed = summary.verdicts.iter().filter(|(verdict, _)| *verdict != "SUCCESS");
    let words: Vec<_> = failed.map(|(verdict, count)| format!("{count} {verdict}")).collect();

    if !words.is_empty() {
        return Some(format!("not all of the {} tests passed: {}", summary.total, words.join(", ")));
    }

    let reason = if summary.total == 0 { "no test was run" } else { "not every result is known" };
    (summary.total == 0 || summary.all_passed != Some(true)).then(|| format!("not decided: {reason}"))
}

fn new_failures(summary: &Summary) -> Option<String> {
    let comparison = summary.comparison.as_ref()?;
    let new = comparison.new.as_deref().unwrap_or_default();
    let names: Vec<_> = new.iter().take(3).map(|change| change.test.name.as_str()).collect();
    let is_known =
        comparison.new.is_some() && summary.state == "completed" && !summary.verdicts.contains_key("no_run");

    if !new.is_empty() {
        let more = if new.len() > names.len() { ", ..." } else { "" };
        Some(format!("{} tests failed that did not fail before: {}{more}", new.len(), names.join(", ")))
    } else if comparison.with.is_none() {
        let why = comparison.note.as_deref().unwrap_or("no result was found");
        Some(format!("not decided: there is nothing to compare with: {why}"))
    } else {
        (!is_known).then(|| "not decided: not every test has a known result".to_owned())
    }
}
