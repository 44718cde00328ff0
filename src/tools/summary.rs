//! A summary of the results of a run, a job or an execution of a test plan, in one answer of less than 8,000
//! characters.
//!
//! A summary contains the verdicts, one entry per group of similar failures, tests that passed on a retry, bugs, and the
//! changes since an earlier result.
//!
//! # The path of one summary
//!
//! 1. [`LatestResult`] finds the latest result, if a plan or a test is named, or the latest of all is requested.
//! 2. `reading` reads the record and its jobs, a hundred per page.
//! 3. `comparison` finds the earlier result, if a comparison is requested, and reads it in the same way. `baseline` does
//!    so with the last result on a build.
//! 4. `reading` reads the runs that failed, and the bugs of all runs that may have some. `history` reads the results
//!    before, if they are requested.
//! 5. `failures` joins failures with the same normalized text, `comparison` and `baseline` compute the changes. `limit`
//!    shortens the answer of the tool and counts what is left out. `gate` decides for CI jobs.
//!
//! At most eight requests are sent at once. What cannot be read, or not before the time limit of the call, is listed
//! under `unread`; the rest is delivered.

mod answer;
mod baseline;
mod cause;
mod comparison;
mod failures;
mod gate;
mod history;
mod limit;
mod reading;
mod subject;
mod trend;

use std::{collections::BTreeMap, ops::ControlFlow};

use jiff::Timestamp;

pub use self::{
    answer::{
        BaselineComparison, BaselineName, BugEntry, BuildName, Comparison, FailureEntry, History,
        HistoryCause, HistoryResult, HistoryTest, LeftOut, Omission, PassedTest, RetriedTest, StepName,
        Summary, TestChange, TestName,
    },
    gate::{FailOn, Gate, GateDecision},
    trend::{
        ABSENT_LETTER, Trend, TrendExecution, TrendResult, TrendTest, UNKNOWN_LETTER, VERDICT_LETTERS,
        verdict_letter,
    },
};
use self::{
    baseline::{compare_with_baseline, find_on_build},
    comparison::{Baseline, compare, find_baseline},
    failures::{count_severities, group_failures, passed_after_retry, passed_with_bugs},
    history::read_history,
    reading::{SummaryReader, arguments, read_details, read_subject},
    subject::{LONGEST_ID, LONGEST_WORD, Subject, sort_key},
};
pub(in crate::tools) use self::{cause::has_failed, subject::TestResult, trend::TrendRequest};
use crate::{
    call::{
        Caller,
        paging::{LONG_LIST_PAGES, MAX_PAGES, ScanEnd, how_to_repeat},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            executions::TestPlanExecution,
            runs::{ListRuns, Run},
        },
        lenient::view,
        result_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::shorten_line,
    tools::{
        call_options::CallOptions,
        time_limit::run_with_limit,
        waiting::{LONGEST_NAME, all_passed},
    },
};

/// A request for a summary.
#[derive(Clone, Debug)]
pub(crate) struct SummaryRequest {
    /// What to summarize.
    pub target: SummaryTarget,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// `previous`, or the id of an execution, a run or a job.
    pub compare_with: Option<String>,
    /// Name or id of a build, or `latest-passed`.
    pub baseline: Option<String>,
    /// Number of the last results of the plan or the test.
    pub history: Option<usize>,
}

/// What a summary is requested of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryTarget {
    /// This run, job or execution, or these jobs.
    Results(ResultTarget),
    /// The latest result of something.
    Latest(LatestResult),
}

/// The latest result of something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LatestResult {
    /// The latest execution of the plan with this id.
    OfPlan(String),
    /// The latest run of the test with this id.
    OfTest(String),
    /// The latest run of the project.
    OfProject,
}

impl SummaryRequest {
    /// Reads the results and summarizes them at full length. Dropping the future ends the reading.
    ///
    /// # Errors
    /// Failures of the operations that read, if nothing at all could be read; `project_scope_mismatch` if
    /// `compare_with` belongs to another project.
    pub(crate) async fn run(self, caller: &Caller, options: &CallOptions) -> Result<Summary, Failure> {
        let reader = SummaryReader::new(caller, self.project.as_deref());
        run_with_limit(&reader, &**caller.clock(), options, self.summarize(&reader)).await
    }

