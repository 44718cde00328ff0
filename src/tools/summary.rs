//! A summary of the results of a run, a job or an execution of a test plan: the verdicts, one entry per group of similar
//! failures, tests that passed on a retry, bugs, the changes since an earlier result, and the last results as a grid.
//!
//! # The path of one summary
//!
//! 1. [`LatestResult`] finds the latest result, if a plan or a test is named, or the latest of all is requested.
//! 2. `reading` reads the record and its jobs, a hundred per page.
//! 3. `earlier` finds the result to compare with, and reads it in the same way.
//! 4. `reading` reads the runs that failed, and the bugs of all runs that may have some. `history` reads the results
//!    before, if they are requested.
//! 5. `failures` joins failures with the same normalized text, `comparison` computes the changes.
//!
//! What cannot be read, or not before the time limit of the call, is listed under `unread`; the rest is delivered.

mod answer;
mod cause;
mod comparison;
mod earlier;
mod failures;
mod history;
mod normal;
mod reading;
mod result;
mod subject;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize as _;
use serde_json::{Value, json};

pub use self::answer::{
    BugEntry, BuildName, Comparison, EarlierResult, FailureEntry, History, HistoryResult, HistoryTest,
    LeftOut, ListedTest, Omission, StepName, Summary, TestChange, TestName,
};
pub(in crate::tools) use self::{cause::has_failed, result::TestResult};
use self::{
    comparison::compare,
    earlier::{Earlier, executions_of, find_earlier},
    failures::{
        LeftOutCounts, count_severities, group_failures, passed_after_retry, passed_with_bugs, slowest,
    },
    history::read_history,
    reading::{read_details, read_subject},
    result::{milliseconds_between, whole_milliseconds},
    subject::{LONGEST_ID, LONGEST_WORD, Subject, sort_key},
};
use crate::{
    call::{
        Caller,
        paging::{LONG_LIST_PAGES, how_to_repeat},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            executions::{ListTestPlanExecutions, TestPlanExecution},
            runs::{ListRuns, Run},
        },
        catalog::ListedOperation as _,
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::{filled, shorten_line},
    tools::{
        call_options::CallOptions,
        reader::{Reader, ScanEnd, arguments},
        waiting::{LONGEST_NAME, all_passed},
    },
};

/// Largest number of verdicts, and of severities.
const MOST_WORDS: usize = 12;

/// Largest number of builds.
const MOST_BUILDS: usize = 5;

/// Room for the number of rows that are left out, in characters.
const LEFT_OUT_CHARS: usize = 200;

/// How to get what is left out.
const HOW: &str =
    "[[`tool:list_runs` finds the runs; ]][[`tool:get_run` and `tool:list_run_bugs` show one in full]]";

/// A request for a summary.
#[derive(Clone, Debug)]
pub(crate) struct SummaryRequest {
    /// What to summarize.
    pub target: SummaryTarget,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// `previous`, `latest-passed`, the id of an execution, a run or a job, or the name or id of a build.
    pub compare_with: Option<String>,
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
        let target = match &self.target {
            SummaryTarget::Results(target) => target.clone(),
            SummaryTarget::Latest(latest) => latest.resolve(reader).await?.into(),
        };
        let mut subject = read_subject(reader, target).await?;
        let earlier = match &self.compare_with {
            Some(compare_with) => Some(find_earlier(reader, &mut subject, compare_with).await?),
            None => None,
        };
        read_details(reader, &mut subject).await;
        let history = match self.history {
            Some(count) => read_history(reader, &mut subject, count).await?,
            None => None,
        };

        Ok(Summary { project_id: reader.project(), history, ..summarize(subject, earlier) })
    }
}

impl LatestResult {
    /// Returns the id of the record, without a summary.
    ///
    /// # Errors
    /// `not_found` if the plan or the test has no result, and the failures of the list.
    pub async fn find(&self, caller: &Caller, project: Option<&str>) -> Result<ResultId, Failure> {
        self.resolve(&Reader::new(caller, project)).await
    }

