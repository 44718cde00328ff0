//! The gate of a CI job: which failures and bugs of finished results fail a command that waits.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};

use super::{exit_status::ExitStatus, output::note};
use crate::{
    call::Caller,
    failure::Failure,
    service::{
        api::bugs::Severity,
        result_kind::{ResultId, ResultKind, ResultTarget},
    },
    tools::{
        call_options::CallOptions,
        summary::{Summary, SummaryRequest, SummaryTarget},
    },
};

/// Number of tests that a reason names.
const NAMED: usize = 3;

/// Which failures fail the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Any,
    New,
    Never,
}

// A doc comment would become the description of the command.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GateFlags {
    #[arg(long, value_name = "WORD", value_enum, hide_possible_values = true, global = true)]
    #[arg(
        help = "Failures that fail the command: `any` (the default), `new` (of tests that did not fail in the result that it compares with) or `never`"
    )]
    fail_on: Option<FailOn>,

    #[arg(long, value_name = "RESULT", global = true)]
    #[arg(
        help = "What `--fail-on new` compares with: `latest-passed` (the default), `previous`, an id, or the name or id of a build"
    )]
    compare_with: Option<String>,

    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity, global = true)]
    #[arg(help = "A bug that is worse than low, medium, high or critical fails the command")]
    max_bug_severity: Option<Severity>,
}

fn parse_severity(word: &str) -> Result<Severity, String> {
    severity(word).ok_or_else(|| "must be `low`, `medium`, `high` or `critical`".to_owned())
}

fn severity(word: &str) -> Option<Severity> {
    serde_json::from_value(word.into()).ok()
}

/// What a gate says about finished results.
pub(super) struct GateOutcome {
    pub(super) status: ExitStatus,
    /// Runs whose tests failed in the result that was compared with, too.
    pub(super) known_runs: BTreeSet<String>,
}

impl GateFlags {
    /// Returns the name of a flag that is given, if there is one.
    pub(super) fn given(&self) -> Option<&'static str> {
        let fail_on = self.fail_on.map(|_| "fail-on");
        let compare_with = self.compare_with.as_ref().map(|_| "compare-with");
        fail_on.or(compare_with).or(self.max_bug_severity.map(|_| "max-bug-severity"))
    }

    fn fail_on(&self) -> FailOn {
        let default = if self.compare_with.is_some() { FailOn::New } else { FailOn::Any };
        self.fail_on.unwrap_or(default)
    }

    /// Decides about the results of finished runs, and prints the reasons of what fails the command. The first status
    /// that is no success stays.
    ///
    /// # Errors
    /// The failures of reading the results.
    pub(super) async fn decide(
        &self,
        caller: &Caller,
        project: Option<&str>,
        target: &ResultTarget,
    ) -> Result<GateOutcome, Failure> {
        let mut outcome = GateOutcome { status: ExitStatus::Success, known_runs: BTreeSet::new() };
        let targets = match target {
            ResultTarget::Single(id) => vec![id.clone()],
            ResultTarget::Jobs(jobs) => jobs.iter().map(|id| ResultId::new(ResultKind::Job, id)).collect(),
        };

        for target in targets {
            let compare_with = self.compare_with.as_deref().unwrap_or("latest-passed").to_owned();
            let request = SummaryRequest {
                target: SummaryTarget::Results(target.into()),
                project: project.map(str::to_owned),
                compare_with: (self.fail_on() == FailOn::New).then_some(compare_with),
                history: None,
            };
            let summary = request.run(caller, &CallOptions::silent()).await?;

            let status = self.status(&summary);
            if outcome.status == ExitStatus::Success {
                outcome.status = status;
            }
            let known = summary.comparison.and_then(|comparison| comparison.known).unwrap_or_default();
            outcome.known_runs.extend(known.into_iter().filter_map(|change| change.run_id));
        }

        Ok(outcome)
    }

    /// Returns the status of one result. What cannot be decided fails the command.
    fn status(&self, summary: &Summary) -> ExitStatus {
        let failures = match self.fail_on() {
            FailOn::Any => any_failure(summary),
            FailOn::New => new_failures(summary),
            FailOn::Never => None,
        };
        let worse: Vec<_> = summary
            .bugs
            .iter()
            .flatten()
            .filter(|(word, _)| severity(word) > self.max_bug_severity)
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        let has_unknown = summary.bugs.iter().flatten().any(|(word, _)| severity(word).is_none());
        let is_known = summary.bugs_complete == Some(true) && !has_unknown;

        let bugs = match self.max_bug_severity {
            None => ExitStatus::Success,
            Some(_) if !worse.is_empty() => {
                note(&format!("gate: there are worse bugs than allowed: {}", worse.join(", ")));
                ExitStatus::WorseBugs
            }
            Some(_) if is_known => ExitStatus::Success,
            Some(_) => {
                note("gate: not decided: not every bug or severity is known");
                ExitStatus::NotPassed
            }
        };
        let Some(reason) = failures else { return bugs };
        note(&format!("gate: {reason}"));
        ExitStatus::NotPassed
    }
}

