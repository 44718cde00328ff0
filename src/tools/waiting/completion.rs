//! The result of a wait (service.md 15): how it ended, and the verdict of each job or run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use super::{
    item::{MOST_NAMES, ResultItem},
    target_state::TargetState,
};
use crate::{
    call::{Reply, reply::FieldSelection},
    failure::Failure,
    text::guidance::Guidance,
    tools::{names::BuildName, unread::Missing},
};

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
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Completion {
    #[serde(flatten)]
    pub missing: Missing,
    /// `completed` or `timed_out`.
    #[schemars(with = "String")]
    pub status: WaitStatus,
    /// Why the wait ended before `timeout_seconds`.
    pub ended_early: Option<String>,
    /// `job`, `jobs`, `run` or `test_plan_execution`.
    pub target_type: String,
    #[serialize_always]
    pub target_id: Option<String>,
    /// Number of polls.
    pub polls: u32,
    pub elapsed_seconds: f64,
    /// Last status or state; of several jobs, that of the first unfinished one.
    #[serialize_always]
    pub last_status: Option<String>,
    /// Everything is finished, and every verdict is SUCCESS. Absent: not known.
    pub all_passed: Option<bool>,
    /// Number of finished tests.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number of tests. Unknown results are passed on unchanged; `no_run`: nothing was started; `failed or
    /// error`: the tests were counted and not read.
    pub verdicts: BTreeMap<String, usize>,
    /// The builds; those of jobs once they have finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildName>,
    /// Ids of unfinished jobs, or of the run.
    pub still_running: Vec<String>,
    /// What to do next.
    #[schemars(with = "Option<String>")]
    pub next_step: Option<Guidance>,
    /// Why the last poll failed.
    pub last_failure: Option<String>,
    /// Jobs in the order of the request, or the run.
    pub items: Vec<ResultItem>,
    #[serde(skip)]
    pub(crate) plan_name: Option<String>,
}

/// The result of a test or a step that passed.
pub(crate) const PASSED: &str = "SUCCESS";

/// Advice while not everything has finished.
const REPEAT: &str = "not finished yet: call again with the same arguments[[; `tool:stop_runs` stops jobs]]";

impl Completion {
    /// Creates the result of a wait that ends now.
    pub(super) fn from_state(state: &TargetState, polls: u32, elapsed_seconds: f64) -> Self {
        let items = state.items.clone();
        let is_finished = state.is_finished();
        let verdicts = count_verdicts(items.iter().map(ResultItem::verdict), state.verdict_counts());
        let (finished, total) = state.progress();
        let all_passed = all_passed(&verdicts, !is_finished, Some(total).filter(|_| state.is_fully_read()));
        let unfinished = items.iter().filter(|item| !item.is_finished());

        let mut completion = Self {
            // If the counts of the execution say that every test has passed, no missing job can change that.
            missing: if all_passed == Some(true) { Missing::default() } else { state.missing() },
            ended_early: None,
            status: if is_finished { WaitStatus::Completed } else { WaitStatus::TimedOut },
            target_type: state.target.target_type().to_owned(),
            target_id: state.target.id().map(str::to_owned),
            polls,
            elapsed_seconds,
            last_status: state.last_status(),
            all_passed,
            finished,
            total,
            verdicts,
            builds: state.builds.clone(),
            still_running: unfinished.filter_map(|item| item.id().map(str::to_owned)).collect(),
            next_step: None,
            last_failure: None,
            items,
            plan_name: state.plan_name(),
        };
        completion.next_step = completion.next_step();

        completion
    }

    /// Adds why the last poll failed, so that the result is older than the end of the wait.
    pub(super) fn with_last_failure(mut self, failure: &Failure) -> Self {
        self.missing.incomplete = Some(true);
        self.missing
            .repeat
            .get_or_insert_with(|| "the last poll failed: call again with the same arguments".to_owned());
        self.last_failure = Some(failure.message.clone());
        self
    }

    fn next_step(&self) -> Option<Guidance> {
        if self.status == WaitStatus::TimedOut {
            return Some(REPEAT.into());
        }

        let (kind, id) = self.result_to_explain()?;
        let argument = match self.target_id {
            Some(_) => format!("`{kind}_id` `{id}`"),
            None => "the same `argument:job_ids`".to_owned(),
        };

        Some(format!("to find out why, call `tool:summarize_results` with {argument}").into())
    }

    /// Returns the type and the id of the record that explains why not everything passed: the target itself, or, if the
    /// target is a list of jobs, the first run that did not pass.
    pub(crate) fn result_to_explain(&self) -> Option<(&str, &str)> {
        if self.all_passed == Some(true) || self.status == WaitStatus::TimedOut {
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

/// Returns whether every test has passed; `None` if a test that was not read decides it. `total` is the number of tests
/// if everything was read.
pub(crate) fn all_passed(
    verdicts: &BTreeMap<String, usize>,
    is_unfinished: bool,
    total: Option<usize>,
) -> Option<bool> {
    if is_unfinished || verdicts.keys().any(|verdict| verdict != PASSED) {
        return Some(false);
    }

    total.map(|total| total > 0 && verdicts.get(PASSED) == Some(&total))
}

/// Returns the number of tests for each verdict, which unfinished ones have not. Without tests, these are the `counts` of an
/// execution.
pub(crate) fn count_verdicts(
    tests: impl ExactSizeIterator<Item = Option<String>>,
    counts: Vec<(&'static str, usize)>,
) -> BTreeMap<String, usize> {
    if tests.len() == 0 {
        return counts.into_iter().map(|(verdict, count)| (verdict.to_owned(), count)).collect();
    }

    let mut verdicts = BTreeMap::new();
    for verdict in tests.flatten() {
        *verdicts.entry(verdict).or_default() += 1;
    }

    verdicts
}

/// The result of a wait, with the fields that the arguments select.
#[derive(Debug)]
pub struct WaitReply {
    /// The complete result, whatever the arguments select.
    pub completion: Completion,
    /// The fields that the arguments select; `None` for all.
    pub selection: Option<FieldSelection>,
}

impl WaitReply {
    /// Returns the reply: the selected fields of the result, and always the field `status`.
    pub fn into_reply(self) -> Reply {
        let status = json!(self.completion.status);
        let reply = Reply::from_value(json!(self.completion)).with_fields(self.selection.as_ref());
        let mut value = reply.into_value();
        if let Some(fields) = value.as_object_mut() {
            // Without the status, a caller could not decide whether to call again.
            fields.entry("status").or_insert(status);
        }

        Reply::from_value(value)
    }
}
