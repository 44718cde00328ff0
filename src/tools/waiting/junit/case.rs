//! A test case of the document.

use serde_json::Value;

use super::{
    outcome::Outcome,
    step::{Step, steps_of_run},
};
use crate::{
    text::first_characters,
    tools::waiting::{item::ResultItem, record::string_field},
};

/// Longest message of a failure, in characters. The text below the message has no limit.
const LONGEST_MESSAGE: usize = 300;

/// A test case of the document.
#[derive(Clone, Debug)]
pub struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) outcome: Outcome,
    /// The verdict of the service, or the reason why there is none.
    pub(super) verdict: String,
    pub(super) message: String,
    pub(super) report: String,
    pub(super) seconds: f64,
    pub(super) started: Option<String>,
    pub(super) properties: Vec<(&'static str, String)>,
}

impl Case {
    /// Creates the case of `item`, with details of `run` if the run could be read. `plan` is the class name.
    pub fn new(item: &ResultItem, run: Option<&Value>, plan: &str) -> Self {
        let verdict = item.verdict();
        let outcome = Outcome::from_verdict(verdict.as_deref());
        let verdict = verdict.unwrap_or_else(|| "not finished".to_owned());

        let mut causes = run.map(steps_of_run).unwrap_or_default();
        causes.retain(|step| step.is_cause(outcome));

        let reason = item.reason.as_ref().or_else(|| causes.first().map(|step| &step.report));
        let message = reason.map_or_else(|| verdict.clone(), |reason| format!("{verdict}: {reason}"));

        let platform = item.platform.as_ref().map(|platform| format!(" [{platform}]")).unwrap_or_default();
        let run_name = run.and_then(|run| run.pointer("/test/name")?.as_str());
        let milliseconds = run.and_then(|run| run.get("duration_ms")?.as_f64()).unwrap_or_default();

        Self {
            name: format!("{}{platform}", run_name.unwrap_or_else(|| item.name())),
            class: plan.to_owned(),
            outcome,
            message: first_characters(&message, LONGEST_MESSAGE).to_owned(),
            report: causes.iter().map(Step::render).collect(),
            seconds: milliseconds / 1_000.0,
            started: run.and_then(|run| string_field(run, "started_at")),
            properties: properties(item, run, &verdict),
            verdict,
        }
    }

    /// Creates the case of a device on which nothing was started.
    pub fn not_started(device: &str, reason: &str, plan: &str) -> Self {
        Self::without_test(format!("[{device}]"), "not started", reason, plan)
    }

    /// Creates the case of tests that are known to exist and could not be read.
    pub fn not_read(reason: &str, plan: &str) -> Self {
        Self::without_test("[other tests]".to_owned(), "not read", reason, plan)
    }

    fn without_test(name: String, verdict: &str, reason: &str, plan: &str) -> Self {
        Self {
            name,
            class: plan.to_owned(),
            outcome: Outcome::Error,
            verdict: verdict.to_owned(),
            message: format!("{verdict}: {reason}"),
            report: String::new(),
            seconds: 0.0,
            started: None,
            properties: Vec::new(),
        }
    }
}

/// Returns the properties of a case: the ids with which its run, test and build can be found.
fn properties(item: &ResultItem, run: Option<&Value>, verdict: &str) -> Vec<(&'static str, String)> {
    let run_field = |path: &str| run.and_then(|run| run.pointer(path)?.as_str()).map(str::to_owned);
    let all = [
        ("run_id", item.run_id.clone()),
        ("job_id", item.job_id.clone()),
        ("result", Some(verdict.to_owned())),
        ("test_id", run_field("/test/id")),
        ("build_id", run_field("/build/id")),
        ("build_name", run_field("/build/name")),
        ("platform", item.platform.clone()),
        ("attempts", item.attempts.map(|attempts| attempts.to_string())),
    ];

    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