    async fn summarize(&self, reader: &SummaryReader) -> Result<Summary, Failure> {
        let target = match &self.target {
            SummaryTarget::Results(target) => target.clone(),
            SummaryTarget::Latest(latest) => latest.resolve(reader).await?.into(),
        };
        let mut subject = read_subject(reader, target).await?;
        let earlier = match &self.compare_with {
            Some(compare_with) => Some(find_baseline(reader, &mut subject, compare_with).await?),
            None => None,
        };
        let baseline = match &self.baseline {
            Some(build) => Some(find_on_build(reader, &mut subject, build).await?),
            None => None,
        };
        read_details(reader, &mut subject).await;
        let history = match self.history {
            Some(count) => read_history(reader, &mut subject, &self.target, count).await?,
            None => None,
        };

        let baseline = baseline.map(|baseline| compare_with_baseline(&mut subject, baseline));
        let summary = summarize(subject, earlier);

        Ok(Summary { project_id: reader.project(), baseline, history, ..summary })
    }
}

impl Summary {
    /// Returns the summary, shortened to less than 8,000 characters.
    #[must_use]
    pub fn shortened(self) -> Self {
        limit::fit(self)
    }
}

impl LatestResult {
    /// Returns the id of the record, without a summary.
    ///
    /// # Errors
    /// `not_found` if the plan or the test has no result, and the failures of the list.
    pub async fn find(&self, caller: &Caller, project: Option<&str>) -> Result<ResultId, Failure> {
        self.resolve(&SummaryReader::new(caller, project)).await
    }

    async fn resolve(&self, reader: &SummaryReader) -> Result<ResultId, Failure> {
        let (kind, latest, owner) = match self {
            Self::OfPlan(plan) => {
                (ResultKind::Execution, latest_execution(reader, plan).await?, format!("test plan {plan}"))
            }
            Self::OfTest(test) => {
                let owner = format!("test {test}");
                let filter = arguments(&[("multiplayer_test_id", test.as_str())]);
                (ResultKind::Run, latest_run(reader, &filter, MAX_PAGES, &owner).await?, owner)
            }
            Self::OfProject => {
                let owner = "project".to_owned();
                (ResultKind::Run, latest_run(reader, &Fields::new(), LONG_LIST_PAGES, &owner).await?, owner)
            }
        };

        latest.filter(|id| !id.is_empty()).map(|id| ResultId::new(kind, id)).ok_or_else(|| {
            let message = format!("the {owner} has no {}", kind.noun());
            Failure::new(Code::NotFound, message)
                .hint("check the id and the project; nothing may have been started yet")
        })
    }
}

/// Returns the id of the execution of a plan that was started last, or else of one that is still queued.
async fn latest_execution(reader: &SummaryReader, plan: &str) -> Result<Option<String>, Failure> {
    let mut queued = None;
    let end = reader.scan_executions(plan, &[], |executions| {
        let (started, others): (Vec<_>, Vec<_>) =
            executions.into_iter().partition(|execution| execution.started_at.is_some());
        queued = queued.take().or_else(|| others.into_iter().next());

        let start = |execution: &TestPlanExecution| execution.started_at.as_deref().map(sort_key);
        let latest = started.into_iter().max_by_key(|execution| (start(execution), execution.id.clone()));
        latest.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    });

    let latest = match end.await? {
        ScanEnd::Stopped(found) => Some(found),
        ScanEnd::LastPage | ScanEnd::PageLimit => queued,
    };
    Ok(latest.map(|execution| execution.id))
}

/// Returns the id of the run that was created last among those that `filter` selects, the runs of `owner`. The order of
/// the list is not specified (service.md 2.2), so that all pages are read.
///
/// # Errors
/// The failure of a page, because the latest run may be on it.
async fn latest_run(
    reader: &SummaryReader,
    filter: &Fields,
    max_pages: u64,
    owner: &str,
) -> Result<Option<String>, Failure> {
    let listed = reader.list_up_to::<ListRuns>(filter, max_pages).await?;

    if let Some((_, failure)) = listed.failed_pages.into_iter().next() {
        return Err(failure);
    }
    if listed.has_more_pages {
        let message = format!("the {owner} has too many runs to find the latest one");
        return Err(Failure::new(Code::TooLarge, message).hint("pass the `argument:run_id` of a run"));
    }

    let runs = listed.records.iter().map(|run| view::<Run>(run).head);
    // The ids decide between equal times, so that equal calls have equal answers.
    let latest =
        runs.max_by_key(|run| (run.created_at.parse::<Timestamp>().ok(), run.multiplayer_run_id.clone()));

    let latest = latest.map(|run| run.multiplayer_run_id);
    reader.remember_runs(latest.iter());

    Ok(latest)
}

