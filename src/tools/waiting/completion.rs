//! The result of a wait (supplement 15): how it ended, and the verdict of each job or run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::target_state::TargetState;
use crate::{
    call::{
        paging::Omission,
        reply::{FieldSelection, Reply},
    },
    service::{
        api::{
            Open,
            jobs::{Job, JobRun},
            runs::RunHead,
        },
        result_kind::ResultKind,
    },
    text::shorten_line,
};

/// Longest name of a test, in characters. Fifty items fit into one reply.
pub(crate) const LONGEST_NAME: usize = 80;

/// Number of running tests that a progress message names.
pub(super) const MOST_NAMES: usize = 3;

/// Known results (supplement 2.3). Results that are not in this list are passed on unchanged.
const RESULTS: [&str; 8] =
    ["SUCCESS", "FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS"];

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitStatus {
    /// The target is completed.
    Completed,
    /// The time limit has passed; the target is still running.
    TimedOut,
}

/// The result of a wait: how it ended, and what was read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Completion {
    /// `completed` or `timed_out`.
    #[schemars(with = "String")]
    pub status: WaitStatus,
    /// `job`, `jobs`, `run` or `test_plan_execution`.
    pub target_type: String,
    pub target_id: Option<String>,
    /// Number of polls.
    pub polls: u32,
    pub elapsed_seconds: f64,
    /// Last status or state; of several jobs, that of the first unfinished one.
    pub last_status: Option<String>,
    /// Everything is finished, and every verdict is SUCCESS.
    pub all_passed: bool,
    /// Number of finished tests.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number of tests. Unknown results are passed on unchanged; `no_run`: nothing was started.
    pub verdicts: BTreeMap<String, usize>,
    /// Ids of unfinished jobs, or of the run.
    pub still_running: Vec<String>,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why the last poll failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
    /// Jobs in the order of the request, or the run.
    pub items: Vec<ResultItem>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
    /// Record of the job, run or execution; absent with several jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<Open>,
    #[serde(skip)]
    pub(super) plan_name: Option<String>,
}

impl Completion {
    /// Creates the result of a wait that ends now.
    pub(super) fn from_state(state: &TargetState, polls: u32, elapsed_seconds: f64) -> Self {
        let items = state.items();
        let is_finished = state.is_finished();
        let verdicts = count_verdicts(&items, state);
        let (finished, total) = state.progress();
        let all_passed =
            is_finished && state.is_fully_read() && total > 0 && verdicts.get("SUCCESS") == Some(&total);
        let unfinished = items.iter().filter(|item| !item.is_finished());

        let mut completion = Self {
            status: if is_finished { WaitStatus::Completed } else { WaitStatus::TimedOut },
            target_type: state.target.kind().map_or("jobs", ResultKind::target_type).to_owned(),
            target_id: state.target.id().map(str::to_owned),
            polls,
            elapsed_seconds,
            last_status: state.last_status(),
            all_passed,
            finished,
            total,
            verdicts,
            still_running: unfinished.filter_map(|item| item.id().map(str::to_owned)).collect(),
            next: None,
            last_failure: None,
            items,
            // If the counts of the execution say that every test has passed, no missing job can change that.
            unread: if all_passed { Vec::new() } else { state.omissions() },
            resource: state.resource().cloned(),
            plan_name: state.plan_name(),
        };
        completion.next = completion.next_step();

        completion
    }

    /// Returns the advice for the field `next`.
    fn next_step(&self) -> Option<String> {
        if self.status == WaitStatus::TimedOut {
            return Some(
                "not finished yet: call again with the same arguments; `stop_runs` stops jobs".to_owned(),
            );
        }

        let (kind, id) = self.result_to_explain()?;

        Some(format!("to find out why, call `summarize_results` with `{kind}_id` `{id}`"))
    }

    /// Returns the type and the id of the record that explains why not everything passed: the target itself, or, if the
    /// target is a list of jobs, the first run that did not pass.
    pub(crate) fn result_to_explain(&self) -> Option<(&str, &str)> {
        if self.all_passed || self.status == WaitStatus::TimedOut {
            return None;
        }
        if let Some(id) = &self.target_id {
            return Some((&self.target_type, id));
        }

        let failed = self.items.iter().find(|item| !item.has_passed())?;

        Some(("run", failed.run_id.as_deref()?))
    }

