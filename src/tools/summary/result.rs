//! The result of one test: a job, or a run if a single run is summarized. The attempt that was started last decides.

use super::{
    answer::{BugEntry, TestName},
    cause::FailureCause,
    subject::{LONGEST_ID, earliest, sort_key},
};
use crate::{
    service::api::{
        jobs::{Job, JobRun},
        runs::{RunDetail, RunHead},
    },
    text::{filled, shorten_line},
    tools::waiting::{LONGEST_NAME, ResultItem, is_completed},
};

/// Known verdicts from the worst to the best. Unknown verdicts rank between the two lists.
const WORST_VERDICTS: [&str; 5] = ["FAILED", "BLOCKED", "ERROR", "TIMEOUT", "MAX_STEPS"];
const BEST_VERDICTS: [&str; 5] = ["no_result", "no_run", "STOPPED", "SKIPPED", "SUCCESS"];

/// The result of one test.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct TestResult {
    pub(super) test_id: Option<String>,
    /// The name of the test; empty if it is not known.
    pub(in crate::tools) name: String,
    pub(super) job_id: Option<String>,
    /// The run of the attempt that decides.
    pub(in crate::tools) run_id: Option<String>,
    /// The result in capitals if it is a known one, `no_result` or `no_run`; `None` if the test is not finished.
    pub(in crate::tools) verdict: Option<String>,
    /// Why nothing was run.
    pub(super) reason: Option<String>,
    pub(super) created_at: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
    pub(super) duration_ms: Option<u64>,
    pub(super) build_id: Option<String>,
    pub(super) build_name: Option<String>,
    /// Results of the attempts before the one that decides.
    pub(super) earlier: Vec<String>,
    /// Why the run failed, once its full record was read.
    pub(super) cause: Option<FailureCause>,
    /// Number of bugs, if the record of the run contains it. Only records of verification tests do.
    pub(super) bug_count: Option<usize>,
    /// The bugs of the run; `None` if they are not known.
    pub(super) bugs: Option<Vec<BugEntry>>,
    /// Number of bugs that the service counts beside these.
    pub(super) unlisted_bugs: usize,
}

impl TestResult {
    /// Creates the result of a job (service.md 3.2).
    pub(in crate::tools) fn from_job(job: &Job) -> Self {
        let item = ResultItem::from_job(job);
        let deciding = job.runs.iter().find(|run| filled(&run.multiplayer_run_id) == item.run_id);

        Self {
            verdict: item.verdict(),
            test_id: job.multiplayer_test_id.clone(),
            name: item.test_name.unwrap_or_default(),
            job_id: item.job_id,
            run_id: item.run_id,
            reason: item.reason,
            created_at: filled(&job.created_at),
            started_at: earliest(job.runs.iter().filter_map(|run| run.started_at.clone())),
            completed_at: job.completed_at.clone(),
            duration_ms: deciding.and_then(duration_of),
            build_id: job.build_id.clone(),
            earlier: item.earlier,
            ..Self::default()
        }
    }

    /// Creates the result of a run, from the record of a list or from the full record (service.md 2.2).
    pub(in crate::tools) fn from_run(run: RunHead) -> Self {
        Self::from_attempts(vec![run])
    }

    /// Creates the result of a job from its runs, for a service that does not list jobs.
    pub(super) fn from_attempts(mut attempts: Vec<RunHead>) -> Self {
        attempts.sort_by_cached_key(|run| run.started_at.as_deref().map(sort_key));
        // The status of the job is not known. The job is taken as unfinished as long as an attempt is.
        let unfinished = attempts.iter().find(|run| !is_completed(Some(&run.state)));
        let status = unfinished.map_or_else(|| "completed".to_owned(), |run| run.state.clone());
        let job = Job { status, runs: attempts.iter().map(attempt).collect(), ..Job::default() };
        let Some(deciding) = attempts.pop() else { return Self::default() };
        let build = deciding.build.unwrap_or_default();
        let of_job = Self::from_job(&job);

        Self {
            test_id: filled(&deciding.test.id),
            name: shorten_line(&deciding.test.name, LONGEST_NAME),
            job_id: filled(&deciding.job_id),
            created_at: filled(&deciding.created_at),
            completed_at: deciding.completed_at,
            duration_ms: deciding.duration_ms.map(whole_milliseconds).or(of_job.duration_ms),
            build_id: filled(&build.id),
            build_name: build.name,
            bug_count: deciding.bug_info.and_then(|info| info.bug_count),
            ..of_job
        }
    }

