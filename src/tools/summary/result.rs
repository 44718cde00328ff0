//! What is summarized: a run, a job or an execution of a test plan, and the tests that it consists of. Of the attempts of a
//! test, the one that was started last decides.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde_json::json;

use super::{
    answer::{BugEntry, BuildName, FailureEntry, TestName},
    failures::cause_of,
    reading::TESTS,
};
use crate::{
    service::{
        api::{
            jobs::Job,
            jobs::TestPlanExecution,
            runs::{RunDetail, RunHead},
        },
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::{filled, shorten_line},
    tools::{
        unread::Unread,
        waiting::{ResultItem, is_completed},
    },
};

/// Longest single word in the answer, such as a verdict, in characters.
pub(super) const LONGEST_WORD: usize = 40;

/// Verdicts from the worst to the best. `?` stands for unknown ones.
const VERDICTS: &str = "FAILED BLOCKED ERROR TIMEOUT MAX_STEPS ? no_result no_run STOPPED SKIPPED SUCCESS";

/// Whether a test passed. Of several jobs of one test, the lowest value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Failed,
    /// Running, or nothing was run.
    WithoutVerdict,
    Passed,
}

/// The result of one test.
#[derive(Clone, Debug, Default)]
pub(in crate::tools) struct TestResult {
    pub(in crate::tools) test_id: Option<String>,
    /// The name of the test; empty if it is not known.
    pub(in crate::tools) name: String,
    pub(in crate::tools) job_id: Option<String>,
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
    pub(in crate::tools) build: Option<BuildName>,
    /// Results of the attempts before the one that decides.
    pub(super) earlier: Vec<String>,
    /// Why the run failed, once its full record was read: step, texts, files and devices.
    pub(super) cause: Option<FailureEntry>,
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
        let word = |word: String| shorten_line(&word, LONGEST_WORD);

        Self {
            verdict: item.verdict().map(word),
            test_id: job.multiplayer_test_id.clone(),
            name: item.test_name.unwrap_or_default(),
            job_id: item.job_id,
            run_id: item.run_id,
            reason: item.reason,
            created_at: filled(&job.created_at),
            started_at: earliest(job.runs.iter().filter_map(|run| run.started_at.clone())),
            completed_at: job.completed_at.clone(),
            duration_ms: deciding
                .and_then(|run| duration(run.started_at.as_deref(), run.completed_at.as_deref())),
            build: job.build_id.clone().map(|id| BuildName { id, name: None }),
            earlier: item.earlier.into_iter().map(word).collect(),
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
        // The fields of a run have the same names as those of an attempt.
        let runs = attempts.iter().map(|run| view(&json!(run))).collect();
        let Some(deciding) = attempts.pop() else { return Self::default() };
        let job = Job {
            job_id: deciding.job_id,
            status,
            created_at: deciding.created_at,
            completed_at: deciding.completed_at,
            multiplayer_test_id: filled(&deciding.test.id),
            test_name: Some(deciding.test.name),
            runs,
            ..Job::default()
        };
        let of_job = Self::from_job(&job);

        Self {
            duration_ms: deciding.duration_ms.and_then(whole_milliseconds).or(of_job.duration_ms),
            build: deciding.build.and_then(BuildName::of_run),
            bug_count: deciding.bug_info.and_then(|info| info.bug_count),
            ..of_job
        }
    }

    /// Adds what only the full record of the run contains. The record itself is not kept, because it is long.
    pub(super) fn add_details(&mut self, run: &RunDetail) {
        self.build = run.head.build.clone().and_then(BuildName::of_run).or(self.build.take());
        self.bug_count = run.head.bug_info.as_ref().and_then(|info| info.bug_count);
        self.cause = self.verdict.as_deref().map(|verdict| cause_of(run, verdict));
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.job_id.as_deref().or(self.run_id.as_deref())
    }

    /// Returns the key that identifies the test: its id, else the id of its job or run.
    pub(super) fn key(&self) -> String {
        self.test_id.as_deref().or_else(|| self.id()).unwrap_or_default().to_ascii_lowercase()
    }