    /// Returns the message of a progress report: how many tests are finished, which ones run, and how many are queued.
    /// `steps` says how far runs are, by their ids.
    pub(super) fn progress_message(&self, steps: &BTreeMap<String, String>) -> String {
        let unfinished: Vec<_> = self.items.iter().filter(|item| !item.is_finished()).collect();
        let running: Vec<_> = unfinished.iter().filter(|item| item.is_running()).collect();
        let queued = unfinished.len() - running.len();
        let mut parts = vec![format!("{} of {} finished", self.finished, self.total)];

        if !running.is_empty() {
            let names = running.iter().take(MOST_NAMES).map(|item| {
                let steps = item.run_id.as_ref().and_then(|run| steps.get(run));
                let steps = steps.map(|steps| format!(" ({steps})")).unwrap_or_default();
                format!("{}{steps}", item.name())
            });
            let names = names.collect::<Vec<_>>().join(", ");
            let more = match running.len().saturating_sub(MOST_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            parts.push(format!("running: {names}{more}"));
        }

        if queued > 0 {
            parts.push(format!("{queued} queued"));
        }

        parts.join("; ")
    }
}

/// Returns the number of items for each verdict. Without items, the counts of the execution are used.
fn count_verdicts(items: &[ResultItem], state: &TargetState) -> BTreeMap<String, usize> {
    if items.is_empty() {
        let counts = state.verdict_counts().into_iter();
        return counts.map(|(verdict, count)| (verdict.to_owned(), count)).collect();
    }

    let mut verdicts = BTreeMap::new();
    for verdict in items.iter().filter_map(ResultItem::verdict) {
        *verdicts.entry(verdict).or_default() += 1;
    }

    verdicts
}

/// A job, or a run if the target is a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
#[serde(default)]
pub struct ResultItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The attempt that decides: the last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// As the service writes it; null: not known yet.
    pub status: Option<String>,
    /// Once completed.
    pub result: Option<String>,
    /// Number of attempts, if above one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<usize>,
    /// Why nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ResultItem {
    /// Creates the item of a job (supplement 3.2).
    pub(crate) fn from_job(job: &Job) -> Self {
        let attempt = deciding_attempt(&job.runs);
        // The result of an attempt is final only when the job is completed: a retry may follow.
        let is_finished = is_completed(Some(&job.status));
        let result = attempt.filter(|_| is_finished).and_then(|run| run.result.clone());

        Self {
            job_id: filled(&job.job_id),
            run_id: attempt.and_then(|run| filled(&run.multiplayer_run_id)),
            test_name: job.test_name.as_deref().map(|name| shorten_line(name, LONGEST_NAME)),
            platform: job.platform.clone(),
            status: filled(&job.status),
            result,
            attempts: Some(job.runs.len()).filter(|attempts| *attempts > 1),
            reason: job.queue_rejection_reason.clone(),
        }
    }

    /// Creates the item of a run (supplement 2.2).
    pub(crate) fn from_run(run: &RunHead) -> Self {
        let is_finished = is_completed(Some(&run.state));

        Self {
            job_id: filled(&run.job_id),
            run_id: filled(&run.multiplayer_run_id),
            test_name: filled(&run.test.name).map(|name| shorten_line(&name, LONGEST_NAME)),
            status: filled(&run.state),
            result: run.result.clone().filter(|_| is_finished),
            ..Self::default()
        }
    }

    /// Returns whether the job or run is completed.
    pub(crate) fn is_finished(&self) -> bool {
        is_completed(self.status.as_deref())
    }

    /// Returns whether the job or run has left the queue and is not completed.
    pub(super) fn is_running(&self) -> bool {
        let is_queued = |status: &str| status.eq_ignore_ascii_case("queued");
        !self.is_finished() && self.status.as_deref().is_some_and(|status| !is_queued(status))
    }

    /// Returns the verdict once the job or run is completed: the result of the service, in capitals if it is a known one,
    /// or `no_result` or `no_run`.
    pub fn verdict(&self) -> Option<String> {
        if !self.is_finished() {
            return None;
        }
        Some(match (&self.result, &self.run_id) {
            (Some(result), _) => canonical_result(result),
            (None, Some(_)) => "no_result".to_owned(),
            (None, None) => "no_run".to_owned(),
        })
    }

    /// Returns whether the verdict is SUCCESS. No other result counts as passed (supplement 2.3).
    pub fn has_passed(&self) -> bool {
        self.verdict().is_some_and(|verdict| verdict == "SUCCESS")
    }

    /// Returns the id of the job, else the id of the run.
    pub fn id(&self) -> Option<&str> {
        self.job_id.as_deref().or(self.run_id.as_deref())
    }