    async fn resolve(&self, reader: &Reader) -> Result<ResultId, Failure> {
        let (kind, latest, owner) = match self {
            Self::OfPlan(plan) => {
                (ResultKind::Execution, latest_execution(reader, plan).await?, format!("test plan {plan}"))
            }
            Self::OfTest(test) => {
                let owner = format!("test {test}");
                let filter = arguments(&[("multiplayer_test_id", test.as_str())]);
                (ResultKind::Run, latest_run(reader, &filter, &owner).await?, owner)
            }
            Self::OfProject => {
                let owner = "project".to_owned();
                (ResultKind::Run, latest_run(reader, &Fields::new(), &owner).await?, owner)
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
async fn latest_execution(reader: &Reader, plan: &str) -> Result<Option<String>, Failure> {
    let mut queued = None;
    let filter = executions_of(plan, &[]);
    let end = reader.scan::<ListTestPlanExecutions, _>(&filter, |page| {
        let (started, others): (Vec<_>, Vec<_>) =
            page.iter().map(view::<TestPlanExecution>).partition(|execution| execution.started_at.is_some());
        queued = queued.take().or_else(|| others.into_iter().next());

        let start = |execution: &TestPlanExecution| execution.started_at.as_deref().map(sort_key);
        started.into_iter().max_by_key(|execution| (start(execution), execution.id.clone()))
    });

    let latest = match end.await? {
        ScanEnd::Found(found) => Some(found),
        ScanEnd::LastPage | ScanEnd::PageLimit => queued,
    };
    Ok(latest.map(|execution| execution.id))
}

/// Returns the id of the run that was created last among those that `filter` selects, the runs of `owner`. The order of
/// the list is not specified (service.md 2.2), so that all pages are read.
///
/// # Errors
/// The failure of a page, because the latest run may be on it.
async fn latest_run(reader: &Reader, filter: &Fields, owner: &str) -> Result<Option<String>, Failure> {
    let listed = reader.list(ListRuns::entry(), filter, LONG_LIST_PAGES).await?;

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

fn summarize(mut subject: Subject, earlier: Option<Earlier>) -> Summary {
    let mut left_out = LeftOutCounts::default();
    let comparison = earlier.map(|earlier| compare(&mut subject, earlier));
    let failures = group_failures(&mut subject, &mut left_out);

    let (finished, total) = count_tests(&subject);
    let mut verdicts = count_verdicts(&subject);
    let is_finished = subject.is_finished();
    let all_passed =
        all_passed(&verdicts, subject.is_unfinished(), Some(total).filter(|_| is_fully_read(&subject)));
    left_out.cut_words("verdicts", &mut verdicts, MOST_WORDS);

    let mut builds = subject.builds();
    let single_build = subject.single_build();
    builds.retain(|_| single_build.is_none());
    left_out.cut("builds", &mut builds, MOST_BUILDS);

    let mut bugs: Vec<_> = count_severities(&subject.tests).into_iter().collect();
    left_out.cut("severities", &mut bugs, MOST_WORDS);
    let passed_with_bugs = passed_with_bugs(&subject.tests, &mut left_out);

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
        build: single_build,
        builds,
        failures: known(&subject, failures),
        passed_after_retry: known(&subject, passed_after_retry(&subject.tests)),
        bugs: (!bugs.is_empty() || has_all_bugs(&subject)).then(|| bugs.into_iter().collect()),
        bugs_complete: Some(is_finished && has_all_bugs(&subject)),
        passed_with_bugs,
        slowest: slowest(&subject.tests),
        comparison,
        history: None,
        unread,
        left_out: (!left_out.0.is_empty()).then(|| LeftOut { counts: left_out.0, how: HOW.into() }),
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

fn is_fully_read(subject: &Subject) -> bool {
    let has_total = subject.total_tests().is_some() || !subject.tests.is_empty();
    subject.is_complete && has_total
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
    filled(&shorten_line(name, LONGEST_NAME))
}

/// Returns the duration in milliseconds: according to the record, else the time between start and end.
fn duration(subject: &Subject, started_at: Option<&str>, completed_at: Option<&str>) -> Option<u64> {
    let of_execution = subject.execution.as_ref().and_then(|execution| execution.duration_ms);
    let of_run = || match subject.target.kind()? {
        ResultKind::Run => subject.tests.first()?.duration_ms,
        ResultKind::Job | ResultKind::Execution => None,
    };

    of_execution
        .map(whole_milliseconds)
        .or_else(of_run)
        .or_else(|| milliseconds_between(started_at, completed_at))
}

impl Summary {
    /// Shortens the JSON of a summary that is longer than `max_chars` by what a reader misses least: the ids of the grid,
    /// then its rows from the end, where the tests are that did not change.
    pub(in crate::tools) fn shorten_history(summary: &mut Value, max_chars: usize) {
        // With selected fields, the history may be no whole one.
        let Some(Ok(mut history)) = summary.get("history").map(History::deserialize) else { return };
        let rest = length(summary).saturating_sub(length(&json!(history)));
        let is_too_long = |history: &History| rest + length(&json!(history)) + LEFT_OUT_CHARS > max_chars;

        if is_too_long(&history) {
            history.tests.iter_mut().for_each(|test| test.test.id = None);
            history.results.iter_mut().for_each(|result| result.id = None);
        }
        let mut rows = 0;
        while history.tests.len() > history.changing && is_too_long(&history) {
            history.tests.pop();
            rows += 1;
        }

        if let Value::Object(fields) = summary {
            fields.insert("history".to_owned(), json!(history));
            if rows > 0 {
                let left_out =
                    fields.entry("left_out").or_insert_with(|| json!({"how": "pass a smaller `history`"}));
                left_out["history.tests"] = rows.into();
            }
        }
    }
}

/// Returns the length of the compact JSON of a value, in characters.
fn length(value: &Value) -> usize {
    value.to_string().chars().count()
}