    pub(super) fn test_name(&self) -> TestName {
        TestName { name: self.name.clone(), id: self.test_id.clone() }
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

    /// Returns the verdict; `running` if the test is not finished.
    pub(in crate::tools) fn word(&self) -> &str {
        self.verdict.as_deref().unwrap_or("running")
    }

    pub(super) fn outcome(&self) -> Outcome {
        match self.word() {
            "running" | "no_run" => Outcome::WithoutVerdict,
            "SUCCESS" => Outcome::Passed,
            _ => Outcome::Failed,
        }
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

/// Returns the milliseconds between two timestamps; `None` if one is no timestamp, or they are in the wrong order.
pub(in crate::tools) fn duration(start: Option<&str>, end: Option<&str>) -> Option<u64> {
    let time = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    u64::try_from(time(end)?.as_millisecond() - time(start)?.as_millisecond()).ok()
}

pub(super) fn whole_milliseconds(milliseconds: f64) -> Option<u64> {
    let duration = Duration::try_from_secs_f64(milliseconds / 1_000.0).ok()?;
    u64::try_from(duration.as_millis()).ok()
}

/// Returns the rank of a verdict among all verdicts, the worst first.
pub(super) fn verdict_rank(verdict: &str) -> usize {
    let rank = |verdict: &str| VERDICTS.split(' ').position(|known| known == verdict);
    rank(verdict).or_else(|| rank("?")).unwrap_or_default()
}

/// A run, a job or an execution, with the tests that could be read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) target: ResultTarget,
    /// The record of an execution; empty for another target.
    pub(super) execution: TestPlanExecution,
    /// The tests of an execution, or the single test of a run or a job.
    pub(super) tests: Vec<TestResult>,
    pub(super) unread: Unread,
    /// Whether every test could be read.
    pub(super) is_complete: bool,
}

impl Subject {
    pub(super) fn new(target: impl Into<ResultTarget>) -> Self {
        let (execution, unread) = (TestPlanExecution::default(), Unread::default());
        Self { target: target.into(), execution, tests: Vec::new(), unread, is_complete: true }
    }

    /// Creates the subject of a run or of a job.
    pub(super) fn of_test(kind: ResultKind, test: TestResult) -> Self {
        let id = if kind == ResultKind::Job { &test.job_id } else { &test.run_id };
        let target = ResultId::new(kind, id.clone().unwrap_or_default());
        Self { tests: vec![test], ..Self::new(target) }
    }

    /// Creates the subject of an execution whose tests have not been read.
    pub(super) fn of_execution(execution: TestPlanExecution) -> Self {
        let target = ResultId::new(ResultKind::Execution, execution.id.as_str());
        Self { execution, ..Self::new(target) }
    }

    pub(super) fn id(&self) -> &str {
        self.target.id().unwrap_or_default()
    }

    pub(super) fn is_execution(&self) -> bool {
        self.target.kind() == Some(ResultKind::Execution)
    }

    pub(super) fn plan_id(&self) -> Option<&str> {
        self.execution.test_plan_id.as_deref()
    }

    pub(super) fn test_id(&self) -> Option<&str> {
        self.tests.first()?.test_id.as_deref()
    }

    /// Returns why there are no other results of the same plan or test.
    pub(super) fn why_alone(&self) -> Option<&'static str> {
        match self.target.kind() {
            None => Some("several jobs have no earlier result: pass the id of one"),
            Some(ResultKind::Execution) if self.plan_id().is_none() => Some("the execution has no test plan"),
            Some(ResultKind::Run | ResultKind::Job) if self.test_id().is_none() => {
                Some("the id of the test is not known")
            }
            Some(_) => None,
        }
    }

    fn status(&self) -> Option<&str> {
        Some(self.execution.status.as_str()).filter(|status| !status.is_empty())
    }

    /// Returns whether nothing is running any more. Tests that could not be read count as running.
    pub(super) fn is_finished(&self) -> bool {
        let is_known = self.status().is_some() || (self.is_complete && !self.tests.is_empty());
        is_known && !self.is_unfinished()
    }

    /// Returns whether something is known to be running or queued.
    pub(super) fn is_unfinished(&self) -> bool {
        match self.status() {
            Some(status) => !is_completed(Some(status)),
            None => !self.tests.iter().all(TestResult::is_finished),
        }
    }

    /// Returns whether every test has passed: of an execution, according to the counts of its record.
    pub(super) fn has_passed(&self) -> bool {
        if self.is_execution() {
            let passed = self.execution.test_status.passed;
            return passed > 0 && self.execution.total_tests == Some(passed);
        }
        !self.tests.is_empty() && self.tests.iter().all(TestResult::has_passed)
    }

    /// Returns the number of tests: of several jobs, or according to the record of the execution.
    pub(super) fn total_tests(&self) -> Option<usize> {
        match &self.target {
            ResultTarget::Jobs(ids) => Some(ids.len()),
            ResultTarget::Single(_) => self.execution.total_tests,
        }
    }

    /// Returns the number of finished tests for each verdict according to the record of the execution.
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.execution.test_status.verdict_counts()
    }