    /// Adds what only the full record of the run contains. The record itself is not kept, because it is long.
    pub(super) fn add_details(&mut self, run: &RunDetail) {
        let build = run.head.build.clone().unwrap_or_default();
        self.build_name = build.name;
        self.build_id = self.build_id.take().or_else(|| filled(&build.id));
        self.bug_count = run.head.bug_info.as_ref().and_then(|info| info.bug_count);
        self.cause = self.verdict.as_deref().map(|verdict| FailureCause::from_run(run, verdict));
    }

    /// Returns the id of the job, else the id of the run.
    pub(super) fn id(&self) -> Option<&str> {
        self.job_id.as_deref().or(self.run_id.as_deref())
    }

    /// Returns the key that identifies the test: its id, else the id of its job or run. Returns `None` if there is no
    /// id at all.
    pub(super) fn key(&self) -> Option<String> {
        self.test_id.as_deref().or_else(|| self.id()).map(str::to_ascii_lowercase)
    }

    /// Returns the test as the answer names it.
    pub(super) fn test_name(&self) -> TestName {
        let id = self.test_id.as_ref().map(|id| shorten_line(id, LONGEST_ID));
        TestName { name: self.name.clone(), id }
    }

    pub(super) fn short_run_id(&self) -> Option<String> {
        self.run_id.as_ref().map(|id| shorten_line(id, LONGEST_ID))
    }

    pub(in crate::tools) fn is_finished(&self) -> bool {
        self.verdict.is_some()
    }

    /// Returns whether the verdict is SUCCESS. No other result counts as passed (service.md 2.3).
    pub(in crate::tools) fn has_passed(&self) -> bool {
        self.verdict.as_deref() == Some("SUCCESS")
    }

    pub(super) fn has_failed(&self) -> bool {
        self.is_finished() && !self.has_passed()
    }

    /// Returns whether the run has ended, and whether it has bugs is not known to be false.
    pub(super) fn may_have_bugs(&self) -> bool {
        self.is_finished() && self.run_id.is_some() && self.bug_count != Some(0)
    }

    pub(super) fn lacks_bugs(&self) -> bool {
        self.may_have_bugs() && (self.bugs.is_none() || self.unlisted_bugs > 0)
    }

    pub(in crate::tools) fn passed_after_retry(&self) -> bool {
        self.has_passed() && self.earlier.iter().any(|result| result != "SUCCESS")
    }
}

fn attempt(run: &RunHead) -> JobRun {
    JobRun {
        multiplayer_run_id: run.multiplayer_run_id.clone(),
        state: filled(&run.state),
        result: run.result.clone(),
        started_at: run.started_at.clone(),
        completed_at: run.completed_at.clone(),
        players: None,
    }
}

fn duration_of(run: &JobRun) -> Option<u64> {
    milliseconds_between(run.started_at.as_deref(), run.completed_at.as_deref())
}

/// Returns the milliseconds between two timestamps; `None` if one is no timestamp, or they are in the wrong order.
pub(super) fn milliseconds_between(start: Option<&str>, end: Option<&str>) -> Option<u64> {
    let time = |text: Option<&str>| text?.parse::<jiff::Timestamp>().ok();
    let milliseconds = time(end)?.as_millisecond() - time(start)?.as_millisecond();
    u64::try_from(milliseconds).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a float saturates, and a duration is not negative"
)]
pub(super) fn whole_milliseconds(milliseconds: f64) -> u64 {
    milliseconds.round() as u64
}

/// Returns the rank of a verdict among all verdicts, the worst first.
pub(super) fn verdict_rank(verdict: &str) -> usize {
    let position = |verdicts: &[&str]| verdicts.iter().position(|known| *known == verdict);
    let unknown = WORST_VERDICTS.len();

    position(&WORST_VERDICTS)
        .or_else(|| position(&BEST_VERDICTS).map(|position| unknown + 1 + position))
        .unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::verdict_rank;

    #[test]
    fn an_unknown_verdict_ranks_after_every_known_failure() {
        let verdicts = ["FAILED", "MAX_STEPS", "UNKNOWN_WORD", "no_result", "SUCCESS"];
        assert!(verdicts.is_sorted_by_key(|verdict| verdict_rank(verdict)));
    }
}
