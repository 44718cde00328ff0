//! The requests of a summary: the record, its tests, the results before it, why tests failed, and their bugs.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use futures_util::future::join_all;
use serde_json::Value;

use super::{
    answer::BugEntry,
    result::{LONGEST_WORD, Subject, TestResult},
};
use crate::{
    call::paging::{MAX_PAGES, deduplicate, is_list_missing},
    failure::{Code, Failure},
    service::{
        api::{
            Id, Uuid,
            bugs::{ListRunBugs, RunBug, RunBugPage},
            builds::GetBuild,
            jobs::TestPlanExecution,
            jobs::{GetJob, Job, ListJobs},
            runs::{GetRun, ListRuns, Run, RunDetail, RunHead},
        },
        catalog::ListedOperation,
        lenient::view,
        record_kind::{ResultKind, ResultTarget},
    },
    text::{filled, shorten_line},
    tools::{
        newest::newest_executions,
        reader::{FoundResult, Reader, arguments},
        unread::Unread,
        waiting::LONGEST_NAME,
    },
};

/// Largest number of builds whose names are looked up.
const MOST_BUILDS: usize = 3;

/// Longest title of a bug, in characters.
const LONGEST_TITLE: usize = 120;

/// What is missing if the tests of an execution are not all read.
pub(super) const TESTS: &str = "tests of the execution";

pub(super) fn is_absent(failure: &Failure) -> bool {
    is_list_missing(failure.code) || failure.code == Code::ProjectNotResolved
}

/// Returns whether a failure may concern only this request, so that other requests may still succeed.
pub(super) fn is_partial(failure: &Failure) -> bool {
    failure.is_transient() || is_absent(failure)
}

/// Reads the record `target` and its tests.
///
/// # Errors
/// Failures of the operations that read, if nothing at all could be read.
pub(super) async fn read_subject(reader: &Reader, target: ResultTarget) -> Result<Subject, Failure> {
    match target {
        ResultTarget::Single(target) => {
            let found = reader.read_result(target).await?;
            Ok(subject_of(reader, found).await)
        }
        ResultTarget::Jobs(jobs) => read_jobs(reader, jobs).await,
    }
}

/// Reads several jobs. One that cannot be read becomes an omission.
///
/// # Errors
/// The first failure that concerns the whole summary, or the first of all if no job could be read.
async fn read_jobs(reader: &Reader, mut jobs: Vec<String>) -> Result<Subject, Failure> {
    let mut known = BTreeSet::new();
    jobs.retain(|id| known.insert(id.to_ascii_lowercase()));

    let read = async |id: &String| reader.read(&GetJob { job_id: Uuid(id.clone()) }).await;
    let read = join_all(jobs.iter().map(read)).await;
    let mut subject = Subject::new(ResultTarget::Jobs(jobs.clone()));

    let mut first_failure = None;
    for (id, job) in jobs.into_iter().zip(read) {
        match job {
            Ok(job) => subject.tests.push(TestResult::from_job(&job)),
            Err(failure) if is_partial(&failure) => {
                subject.is_complete = false;
                subject.unread.add("job", id, &failure);
                first_failure.get_or_insert(failure);
            }
            Err(failure) => return Err(failure),
        }
    }

    first_failure.filter(|_| subject.tests.is_empty()).map_or(Ok(subject), Err)
}

/// Returns the subject of a record, and reads its tests.
pub(super) async fn subject_of(reader: &Reader, found: FoundResult) -> Subject {
    let kind = found.id.kind;
    let mut subject = Subject::new(found.id);
    match kind {
        ResultKind::Run => {
            let run: RunDetail = view(&found.record);
            let mut test = TestResult::from_run(run.head.clone());
            test.add_details(&run);
            subject.tests.push(test);
        }
        ResultKind::Job => subject.tests.push(TestResult::from_job(&view(&found.record))),
        ResultKind::Execution => {
            subject.execution = view(&found.record);
            subject = with_tests(reader, subject).await;
        }
    }

    subject
}

