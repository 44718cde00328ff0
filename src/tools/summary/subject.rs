//! What is summarized: a run, a job or an execution of a test plan, as the tests that it consists of.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    answer::{BugEntry, BuildName, Omission, TestName},
    cause::{FailureCause, filled},
};
use crate::{
    failure::{Code, Failure},
    service::{
        api::{
            executions::TestPlanExecution,
            jobs::Job,
            runs::{RunDetail, RunHead},
        },
        result_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::shorten_line,
    tools::waiting::{LONGEST_NAME, canonical_result, is_completed},
};

/// Longest id in the answer, in characters.
pub(super) const LONGEST_ID: usize = 64;

/// Longest single word in the answer, such as a verdict or a timestamp, in characters.
pub(super) const LONGEST_WORD: usize = 40;

/// Known verdicts from the worst to the best. Unknown verdicts rank between the two lists.
const WORST_VERDICTS: [&str; 5] = ["FAILED", "BLOCKED", "ERROR", "TIMEOUT", "MAX_STEPS"];
const BEST_VERDICTS: [&str; 5] = ["no_result", "no_run", "STOPPED", "SKIPPED", "SUCCESS"];

/// A run, a job or an execution, with the tests that could be read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) target: ResultTarget,
    /// The record of an execution, if it could be read.
    pub(super) execution: Option<TestPlanExecution>,
    /// The tests of an execution, or the single test of a run or a job.
    pub(super) tests: Vec<TestResult>,
    pub(super) omissions: Omissions,
    /// Whether every test could be read.
    pub(super) is_complete: bool,
}

impl Subject {
    pub(super) fn single_test(target: ResultId, test: TestResult) -> Self {
        Self { tests: vec![test], ..Self::without_tests(target, None) }
    }

    pub(super) fn without_tests(
        target: impl Into<ResultTarget>,
        execution: Option<TestPlanExecution>,
    ) -> Self {
        let (target, omissions) = (target.into(), Omissions::default());
        Self { target, execution, tests: Vec::new(), omissions, is_complete: true }
    }

    /// Creates the subject of a listed execution whose tests have not been read.
    pub(super) fn of_execution(execution: TestPlanExecution) -> Self {
        let target = ResultId::new(ResultKind::Execution, execution.id.as_str());
        Self::without_tests(target, Some(execution))
    }

    /// Returns the id of a single record; else an empty text.
    pub(super) fn id(&self) -> &str {
        self.target.id().unwrap_or_default()
    }

    pub(super) fn is_execution(&self) -> bool {
        self.target.kind() == Some(ResultKind::Execution)
    }

    /// Returns whether nothing is running any more. Tests that could not be read count as running.
    pub(super) fn is_finished(&self) -> bool {
        match &self.execution {
            Some(execution) if !execution.status.is_empty() => is_completed(Some(&execution.status)),
            _ => self.is_complete && !self.tests.is_empty() && self.tests.iter().all(TestResult::is_finished),
        }
    }

    /// Returns whether something is known to be running or queued.
    pub(super) fn is_unfinished(&self) -> bool {
        let status = self.execution.as_ref().map(|execution| execution.status.as_str());
        match status.filter(|status| !status.is_empty()) {
            Some(status) => !is_completed(Some(status)),
            None => !self.tests.iter().all(TestResult::is_finished),
        }
    }

    /// Returns whether every test has passed: of an execution, according to the counts of its record.
    pub(super) fn has_passed(&self) -> bool {
        let Some(execution) = &self.execution else {
            return !self.tests.is_empty() && self.tests.iter().all(TestResult::has_passed);
        };
        let counts = execution.test_status;
        let others = counts.failed + counts.skipped + counts.stopped + counts.queued + counts.running;

        counts.passed > 0 && others == 0 && execution.total_tests.is_none_or(|total| total == counts.passed)
    }

    /// Returns the number of tests: of several jobs, or according to the record of the execution.
    pub(super) fn total_tests(&self) -> Option<usize> {
        match &self.target {
            ResultTarget::Jobs(ids) => Some(ids.len()),
            ResultTarget::Single(_) => self.execution.as_ref()?.total_tests,
        }
    }