    /// Returns when the subject was started: according to its record, else the earliest start of its tests.
    pub(super) fn started_at(&self) -> Option<String> {
        let of_tests = || earliest(self.tests.iter().filter_map(|test| test.started_at.clone()));
        self.execution.started_at.clone().or_else(of_tests)
    }

    /// Returns when the subject was completed: according to its record, else the latest end of its tests.
    pub(super) fn completed_at(&self) -> Option<String> {
        let of_record = self.execution.completed_at.clone();
        if of_record.is_some() || (self.is_execution() && !self.is_finished()) {
            return of_record;
        }

        let ends = self.tests.iter().filter_map(|test| test.completed_at.clone());
        ends.max_by_key(|end| sort_key(end))
    }

    /// Returns the key by which results of one plan or test are sorted.
    pub(super) fn age(&self) -> Option<(Option<Timestamp>, String)> {
        let created = || self.tests.first()?.created_at.clone();
        self.started_at().or_else(created).map(|time| sort_key(&time))
    }

    pub(super) fn job_id(&self) -> Option<&str> {
        let is_single = matches!(self.target.kind(), Some(ResultKind::Run | ResultKind::Job));
        self.tests.first().filter(|_| is_single)?.job_id.as_deref()
    }

    /// Returns the tested builds, each once.
    pub(super) fn builds(&self) -> Vec<BuildName> {
        let TestPlanExecution { build_id, build_name, .. } = &self.execution;
        let of_record = build_id.iter().map(|id| BuildName { id: id.clone(), name: build_name.clone() });
        let mut builds: BTreeMap<String, BuildName> = BTreeMap::new();
        for build in self.tests.iter().filter_map(|test| test.build.clone()).chain(of_record) {
            let known = builds.entry(build.id.to_ascii_lowercase()).or_insert_with(|| build.clone());
            known.name = known.name.take().or(build.name);
        }

        builds.into_values().collect()
    }

    pub(super) fn single_build(&self) -> Option<BuildName> {
        <[_; 1]>::try_from(self.builds()).ok().map(|[build]| build)
    }

    /// Adds an omission if a list that was read to its end contains fewer tests than the execution counts.
    pub(super) fn add_unlisted_tests(&mut self, list: &str) {
        let total = self.total_tests().unwrap_or_default();
        let missing = total.saturating_sub(self.tests.len());
        if missing == 0 || !self.is_complete {
            return;
        }

        let counts = self.verdict_counts().into_iter().map(|(verdict, count)| format!("{verdict} {count}"));
        let counts = filled(&counts.collect::<Vec<_>>().join(", "));
        let counts = counts.map(|counts| format!(" (it counts {counts})")).unwrap_or_default();
        let what = format!("{}: {missing} of {total}{counts}", self.id());

        self.is_complete = false;
        self.unread.omit(TESTS, &what, &format!("they are not in the list of {list}"));
    }
}

/// Returns the key by which timestamps are sorted, because their offsets from UTC may differ. A text that is not a timestamp
/// comes before all timestamps.
pub(super) fn sort_key(text: &str) -> (Option<Timestamp>, String) {
    (text.parse().ok(), text.to_owned())
}

/// Returns the earliest timestamp. A text that is not a timestamp is returned only if there is no timestamp.
pub(super) fn earliest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.min_by_key(|text| (text.parse::<Timestamp>().is_err(), sort_key(text)))
}
