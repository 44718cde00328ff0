//! The gate of a CI job: whether results are good enough to go on.

use super::answer::Summary;
use crate::service::api::bugs::Severity;

/// Number of tests or severities that a reason names.
const NAMED: usize = 3;

/// Which failures close the gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailOn {
    /// Every test that did not pass.
    #[default]
    Any,
    /// A test that did not pass, and passed in the last finished result on the baseline build.
    New,
    /// None.
    Never,
}

/// A gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Which failures close the gate.
    pub fail_on: FailOn,
    /// A bug that is worse than this closes the gate.
    pub max_bug_severity: Option<Severity>,
}

/// What a gate says about results, with a sentence for each reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateDecision {
    /// The results are good enough.
    Open,
    /// The results are not good enough, whatever else is found.
    Closed(Vec<String>),
    /// Nothing closes the gate, but something is missing that could.
    Unknown(Vec<String>),
}

/// The reasons found so far.
#[derive(Debug, Default)]
struct Reasons {
    closing: Vec<String>,
    missing: Vec<String>,
}

impl Gate {
    /// Decides about the results of a summary. For [`FailOn::New`] the summary must have been made with a baseline.
    pub fn decide(&self, summary: &Summary) -> GateDecision {
        let mut reasons = Reasons::default();

        match self.fail_on {
            FailOn::Any => reasons.add_any_failure(summary),
            FailOn::New => reasons.add_new_failures(summary),
            FailOn::Never => {}
        }
        if let Some(max) = self.max_bug_severity {
            reasons.add_bugs(summary, max);
        }

        match reasons {
            Reasons { closing, .. } if !closing.is_empty() => GateDecision::Closed(closing),
            Reasons { missing, .. } if !missing.is_empty() => GateDecision::Unknown(missing),
            Reasons { .. } => GateDecision::Open,
        }
    }
}

impl Reasons {
    fn add_any_failure(&mut self, summary: &Summary) {
        let failed: Vec<_> = summary.verdicts.iter().filter(|(verdict, _)| *verdict != "SUCCESS").collect();
        let count: usize =
            failed.iter().map(|(_, count)| **count).sum::<usize>() + left_out(summary, "verdicts");

        if count > 0 {
            let words: Vec<_> = failed.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
            self.closing.push(format!(
                "{count} of {} tests did not pass: {}",
                summary.total,
                words.join(", ")
            ));
        } else if !is_finished(summary) {
            self.missing.push(NOT_FINISHED.to_owned());
        } else if summary.total == 0 {
            self.closing.push("no test was run".to_owned());
        } else if summary.all_passed != Some(true) {
            self.missing.push(NOT_ALL_READ.to_owned());
        }
    }

    fn add_new_failures(&mut self, summary: &Summary) {
        let Some(baseline) = &summary.baseline else {
            return self.missing.push("there is no comparison with a baseline build".to_owned());
        };
        if baseline.with.is_none() {
            let why = baseline.note.as_deref().unwrap_or("no result was found");
            return self.missing.push(format!("there is no baseline: {why}"));
        }

        let new = baseline.new.as_deref().unwrap_or_default();
        let count = new.len() + left_out(summary, "baseline.new");
        if count > 0 {
            let names: Vec<_> = new.iter().take(NAMED).map(|change| change.test.name.as_str()).collect();
            let more = if count > names.len() { ", ..." } else { "" };
            self.closing.push(format!(
                "{count} tests that passed on the baseline build did not pass: {}{more}",
                names.join(", ")
            ));
        }

        if !is_finished(summary) {
            self.missing.push(NOT_FINISHED.to_owned());
        } else if baseline.new.is_none() {
            self.missing.push(NOT_ALL_READ.to_owned());
        }
        if let Some(count) = summary.verdicts.get("no_run") {
            self.missing.push(format!("{count} tests were not run"));
        }
    }

    fn add_bugs(&mut self, summary: &Summary, max: Severity) {
        let bugs = summary.bugs.iter().flatten();
        let (known, unknown): (Vec<_>, Vec<_>) =
            bugs.map(|(word, count)| (word, count, severity(word))).partition(|bug| bug.2.is_some());

        let worse = known.iter().filter(|bug| bug.2 > Some(max));
        let worse: Vec<_> = worse.map(|(word, count, _)| format!("{count} {word}")).collect();
        if !worse.is_empty() {
            self.closing.push(format!("there are worse bugs than allowed: {}", worse.join(", ")));
        }
        if !unknown.is_empty() || left_out(summary, "severities") > 0 {
            let words: Vec<_> = unknown.iter().take(NAMED).map(|bug| bug.0.as_str()).collect();
            self.missing.push(format!("there are bugs of an unknown severity: {}", words.join(", ")));
        }

        // Bugs that were read and did not fit into the summary are counted in it.
        let are_counted = summary.bugs_complete == Some(true)
            || (summary.bugs.is_some() && summary.unread.is_empty() && is_finished(summary));
        if !are_counted {
            self.missing.push("not every bug is known".to_owned());
        }
    }
}

const NOT_FINISHED: &str = "not everything is finished";
const NOT_ALL_READ: &str = "not every result could be read";

fn is_finished(summary: &Summary) -> bool {
    summary.state == "completed"
}