    /// Returns the number of finished tests for each verdict according to the record of the execution.
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.execution.as_ref().map(|execution| execution.test_status.verdict_counts()).unwrap_or_default()
    }

    /// Returns when the subject was started: according to its record, else the earliest start of its tests.
    pub(super) fn started_at(&self) -> Option<String> {
        let of_tests = || earliest(self.tests.iter().filter_map(|test| test.started_at.clone()));
        self.execution.as_ref().and_then(|execution| execution.started_at.clone()).or_else(of_tests)
    }

    /// Returns when the subject was completed: according to its record, else the latest end of its tests.
    pub(super) fn completed_at(&self) -> Option<String> {
        let of_record = self.execution.as_ref().and_then(|execution| execution.completed_at.clone());
        if of_record.is_some() || (self.is_execution() && !self.is_finished()) {
            return of_record;
        }

        let ends = self.tests.iter().filter_map(|test| test.completed_at.clone());
        ends.max_by_key(|end| sort_key(end))
    }

    /// Returns the key by which results of one plan or test are sorted: the start of an execution, which is how the
    /// service sorts the list of executions, or the creation of a run or a job.
    pub(super) fn age(&self) -> Option<(Option<Timestamp>, String)> {
        let time = match self.target.kind()? {
            ResultKind::Execution => self.execution.as_ref()?.started_at.as_deref(),
            ResultKind::Run | ResultKind::Job => self.tests.first()?.created_at.as_deref(),
        };
        time.map(sort_key)
    }

    /// Returns the id of the job that a run or a job belongs to.
    pub(super) fn job_id(&self) -> Option<&str> {
        let is_single = matches!(self.target.kind(), Some(ResultKind::Run | ResultKind::Job));
        self.tests.first().filter(|_| is_single)?.job_id.as_deref()
    }

    /// Returns the tested builds, each once.
    pub(super) fn builds(&self) -> Vec<BuildName> {
        let record = self.execution.iter().map(|execution| (&execution.build_id, &execution.build_name));
        let tests = self.tests.iter().map(|test| (&test.build_id, &test.build_name));
        let mut known: BTreeMap<String, (&str, BTreeSet<&str>)> = BTreeMap::new();

        for (id, name) in tests.chain(record) {
            if let Some(id) = id {
                let build = known.entry(id.to_ascii_lowercase()).or_insert_with(|| (id, BTreeSet::new()));
                build.1.extend(name.as_deref());
            }
        }

        let build = |(id, names): (&str, BTreeSet<&str>)| BuildName {
            id: shorten_line(id, LONGEST_ID),
            name: names.first().map(|name| shorten_line(name, LONGEST_NAME)),
        };
        known.into_values().map(build).collect()
    }

    pub(super) fn single_build(&self) -> Option<BuildName> {
        let mut builds = self.builds().into_iter();
        builds.next().filter(|_| builds.next().is_none())
    }

    /// Adds an omission if a list that was read to its end contains fewer tests than the execution counts. The counts
    /// of an execution include all its tests.
    pub(super) fn add_unlisted_tests(&mut self, list: &str) {
        let total = self.total_tests().unwrap_or_default();
        let missing = total.saturating_sub(self.tests.len());
        if missing == 0 || !self.is_complete {
            return;
        }

        let counts: Vec<_> =
            self.verdict_counts().iter().map(|(verdict, count)| format!("{verdict} {count}")).collect();
        let counts =
            if counts.is_empty() { String::new() } else { format!(" (it counts {})", counts.join(", ")) };
        let what = format!("{}: {missing} of {total}{counts}", self.id());
        let why = Failure::new(Code::BadResponse, format!("they are not in the list of {list}"));

        self.is_complete = false;
        self.omissions.add("tests of the execution", what, why);
    }
}

