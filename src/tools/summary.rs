//! A summary of the results of a run, a job or an execution of a test plan: the verdicts, one entry per group of similar
//! failures, tests that passed on a retry, bugs, the changes since an earlier result, and the last results as a grid.
//!
//! 1. `reading` reads the record and its jobs, a hundred per page.
//! 2. `comparison` finds the result to compare with, reads it in the same way, and computes the changes.
//! 3. `reading` reads the runs that failed, and the bugs of all runs that may have some. `history` reads the results
//!    before, if they are requested.
//! 4. `failures` joins failures with the same normalized text.
//!
//! What cannot be read, or not before the time limit of the call, is listed under `unread`; the rest is delivered.

mod answer;
mod comparison;
mod failures;
mod history;
mod reading;
mod result;

pub use self::answer::{
    BugEntry, BuildName, Comparison, EarlierResult, FailureEntry, History, HistoryResult, HistoryTest,
    LeftOut, ListedTest, Missing, Omission, StepName, Summary, TestChange, TestName,
};
use self::{
    comparison::compare,
    failures::{
        LeftOutCounts, count_severities, group_failures, passed_after_retry, passed_with_bugs, slowest,
    },
    history::read_history,
    reading::{read_details, read_subject},
    result::{Subject, whole_milliseconds},
};
pub(in crate::tools) use self::{
    failures::has_failed,
    result::{TestResult, duration},
};
use crate::{
    call::Caller,
    failure::Failure,
    service::record_kind::{ResultKind, ResultTarget},
    text::{filled, shorten_line},
    tools::{
        context::CallOptions,
        reader::Reader,
        waiting::{LONGEST_NAME, all_passed, count_verdicts},
    },
};

/// How to get what is left out.
const HOW: &str = "read the run[[ with `tool:get_run`]][[, and its bugs with `tool:list_run_bugs`]]";

/// A request for a summary.
#[derive(Clone, Debug)]
pub(crate) struct SummaryRequest {
    /// What to summarize.
    pub target: ResultTarget,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// `previous`, `latest-passed`, the id of an execution, a run or a job, or the name or id of a build.
    pub compare_with: Option<String>,
    /// Number of the last results of the plan or the test.
    pub history: Option<usize>,
}

impl SummaryRequest {
    /// Reads the results and summarizes them. Dropping the future ends the reading.
    ///
    /// # Errors
    /// Failures of the operations that read, if nothing at all could be read; `project_scope_mismatch` if
    /// `compare_with` belongs to another project.
    pub(crate) async fn run(self, caller: &Caller, options: &CallOptions) -> Result<Summary, Failure> {
        let reader = Reader::new(caller, self.project.as_deref());
        reader.run(options, self.summarize(&reader)).await
    }

    async fn summarize(&self, reader: &Reader) -> Result<Summary, Failure> {
        let mut subject = read_subject(reader, self.target.clone()).await?;
        let comparison = match &self.compare_with {
            Some(compare_with) => Some(compare(reader, &mut subject, compare_with).await?),
            None => None,
        };
        read_details(reader, &mut subject).await;
        let history = match self.history {
            Some(count) => read_history(reader, &mut subject, count).await?,
            None => None,
        };

        Ok(Summary { project_id: reader.project(), comparison, history, ..Summary::of(&subject) })
    }
}

impl Summary {
    /// Summarizes a subject with its details.
    fn of(subject: &Subject) -> Self {
        let mut left_out = LeftOutCounts::new();
        let failures = group_failures(&subject.tests, &mut left_out);
        let passed_with_bugs = passed_with_bugs(&subject.tests, &mut left_out);

        let (finished, total) = count_tests(subject);
        let verdicts = subject.tests.iter().map(|test| test.verdict.clone());
        let verdicts = count_verdicts(verdicts, subject.verdict_counts());
        let is_finished = subject.is_finished();
        let has_total = subject.total_tests().is_some() || !subject.tests.is_empty();
        let known_total = Some(total).filter(|_| has_total && subject.is_complete);
        let all_passed = all_passed(&verdicts, subject.is_unfinished(), known_total);
        let bugs = count_severities(&subject.tests);
        let has_all_bugs = subject.is_complete && !subject.tests.iter().any(TestResult::lacks_bugs);

        let build = subject.single_build();

        Self {
            missing: subject.unread.clone().into(),
            target_type: subject.target.target_type().to_owned(),
            target_id: subject.target.id().map(str::to_owned),
            name: name(subject),
            state: if is_finished { "completed" } else { "running" }.to_owned(),
            all_passed,
            finished,
            total,
            verdicts,
            duration_ms: duration_of(subject),
            started_at: subject.started_at(),
            completed_at: subject.completed_at(),
            builds: if build.is_some() { Vec::new() } else { subject.builds() },
            build,
            failures: known(subject, failures),
            passed_after_retry: known(subject, passed_after_retry(&subject.tests)),
            bugs: Some(bugs).filter(|bugs| !bugs.is_empty() || has_all_bugs),
            bugs_complete: Some(is_finished && has_all_bugs),
            passed_with_bugs,
            slowest: slowest(&subject.tests),
            left_out: (!left_out.is_empty()).then(|| LeftOut { counts: left_out, how: HOW.into() }),
            ..Self::default()
        }
    }
}

/// Returns a list, unless it is empty because not every test was read: it would say that there is nothing.
fn known<T>(subject: &Subject, list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| subject.is_complete || !list.is_empty())
}

/// Returns the number of finished tests and the number of all tests.
fn count_tests(subject: &Subject) -> (usize, usize) {
    let total = subject.tests.len().max(subject.total_tests().unwrap_or_default());
    if !subject.tests.is_empty() {
        return (subject.tests.iter().filter(|test| test.is_finished()).count(), total);
    }

    let finished = subject.verdict_counts().into_iter().map(|(_, count)| count).sum();
    (finished, total.max(finished))
}

/// Returns the name of the plan of an execution, else the name of the test.
fn name(subject: &Subject) -> Option<String> {
    let name = match &subject.target {
        ResultTarget::Jobs(ids) => return Some(format!("{} jobs", ids.len())),
        _ if subject.is_execution() => subject.execution.test_plan_name.as_ref()?,
        ResultTarget::Single(_) => &subject.tests.first()?.name,
    };
    filled(&shorten_line(name, LONGEST_NAME))
}

/// Returns the duration in milliseconds: according to the record, else the time between start and end.
fn duration_of(subject: &Subject) -> Option<u64> {
    let is_run = subject.target.kind() == Some(ResultKind::Run);
    let of_run = subject.tests.first().filter(|_| is_run).and_then(|run| run.duration_ms);
    let between = || duration(subject.started_at().as_deref(), subject.completed_at().as_deref());

    subject.execution.duration_ms.and_then(whole_milliseconds).or(of_run).or_else(between)
}