/// Returns the number of entries of a list that did not fit into the summary.
fn left_out(summary: &Summary, list: &str) -> usize {
    summary.left_out.as_ref().and_then(|left_out| left_out.counts.get(list)).copied().unwrap_or_default()
}

fn severity(word: &str) -> Option<Severity> {
    serde_json::from_value(word.into()).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Returns the summary of two finished tests that passed, with the changed fields.
    fn summary(changed: &Value) -> Summary {
        let mut fields = json!({
            "target_type": "test_plan_execution", "target_id": "e", "state": "completed", "all_passed": true,
            "finished": 2, "total": 2, "verdicts": {"SUCCESS": 2}, "bugs": {}, "bugs_complete": true,
        });
        let changed = changed.as_object().expect("an object").clone();
        fields.as_object_mut().expect("an object").extend(changed);
        serde_json::from_value(fields).expect("a summary")
    }

    /// Returns `open`, or the decision with its first reason.
    fn decide(fail_on: FailOn, max: Option<Severity>, changed: &Value) -> String {
        match (Gate { fail_on, max_bug_severity: max }).decide(&summary(changed)) {
            GateDecision::Open => "open".to_owned(),
            GateDecision::Closed(reasons) => format!("closed: {}", reasons[0]),
            GateDecision::Unknown(reasons) => format!("unknown: {}", reasons[0]),
        }
    }

    fn baseline(new: &Value) -> Value {
        let with = json!({"target_type": "test_plan_execution", "target_id": "b"});
        json!({"with": with, "new": new, "known": [{"test": {"name": "Known"}}]})
    }

    #[test]
    fn a_gate_for_any_failure_is_open_only_if_everything_passed() {
        let failed = json!({"all_passed": false, "verdicts": {"SUCCESS": 1, "ERROR": 1}});
        let unread = json!({"all_passed": null});
        for (changed, expected) in [
            (json!({}), "open"),
            (failed, "closed: 1 of 2 tests did not pass: 1 ERROR"),
            (
                json!({"state": "running", "finished": 1, "verdicts": {"SUCCESS": 1}}),
                "unknown: not everything is finished",
            ),
            (unread, "unknown: not every result could be read"),
            (json!({"total": 0, "verdicts": {}, "all_passed": false}), "closed: no test was run"),
        ] {
            assert_eq!(decide(FailOn::Any, None, &changed), expected, "{changed}");
            assert_eq!(decide(FailOn::Never, None, &changed), "open", "{changed}");
        }
    }

    #[test]
    fn a_gate_for_new_failures_lets_known_ones_through_and_needs_a_baseline() {
        let failed = json!({"SUCCESS": 1, "FAILED": 1});
        let closed = "closed: 1 tests that passed on the baseline build did not pass: Login";
        for (changed, expected) in [
            (json!({"verdicts": failed, "baseline": baseline(&json!([]))}), "open"),
            (
                json!({"verdicts": failed, "baseline": baseline(&json!([{"test": {"name": "Login"}}]))}),
                closed,
            ),
            (
                json!({"baseline": baseline(&json!([])), "left_out": {"baseline.new": 2, "how": "-"}}),
                "closed: 2 tests that passed on the baseline build did not pass: , ...",
            ),
            (json!({"baseline": baseline(&json!(null))}), "unknown: not every result could be read"),
            (json!({"baseline": {"note": "none"}}), "unknown: there is no baseline: none"),
            (json!({}), "unknown: there is no comparison with a baseline build"),
            (
                json!({"verdicts": {"no_run": 1, "SUCCESS": 1}, "baseline": baseline(&json!([]))}),
                "unknown: 1 tests were not run",
            ),
            (
                json!({"state": "running", "baseline": baseline(&json!([]))}),
                "unknown: not everything is finished",
            ),
        ] {
            assert_eq!(decide(FailOn::New, None, &changed), expected, "{changed}");
        }
    }

    #[test]
    fn a_bug_that_is_worse_than_allowed_closes_the_gate() {
        let unread = json!([{"what": "bugs of run r", "why": "no"}]);
        for (max, changed, expected) in [
            (Severity::High, json!({"bugs": {"high": 2, "low": 1}}), "open"),
            (
                Severity::High,
                json!({"bugs": {"critical": 1}}),
                "closed: there are worse bugs than allowed: 1 critical",
            ),
            (
                Severity::Low,
                json!({"bugs": {"high": 2, "medium": 1}}),
                "closed: there are worse bugs than allowed: 2 high, 1 medium",
            ),
            (
                Severity::Critical,
                json!({"bugs": {"odd": 1}}),
                "unknown: there are bugs of an unknown severity: odd",
            ),
            (
                Severity::High,
                json!({"bugs": {"low": 1}, "bugs_complete": false, "unread": unread}),
                "unknown: not every bug is known",
            ),
            (Severity::High, json!({"bugs": {"low": 1}, "bugs_complete": false}), "open"),
            (
                Severity::High,
                json!({"bugs": null, "bugs_complete": false}),
                "unknown: not every bug is known",
            ),
        ] {
            assert_eq!(decide(FailOn::Never, Some(max), &changed), expected, "{changed}");
        }
    }
}