/// Adds the tests of an execution: its jobs, or its runs if the service does not list jobs. If they cannot be read, they
/// become an omission.
///
/// The tests are read after the record of the execution: when an execution is completed, all its tests are.
pub(super) async fn with_tests(reader: &Reader, mut subject: Subject) -> Subject {
    let filter = subject.target.to_arguments();
    let mut listed = reader.list(ListJobs::entry(), &filter, MAX_PAGES).await;
    let has_jobs = !listed.as_ref().is_err_and(|failure| is_list_missing(failure.code));
    if !has_jobs {
        listed = reader.list(ListRuns::entry(), &filter, MAX_PAGES).await;
    }

    match listed {
        Ok(listed) => {
            subject.is_complete = listed.failed_pages.is_empty() && !listed.has_more_pages;
            let noun = if has_jobs { "jobs" } else { "runs" };
            let records = subject.unread.pages(noun, listed, MAX_PAGES);
            subject.tests = if has_jobs { tests_of_jobs(records) } else { group_by_job(records) };
            subject.add_unlisted_tests(noun);
        }
        Err(failure) => {
            subject.is_complete = false;
            let execution = subject.id().to_owned();
            subject.unread.add(TESTS, execution, &failure);
        }
    }

    subject
}

fn tests_of_jobs(jobs: Vec<Value>) -> Vec<TestResult> {
    let jobs = deduplicate(jobs, ResultKind::Job.id_field());
    jobs.iter().map(|job| TestResult::from_job(&view::<Job>(job))).collect()
}

/// Joins the runs of each job into one test. A run without a job is a test of its own.
fn group_by_job(runs: Vec<Value>) -> Vec<TestResult> {
    let runs = deduplicate(runs, ResultKind::Run.id_field());
    let mut jobs: BTreeMap<String, Vec<RunHead>> = BTreeMap::new();
    for run in runs.iter().map(|run| view::<Run>(run).head) {
        let key = filled(&run.job_id).unwrap_or_else(|| run.multiplayer_run_id.clone());
        jobs.entry(key.to_ascii_lowercase()).or_default().push(run);
    }

    jobs.into_values().map(TestResult::from_attempts).collect()
}

/// Reads the results of the same plan or test as `subject`, the newest first: executions until `is_enough`, without their
/// tests; runs all, because their order is not specified (service.md 2.2), those of one job as one result of this kind.
pub(super) async fn read_results(
    reader: &Reader,
    subject: &Subject,
    unread: &mut Unread,
    kind: ResultKind,
    is_enough: impl Fn(&[Subject]) -> bool,
) -> Result<Vec<Subject>, Failure> {
    let mut results = if let Some(plan) = subject.plan_id() {
        let subjects = |executions: &[TestPlanExecution]| -> Vec<_> {
            executions.iter().cloned().map(Subject::of_execution).collect()
        };
        let newest = newest_executions(reader, plan, |found| is_enough(&subjects(found))).await?;
        if newest.has_more {
            let further = format!("executions of the plan, page {MAX_PAGES} and after");
            unread.cut(&further, "a summary reads no more pages of a list");
        }
        subjects(&newest.executions)
    } else {
        let filter = arguments(&[("multiplayer_test_id", subject.test_id().unwrap_or_default())]);
        let listed = reader.list(ListRuns::entry(), &filter, MAX_PAGES).await?;
        let runs = unread.pages("runs of the test", listed, MAX_PAGES);
        group_by_job(runs).into_iter().map(|test| Subject::of_test(kind, test)).collect()
    };

    // The ids decide between equal times, so that equal requests have equal answers.
    results.sort_by_cached_key(|result| Reverse((result.age(), result.id().to_owned())));
    Ok(results)
}

/// Reads why the tests of `subject` failed, the bugs of all runs that may have some, and the names of its builds. What
/// cannot be read becomes an omission.
pub(super) async fn read_details(reader: &Reader, subject: &mut Subject) {
    count_bugs(reader, subject).await;

    let Subject { tests, unread, .. } = subject;
    let mut wanted: Vec<_> = tests
        .iter_mut()
        .filter(|test| test.run_id.is_some() && (test.has_failed() || test.may_have_bugs()))
        .collect();
    // Failures come first, because the time may end before the others are read.
    wanted.sort_by_key(|test| (test.has_passed(), test.bug_count.is_none()));
    reader.expect(wanted.len());
    reader.remember_runs(wanted.iter().filter_map(|test| test.run_id.as_ref()));

    for not_read in join_all(wanted.into_iter().map(|test| read_detail(reader, test))).await {
        unread.extend(not_read);
    }

    name_builds(reader, subject).await;
}