/// Returns the summary at its full length.
fn summarize(mut subject: Subject, baseline: Option<Baseline>) -> Summary {
    let comparison = baseline.map(|baseline| compare(&mut subject, baseline));
    let failures = group_failures(&mut subject);

    let (finished, total) = count_tests(&subject);
    let verdicts = count_verdicts(&subject);
    let is_finished = subject.is_finished();
    let all_passed =
        all_passed(&verdicts, subject.is_unfinished(), Some(total).filter(|_| is_fully_read(&subject)));

    let builds = subject.builds();
    let (started_at, completed_at) = (subject.started_at(), subject.completed_at());

    let unread = subject.omissions.to_entries();
    let repeat = how_to_repeat(&unread);

    Summary {
        incomplete: repeat.as_ref().map(|_| true),
        repeat,
        target_type: subject.target.target_type().to_owned(),
        target_id: subject.target.id().map(|id| shorten_line(id, LONGEST_ID)),
        project_id: None,
        name: subject_name(&subject),
        state: if is_finished { "completed" } else { "running" }.to_owned(),
        all_passed,
        finished,
        total,
        verdicts,
        duration_ms: duration(&subject, started_at.as_deref(), completed_at.as_deref()),
        started_at: started_at.map(|start| shorten_line(&start, LONGEST_WORD)),
        completed_at: completed_at.map(|end| shorten_line(&end, LONGEST_WORD)),
        build: subject.single_build(),
        builds: if builds.len() > 1 { builds } else { Vec::new() },
        failures: known(&subject, failures),
        passed_after_retry: known(&subject, passed_after_retry(&subject.tests)),
        bugs: Some(count_severities(&subject.tests))
            .filter(|bugs| !bugs.is_empty() || has_all_bugs(&subject)),
        bugs_complete: Some(is_finished && has_all_bugs(&subject)),
        passed_with_bugs: passed_with_bugs(&subject.tests),
        comparison,
        baseline: None,
        history: None,
        unread,
        left_out: None,
    }
}

/// Returns a list, unless it is empty because not every test was read: it would say that there is nothing.
fn known<T>(subject: &Subject, list: Vec<T>) -> Option<Vec<T>> {
    Some(list).filter(|list| subject.is_complete || !list.is_empty())
}

/// Returns whether the bugs of all runs were read that may have some.
fn has_all_bugs(subject: &Subject) -> bool {
    subject.is_complete && !subject.tests.iter().any(TestResult::lacks_bugs)
}

/// Returns whether everything was read that decides whether all tests passed.
fn is_fully_read(subject: &Subject) -> bool {
    let has_record = subject.execution.is_some() || !subject.is_execution();
    let has_total = subject.total_tests().is_some() || !subject.tests.is_empty();
    subject.is_complete && has_record && has_total
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

/// Returns the number of tests for each verdict. Without tests, the counts of the execution are used.
fn count_verdicts(subject: &Subject) -> BTreeMap<String, usize> {
    if subject.tests.is_empty() {
        let counts = subject.verdict_counts().into_iter();
        return counts.map(|(verdict, count)| (verdict.to_owned(), count)).collect();
    }

    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in subject.tests.iter().filter_map(|test| test.verdict.as_ref()) {
        *verdicts.entry(shorten_line(verdict, LONGEST_WORD)).or_default() += 1;
    }

    verdicts
}

/// Returns the name of the plan of an execution, else the name of the test.
fn subject_name(subject: &Subject) -> Option<String> {
    let name = match &subject.target {
        ResultTarget::Jobs(ids) => return Some(format!("{} jobs", ids.len())),
        _ if subject.is_execution() => subject.execution.as_ref()?.test_plan_name.as_ref()?,
        ResultTarget::Single(_) => &subject.tests.first()?.name,
    };
    Some(shorten_line(name, LONGEST_NAME)).filter(|name| !name.is_empty())
}

/// Returns the duration in milliseconds: according to the record, else the time between start and end.
fn duration(subject: &Subject, started_at: Option<&str>, completed_at: Option<&str>) -> Option<u64> {
    let of_record = match subject.target.kind() {
        Some(ResultKind::Execution) => subject.execution.as_ref().and_then(|execution| execution.duration_ms),
        Some(ResultKind::Run | ResultKind::Job) => subject.tests.first().and_then(|test| test.duration_ms),
        None => None,
    };
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    let of_record = of_record.map(|milliseconds| milliseconds.round() as i64);

    let time = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    let between = || Some(time(completed_at)?.as_millisecond() - time(started_at)?.as_millisecond());

    of_record.or_else(between).and_then(|milliseconds| u64::try_from(milliseconds).ok())
}