fn any_failure(summary: &Summary) -> Option<String> {
    let failed = summary.verdicts.iter().filter(|(verdict, _)| *verdict != "SUCCESS");
    let words: Vec<_> = failed.map(|(verdict, count)| format!("{count} {verdict}")).collect();

    if !words.is_empty() {
        Some(format!("not all of the {} tests passed: {}", summary.total, words.join(", ")))
    } else if summary.total == 0 {
        Some("no test was run".to_owned())
    } else {
        (summary.all_passed != Some(true)).then(|| "not decided: not every result is known".to_owned())
    }
}

fn new_failures(summary: &Summary) -> Option<String> {
    let comparison = summary.comparison.as_ref()?;
    let new = comparison.new.as_deref().unwrap_or_default();
    let names: Vec<_> = new.iter().take(NAMED).map(|change| change.test.name.as_str()).collect();
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_gate_is_open_only_if_nothing_that_could_close_it_is_found_or_missing() {
        let any = GateFlags { fail_on: Some(FailOn::Any), ..GateFlags::default() };
        let new = GateFlags { compare_with: Some("b".to_owned()), ..GateFlags::default() };
        let max_bug_severity = Some(Severity::High);
        let bugs = GateFlags { fail_on: Some(FailOn::Never), max_bug_severity, compare_with: None };
        let with = json!({"target_type": "test_plan_execution", "target_id": "b"});
        let compared = |new: Value| json!({"all_passed": false, "comparison": {"with": with, "new": new}});

        for (flags, changed, expected) in [
            (&any, json!({}), ExitStatus::Success),
            (&any, json!({"verdicts": {"SUCCESS": 1, "ERROR": 1}}), ExitStatus::NotPassed),
            (&any, json!({"all_passed": null}), ExitStatus::NotPassed),
            (&any, json!({"total": 0, "verdicts": {}}), ExitStatus::NotPassed),
            (&new, compared(json!([])), ExitStatus::Success),
            (&new, compared(json!([{"test": {"name": "Login"}}])), ExitStatus::NotPassed),
            (&new, compared(json!(null)), ExitStatus::NotPassed),
            (&new, json!({"comparison": {"note": "none"}}), ExitStatus::NotPassed),
            (&bugs, json!({"bugs": {"high": 2}}), ExitStatus::Success),
            (&bugs, json!({"bugs": {"critical": 1}}), ExitStatus::WorseBugs),
            (&bugs, json!({"bugs": {"odd": 1}}), ExitStatus::NotPassed),
            (&bugs, json!({"bugs_complete": false}), ExitStatus::NotPassed),
        ] {
            let mut fields = json!({
                "target_type": "test_plan_execution", "target_id": "e", "state": "completed", "all_passed": true,
                "finished": 2, "total": 2, "verdicts": {"SUCCESS": 2}, "bugs": {}, "bugs_complete": true,
            });
            let all = fields.as_object_mut().expect("an object");
            all.extend(changed.as_object().expect("an object").clone());
            let summary = serde_json::from_value(fields).expect("a summary");
            assert_eq!(flags.status(&summary), expected, "{changed}");
        }
    }
}