/// Reads the numbers of bugs of the runs of an execution, because the records of its jobs do not contain them. A run of
/// which the list does not say how many bugs it has is asked itself.
async fn count_bugs(reader: &Reader, subject: &mut Subject) {
    let lacks_count =
        |test: &TestResult| test.has_passed() && test.may_have_bugs() && test.bug_count.is_none();
    if !subject.is_execution() || !subject.tests.iter().any(lacks_count) || reader.is_stopped() {
        return;
    }

    let listed = match reader.list(ListRuns::entry(), &subject.target.to_arguments(), MAX_PAGES).await {
        Ok(listed) => listed,
        Err(failure) => {
            return subject.unread.add("number of bugs in the runs of the execution", "", &failure);
        }
    };
    let runs = listed.records.iter().map(|run| view::<Run>(run).head);
    let counts: BTreeMap<_, _> = runs
        .filter_map(|run| Some((run.multiplayer_run_id.to_ascii_lowercase(), run.bug_info?.bug_count?)))
        .collect();

    for test in subject.tests.iter_mut().filter(|test| lacks_count(test)) {
        let run = test.run_id.as_ref().map(|run| run.to_ascii_lowercase());
        test.bug_count = run.and_then(|run| counts.get(&run).copied());
    }
}

/// Reads the record of the run of a failed test, unless it is known, and the bugs of the run, unless it has none.
async fn read_detail(reader: &Reader, test: &mut TestResult) -> Unread {
    let mut unread = Unread::default();
    let run_id = test.run_id.clone().unwrap_or_default();

    if test.has_failed() && test.cause.is_none() {
        match reader.read(&GetRun { run_id: Id(run_id.clone()) }).await {
            Ok(run) => test.add_details(&run),
            Err(failure) => unread.add("run", &run_id, &failure),
        }
        // After the time limit, the request for the bugs would fail with the same reason.
        if test.cause.is_none() && reader.is_stopped() {
            return unread;
        }
    }

    if test.may_have_bugs() {
        match reader.read(&ListRunBugs { run_id: Id(run_id.clone()) }).await {
            Ok(page) => add_bugs(test, page),
            Err(failure) => unread.add("bugs of run", run_id, &failure),
        }
    }

    unread
}

/// Adds the bugs of a page to the test, and how many the service counts and does not return. Older services use another
/// name for the list (service.md 1.7).
fn add_bugs(test: &mut TestResult, answer: RunBugPage) {
    let total = answer.page.pagination.total_count.and_then(|total| usize::try_from(total).ok());
    let mut bugs = answer.page.data;
    if bugs.is_empty() {
        let older = answer.bug_occurrences.into_iter().flatten();
        bugs = older.map(|bug| view(&bug)).collect();
    }

    test.unlisted_bugs = total.unwrap_or_default().saturating_sub(bugs.len());
    test.bugs = Some(bugs.iter().filter_map(bug_entry).collect());
}

/// Returns a bug of a run, or `None` if it has neither a title nor an id.
fn bug_entry(bug: &RunBug) -> Option<BugEntry> {
    if bug.title.is_empty() && bug.bug_id.is_empty() {
        return None;
    }
    let severity = filled(&bug.severity).unwrap_or_else(|| "unknown".to_owned());

    Some(BugEntry {
        id: filled(&bug.bug_id).or_else(|| filled(&bug.id)),
        title: shorten_line(&bug.title, LONGEST_TITLE),
        severity: shorten_line(&severity.to_lowercase(), LONGEST_WORD),
    })
}

/// Reads the names of the first builds of which only the id is known. The name is no part of the result: without the
/// permission to read builds, it stays unknown.
async fn name_builds(reader: &Reader, subject: &mut Subject) {
    let nameless = subject.builds().into_iter().filter(|build| build.name.is_none());
    let reads = nameless.take(MOST_BUILDS).map(|build| async move {
        let read = reader.read(&GetBuild { build_id: Uuid(build.id.clone()) }).await.ok()?;
        Some((build.id, shorten_line(&filled(&read.build.name)?, LONGEST_NAME)))
    });
    let names: BTreeMap<_, _> = join_all(reads).await.into_iter().flatten().collect();

    for build in subject.tests.iter_mut().filter_map(|test| test.build.as_mut()) {
        build.name = build.name.take().or_else(|| names.get(&build.id).cloned());
    }
}