    /// Returns the name of the test, else the id.
    pub fn name(&self) -> &str {
        self.test_name.as_deref().or_else(|| self.id()).unwrap_or("a job")
    }
}

/// Returns `result` in capitals if it is a known result, else unchanged.
pub(crate) fn canonical_result(result: &str) -> String {
    let known = RESULTS.iter().find(|known| known.eq_ignore_ascii_case(result));
    known.map_or(result, |known| *known).to_owned()
}

/// Returns whether a status or state means that a record is completed, in either letter case (supplement 1.7).
pub(crate) fn is_completed(status: Option<&str>) -> bool {
    status.is_some_and(|status| status.eq_ignore_ascii_case("completed"))
}

/// Returns the attempt that decides the result of a job: the one that was started last. If no attempt has a start
/// time, returns the last of the list (supplement 3.2).
fn deciding_attempt(runs: &[JobRun]) -> Option<&JobRun> {
    let start = |run: &JobRun| {
        let start = run.started_at.clone()?;
        Some((start.parse::<Timestamp>().ok(), start))
    };
    let started = runs.iter().filter_map(|run| Some((start(run)?, run)));
    let latest = started.max_by(|one, other| one.0.cmp(&other.0));

    latest.map(|(_, run)| run).or(runs.last())
}

fn filled(text: &str) -> Option<String> {
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

/// The result of a wait, with the fields that the caller selected.
#[derive(Debug)]
pub struct WaitReply {
    /// The complete result, whatever the caller selected.
    pub completion: Completion,
    pub(in crate::tools) selection: Option<FieldSelection>,
}

impl WaitReply {
    /// Returns the reply: the selected fields of the result, and always the field `status`.
    pub fn into_reply(self) -> Reply {
        let status = json!(self.completion.status);
        let mut reply = Reply::from_value(json!(self.completion));
        if let Some(selection) = self.selection {
            reply.select(selection);
        }

        let mut value = reply.into_value();
        if let Some(fields) = value.as_object_mut() {
            // Without the status, a caller could not decide whether to call again.
            fields.entry("status").or_insert(status);
        }

        Reply::from_value(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ResultItem, canonical_result, deciding_attempt, is_completed};
    use crate::service::{api::jobs::Job, view::view};

    #[test]
    fn known_results_are_written_in_capitals_and_others_unchanged() {
        for (result, expected) in [("success", "SUCCESS"), ("Max_Steps", "MAX_STEPS"), ("Odd", "Odd")] {
            assert_eq!(canonical_result(result), expected);
        }
    }

    #[test]
    fn only_the_word_completed_means_completed() {
        for (status, expected) in
            [(Some("completed"), true), (Some("COMPLETED"), true), (Some("running"), false), (None, false)]
        {
            assert_eq!(is_completed(status), expected, "{status:?}");
        }
    }

    #[test]
    fn the_verdict_of_a_job_is_known_once_the_job_is_completed() {
        let run = |result: Value| json!([{"multiplayer_run_id": "r1", "result": result}]);
        let cases: [(Value, Option<&str>); 4] = [
            (json!({"status": "RUNNING", "runs": run(json!("FAILED"))}), None),
            (json!({"status": "completed", "runs": run(json!("failed"))}), Some("FAILED")),
            (json!({"status": "COMPLETED", "runs": run(Value::Null)}), Some("no_result")),
            (json!({"status": "COMPLETED", "runs": []}), Some("no_run")),
        ];
        for (job, expected) in cases {
            assert_eq!(ResultItem::from_job(&view(&job)).verdict().as_deref(), expected, "{job}");
        }
    }

    #[test]
    fn the_attempt_with_the_latest_start_decides() {
        let cases: [(Value, Option<&str>); 4] = [
            (json!([]), None),
            (json!([{"state": "1"}, {"state": "2"}]), Some("2")),
            (json!([{"state": "1", "started_at": "2026-03-01T10:00:00Z"}, {"state": "2"}]), Some("1")),
            (
                json!([
                    {"state": "1", "started_at": "2026-03-01T10:00:00Z"},
                    {"state": "2", "started_at": "2026-03-01T10:30:00+02:00"},
                ]),
                Some("1"),
            ),
        ];

        for (runs, expected) in cases {
            let job: Job = view(&json!({"runs": runs}));
            let deciding = deciding_attempt(&job.runs).and_then(|run| run.state.as_deref());
            assert_eq!(deciding, expected, "{runs}");
        }
    }
}