/// The result of one test: a job, or a run if a single run is summarized. The attempt that was started last decides.
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
    pub(super) duration_ms: Option<f64>,
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
    pub(in crate::tools) fn from_job(mut job: Job) -> Self {
        let started_at = earliest(job.runs.iter().filter_map(|run| run.started_at.clone()));

        // Attempts without a start come first, so that the last of the list decides if none has one.
        job.runs.sort_by_cached_key(|run| run.started_at.as_deref().map(sort_key));
        let deciding = job.runs.pop().unwrap_or_default();
        let run_id = filled(deciding.multiplayer_run_id);
        let earlier = job.runs.into_iter();

        Self {
            test_id: job.multiplayer_test_id,
            name: shorten_line(&job.test_name.unwrap_or_default(), LONGEST_NAME),
            job_id: filled(job.job_id),
            verdict: verdict(&job.status, deciding.result.as_deref(), run_id.is_some()),
            run_id,
            reason: job.queue_rejection_reason,
            created_at: filled(job.created_at),
            started_at,
            completed_at: job.completed_at,
            build_id: job.build_id,
            earlier: earlier.filter_map(|run| attempt_result(run.state.as_deref(), run.result)).collect(),
            ..Self::default()
        }
    }

    /// Creates the result of a run, from the record of a list or from the full record (service.md 2.2).
    pub(in crate::tools) fn from_run(run: RunHead) -> Self {
        let run_id = filled(run.multiplayer_run_id);
        let build = run.build.unwrap_or_default();

        Self {
            test_id: filled(run.test.id),
            name: shorten_line(&run.test.name, LONGEST_NAME),
            job_id: filled(run.job_id),
            verdict: verdict(&run.state, run.result.as_deref(), run_id.is_some()),
            run_id,
            created_at: filled(run.created_at),
            started_at: run.started_at,
            completed_at: run.completed_at,
            duration_ms: run.duration_ms,
            build_id: filled(build.id),
            build_name: build.name,
            bug_count: run.bug_info.and_then(|info| info.bug_count),
            ..Self::default()
        }
    }

    /// Creates the result of a job from its runs, for a service that does not list jobs.
    pub(super) fn from_attempts(mut attempts: Vec<RunHead>) -> Self {
        attempts.sort_by_cached_key(|run| run.started_at.as_deref().map(sort_key));
        let Some(deciding) = attempts.pop() else { return Self::default() };
        let mut test = Self::from_run(deciding);

        // The status of the job is not known. The job is taken as unfinished as long as an attempt is.
        if attempts.iter().any(|run| !is_completed(Some(&run.state))) {
            test.verdict = None;
        }
        let earlier = attempts.into_iter();
        test.earlier = earlier.filter_map(|run| attempt_result(Some(&run.state), run.result)).collect();

        test
    }

    /// Adds what only the full record of the run contains. The record itself is not kept, because it is long.
    pub(super) fn add_details(&mut self, run: &RunDetail) {
        let build = run.head.build.clone().unwrap_or_default();
        self.build_name = build.name;
        self.build_id = self.build_id.take().or_else(|| filled(build.id));
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

    /// Returns the id of the run for the answer.
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

    /// Returns whether the test is finished and did not pass.
    pub(super) fn has_failed(&self) -> bool {
        self.is_finished() && !self.has_passed()
    }

    /// Returns whether the run has ended, and whether it has bugs is not known to be false.
    pub(super) fn may_have_bugs(&self) -> bool {
        self.is_finished() && self.run_id.is_some() && self.bug_count != Some(0)
    }

    /// Returns whether bugs of the run are missing.
    pub(super) fn lacks_bugs(&self) -> bool {
        self.may_have_bugs() && (self.bugs.is_none() || self.unlisted_bugs > 0)
    }

    /// Returns whether the test passed after a failed attempt.
    pub(in crate::tools) fn passed_after_retry(&self) -> bool {
        self.has_passed() && self.earlier.iter().any(|result| result != "SUCCESS")
    }
}

/// Returns the verdict of a job or a run with this status or state.
fn verdict(status: &str, result: Option<&str>, was_started: bool) -> Option<String> {
    let without_result = if was_started { "no_result" } else { "no_run" };
    is_completed(Some(status)).then(|| canonical_result(result.unwrap_or(without_result)))
}

/// Returns the result of an attempt; `no_result` if the attempt is completed without a result.
fn attempt_result(state: Option<&str>, result: Option<String>) -> Option<String> {
    let result = result.map(|result| canonical_result(&result));
    result.or_else(|| is_completed(state).then(|| "no_result".to_owned()))
}

/// Returns the rank of a verdict among all verdicts, the worst first.
pub(super) fn verdict_rank(verdict: &str) -> usize {
    let position = |verdicts: &[&str]| verdicts.iter().position(|known| *known == verdict);
    let unknown = WORST_VERDICTS.len();

    position(&WORST_VERDICTS)
        .or_else(|| position(&BEST_VERDICTS).map(|position| unknown + 1 + position))
        .unwrap_or(unknown)
}

