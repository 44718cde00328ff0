//! The gate of a CI job: which failures and bugs of finished results fail a command that waits.

use std::collections::BTreeSet;

use clap::Args;

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
        summary::{FailOn, Gate, GateDecision, Summary, SummaryRequest, SummaryTarget},
    },
};

/// Word for the last build on which everything passed.
const LATEST_PASSED: &str = "latest-passed";

// A doc comment would become the description of the command.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GateFlags {
    #[arg(long, value_name = "WORD", value_parser = parse_fail_on, global = true)]
    #[arg(
        help = "Failures that fail the command: `any` (the default), `new` (of tests that passed on the baseline build) or `never`"
    )]
    fail_on: Option<FailOn>,

    #[arg(long, value_name = "BUILD", global = true)]
    #[arg(
        help = "Name or id of the build with which `--fail-on new` compares, or `latest-passed`, which is the default"
    )]
    baseline: Option<String>,

    #[arg(long, value_name = "SEVERITY", value_parser = parse_severity, global = true)]
    #[arg(help = "A bug that is worse than low, medium, high or critical fails the command")]
    max_bug_severity: Option<Severity>,
}

fn parse_fail_on(word: &str) -> Result<FailOn, String> {
    match word {
        "any" => Ok(FailOn::Any),
        "new" => Ok(FailOn::New),
        "never" => Ok(FailOn::Never),
        _ => Err("must be `any`, `new` or `never`".to_owned()),
    }
}

fn parse_severity(word: &str) -> Result<Severity, String> {
    serde_json::from_value(word.into())
        .map_err(|_| "must be `low`, `medium`, `high` or `critical`".to_owned())
}

/// What a gate says about finished results.
pub(super) struct GateOutcome {
    pub(super) status: ExitStatus,
    /// Runs whose tests failed on the baseline build, too.
    pub(super) known_runs: BTreeSet<String>,
}

impl GateFlags {
    /// Returns the name of a flag that is given, if there is one.
    pub(super) fn given(&self) -> Option<&'static str> {
        let fail_on = self.fail_on.map(|_| "fail-on");
        let baseline = self.baseline.as_ref().map(|_| "baseline");
        fail_on.or(baseline).or(self.max_bug_severity.map(|_| "max-bug-severity"))
    }

    fn fail_on(&self) -> FailOn {
        let compares = self.baseline.is_some();
        self.fail_on.unwrap_or(if compares { FailOn::New } else { FailOn::Any })
    }

    /// Decides about the results of finished runs, and prints the reasons of what fails the command.
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
            let summary = self.request(project, target).run(caller, &CallOptions::silent()).await?;
            outcome.add(self.status(&summary), &summary);
        }

        Ok(outcome)
    }

    fn request(&self, project: Option<&str>, target: ResultId) -> SummaryRequest {
        let baseline = self.baseline.clone().unwrap_or_else(|| LATEST_PASSED.to_owned());
        SummaryRequest {
            target: SummaryTarget::Results(target.into()),
            project: project.map(str::to_owned),
            compare_with: None,
            baseline: (self.fail_on() == FailOn::New).then_some(baseline),
            history: None,
        }
    }

    /// Returns the status of one result. What cannot be decided fails the command.
    fn status(&self, summary: &Summary) -> ExitStatus {
        let failures = Gate { fail_on: self.fail_on(), max_bug_severity: None }.decide(summary);
        let bugs = Gate { fail_on: FailOn::Never, max_bug_severity: self.max_bug_severity }.decide(summary);
        print_reasons(&failures);
        print_reasons(&bugs);

        match (failures, bugs) {
            (GateDecision::Open, GateDecision::Open) => ExitStatus::Success,
            (GateDecision::Open, GateDecision::Closed(_)) => ExitStatus::WorseBugs,
            _ => ExitStatus::NotPassed,
        }
    }
}

impl GateOutcome {
    /// Adds one result. The first status that is no success stays.
    fn add(&mut self, status: ExitStatus, summary: &Summary) {
        if self.status == ExitStatus::Success {
            self.status = status;
        }
        let known = summary.baseline.iter().flat_map(|baseline| baseline.known.iter().flatten());
        self.known_runs.extend(known.filter_map(|change| change.run_id.clone()));
    }
}

fn print_reasons(decision: &GateDecision) {
    let (beginning, reasons) = match decision {
        GateDecision::Open => return,
        GateDecision::Closed(reasons) => ("gate", reasons),
        GateDecision::Unknown(reasons) => ("gate, not decided", reasons),
    };
    for reason in reasons {
        note(&format!("{beginning}: {reason}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn bugs_that_are_not_known_are_not_worse_bugs() {
        let flags = GateFlags { max_bug_severity: Some(Severity::High), ..GateFlags::default() };
        let summary = |bugs: Value, is_complete: bool| -> Summary {
            serde_json::from_value(json!({
                "target_type": "run", "target_id": "r", "state": "completed", "all_passed": true, "finished": 1,
                "total": 1, "verdicts": {"SUCCESS": 1}, "bugs": bugs, "bugs_complete": is_complete, "unread": [{"what": "bugs", "why": "w"}],
            }))
            .expect("a summary")
        };

        assert_eq!(flags.status(&summary(json!({"high": 1}), true)), ExitStatus::Success);
        assert_eq!(flags.status(&summary(json!({"critical": 1}), true)), ExitStatus::WorseBugs);
        assert_eq!(flags.status(&summary(json!({}), false)), ExitStatus::NotPassed);
    }

    #[test]
    fn a_baseline_selects_new_failures_unless_a_word_does() {
        let flags = |fail_on: Option<&str>, baseline: Option<&str>| GateFlags {
            fail_on: fail_on.map(|word| parse_fail_on(word).expect("a word")),
            baseline: baseline.map(str::to_owned),
            max_bug_severity: None,
        };
        for (fail_on, baseline, expected) in [
            (None, None, FailOn::Any),
            (None, Some("b"), FailOn::New),
            (Some("never"), Some("b"), FailOn::Never),
            (Some("new"), None, FailOn::New),
        ] {
            assert_eq!(flags(fail_on, baseline).fail_on(), expected, "{fail_on:?} {baseline:?}");
        }

        assert!(parse_fail_on("all").is_err() && parse_severity("worst").is_err());
        assert_eq!(parse_severity("high"), Ok(Severity::High));
    }
}
