//! A job or a run of a wait, and its verdict.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::{
    service::api::{
        jobs::{Job, JobRun},
        runs::RunHead,
    },
    text::{filled, shorten_line},
};

/// Longest name of a test, in characters. Fifty items fit into one reply.
pub(crate) const LONGEST_NAME: usize = 80;

/// Number of running tests that a progress message names.
pub(super) const MOST_NAMES: usize = 3;

/// Known results (service.md 2.3). Results that are not in this list are passed on unchanged.
const RESULTS: [&str; 8] =
    ["SUCCESS", "FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS"];

/// A job, or a run if the target is a run.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
#[serde(default)]
pub struct ResultItem {
    pub job_id: Option<String>,
    /// The attempt that decides: the last started.
    pub run_id: Option<String>,
    pub test_name: Option<String>,
    pub platform: Option<String>,
    /// As the service writes it; null: not known yet.
    #[serialize_always]
    pub status: Option<String>,
    /// Once completed.
    #[serialize_always]
    pub result: Option<String>,
    /// Number of attempts, if above one.
    pub attempts: Option<usize>,
    /// Results of the attempts that were retried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// Why nothing was run.
    pub reason: Option<String>,
}

impl ResultItem {
    /// Creates the item of a job (service.md 3.2).
    pub(crate) fn from_job(job: &Job) -> Self {
        let mut attempts = attempts_in_order(&job.runs);
        let attempt = attempts.pop();
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
            earlier: attempts.into_iter().filter_map(earlier_result).collect(),
            reason: job.queue_rejection_reason.clone(),
        }
    }

    /// Creates the item of a run (service.md 2.2).
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

    pub(crate) fn is_finished(&self) -> bool {
        is_completed(self.status.as_deref())
    }

    /// Returns whether the job or run has left the queue and is not completed.
    pub(super) fn is_running(&self) -> bool {
        let is_queued = |status: &str| status.eq_ignore_ascii_case("queued");
        !self.is_finished() && self.status.as_deref().is_some_and(|status| !is_queued(status))
    }

    /// Returns the verdict once the job or run is completed: the result of the service, in capitals if it is a known
    /// one, or `no_result` or `no_run`.
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

    /// Returns whether the verdict is SUCCESS. No other result counts as passed (service.md 2.3).
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

/// Returns whether a status or state means that a record is completed, in either letter case (service.md 1.7).
pub(crate) fn is_completed(status: Option<&str>) -> bool {
    status.is_some_and(|status| status.eq_ignore_ascii_case("completed"))
}

/// Returns the attempts of a job in the order of their starts, those without a start first. The last one decides the
/// result (service.md 3.2).
pub(crate) fn attempts_in_order(runs: &[JobRun]) -> Vec<&JobRun> {
    let start = |run: &&JobRun| {
        let start = run.started_at.clone()?;
        Some((start.parse::<Timestamp>().ok(), start))
    };
    let mut attempts: Vec<_> = runs.iter().collect();
    attempts.sort_by_cached_key(start);

    attempts
}

/// Returns the result of an attempt that was repeated; `no_result` if it has ended without one.
fn earlier_result(run: &JobRun) -> Option<String> {
    let without = || is_completed(run.state.as_deref()).then(|| "no_result".to_owned());
    run.result.as_deref().map(canonical_result).or_else(without)
}