/// Returns the key by which timestamps are sorted: they have any offset from UTC. A text that is not a timestamp comes
/// before all timestamps.
pub(super) fn sort_key(text: &str) -> (Option<Timestamp>, String) {
    (text.parse().ok(), text.to_owned())
}

/// Returns the earliest timestamp. A text that is not a timestamp is returned only if there is no timestamp.
fn earliest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.min_by_key(|text| {
        let key = sort_key(text);
        (key.0.is_none(), key)
    })
}

/// Number of ids that an entry of [`Omissions`] names.
const MOST_IDS: usize = 3;

/// Longest text of an entry of [`Omissions`], in characters.
const LONGEST_TEXT: usize = 200;

/// Everything that could not be read.
#[derive(Clone, Debug, Default)]
pub(super) struct Omissions(Vec<FailedRead>);

#[derive(Clone, Debug)]
struct FailedRead {
    /// What was to be read, such as `run`.
    what: &'static str,
    id: String,
    failure: Failure,
}

impl Omissions {
    pub(super) fn add(&mut self, what: &'static str, id: impl Into<String>, failure: Failure) {
        self.0.push(FailedRead { what, id: id.into(), failure });
    }

    /// Adds something that was not requested because of a limit.
    pub(super) fn add_skipped(&mut self, what: &'static str, id: impl Into<String>, why: &str) {
        self.add(what, id, Failure::new(Code::Timeout, why));
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Returns one entry for all omissions of the same thing with the same cause, in a fixed order.
    pub(super) fn to_entries(&self) -> Vec<Omission> {
        let mut groups: BTreeMap<(&str, String, Option<u16>), Vec<&FailedRead>> = BTreeMap::new();
        for read in &self.0 {
            let FailedRead { what, failure, .. } = read;
            // `Code` has no order, but its name has one.
            groups.entry((what, format!("{:?}", failure.code), failure.status)).or_default().push(read);
        }

        groups.into_values().filter_map(join).collect()
    }
}

/// Returns one entry for omissions with the same cause.
fn join(mut omissions: Vec<&FailedRead>) -> Option<Omission> {
    omissions.sort_by_key(|read| (&read.id, &read.failure.message));

    let first = omissions.first()?;
    let ids: Vec<_> = omissions.iter().take(MOST_IDS).map(|read| read.id.as_str()).collect();
    let more = match omissions.len().saturating_sub(MOST_IDS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let what = format!("{} {}{more}", first.what, ids.join(", "));

    Some(Omission {
        what: shorten_line(what.trim_end(), LONGEST_TEXT),
        why: shorten_line(&first.failure.message, LONGEST_TEXT),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_verdict_ranks_after_every_known_failure() {
        let verdicts = ["FAILED", "MAX_STEPS", "UNKNOWN_WORD", "no_result", "SUCCESS"];
        assert!(verdicts.is_sorted_by_key(|verdict| verdict_rank(verdict)));
    }

    #[test]
    fn an_attempt_has_a_result_once_it_is_completed() {
        let cases = [
            ("running", None, None),
            ("completed", None, Some("no_result")),
            ("completed", Some("failed"), Some("FAILED")),
        ];
        for (state, result, expected) in cases {
            let result = attempt_result(Some(state), result.map(str::to_owned));
            assert_eq!(result.as_deref(), expected, "{state}");
        }
    }

    #[test]
    fn timestamps_are_compared_by_time_and_not_by_text() {
        let (one, other, text) = ("2026-03-01T10:30:00+02:00", "2026-03-01T10:00:00Z", "0 soon");
        let cases: [(&[&str], Option<&str>, Option<&str>); 4] = [
            (&[], None, None),
            (&[one, other], Some(one), Some(other)),
            (&[text, other], Some(other), Some(other)),
            (&[text], Some(text), Some(text)),
        ];
        for (texts, first, last) in cases {
            let texts = || texts.iter().map(|text| (*text).to_owned());
            assert_eq!(earliest(texts()).as_deref(), first);
            assert_eq!(texts().max_by_key(|text| sort_key(text)).as_deref(), last);
        }
    }
}
