//! The requests of a summary: the record, its tests, why they failed, and their bugs.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::{
    answer::BugEntry,
    result::TestResult,
    subject::{LONGEST_WORD, Omissions, Subject},
};
use crate::{
    call::paging::{ListRecords, MAX_CONCURRENT_REQUESTS, MAX_PAGES, deduplicate, is_list_missing},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id, Uuid,
            bugs::{ListRunBugs, RunBug, RunBugPage},
            builds::GetBuild,
            executions::GetTestPlanExecution,
            jobs::{GetJob, Job, ListJobs},
            runs::{GetRun, ListRuns, Run, RunHead},
        },
        catalog::ListedOperation,
        lenient::view,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::{filled, shorten_line},
    tools::reader::Reader,
};

/// Largest number of runs that passed, and of which the service does not say whether they have bugs, that are asked.
const MOST_UNCOUNTED: usize = 200;

/// Largest number of builds whose names are looked up.
const MOST_BUILDS: usize = 3;

/// Why the end of a long list is not read.
pub(super) const TOO_LONG: &str = "a summary reads no more pages of a list";

pub(super) fn is_absent(failure: &Failure) -> bool {
    is_list_missing(failure.code) || failure.code == Code::ProjectNotResolved
}

/// Returns whether a failure may concern only this request, so that other requests may still succeed.
pub(super) fn is_partial(failure: &Failure) -> bool {
    failure.is_transient() || is_absent(failure)
}

/// Reads all pages of the list `L` that `filter` selects. The pages that are missing become omissions of `what`.
///
/// # Errors
/// The failure of the first page.
pub(super) async fn list<L: ListedOperation>(
    reader: &Reader,
    filter: &Fields,
    omissions: &mut Omissions,
    what: &'static str,
) -> Result<ListRecords, Failure> {
    let listed = reader.list(L::entry(), filter, MAX_PAGES).await?;
    for (page, failure) in &listed.failed_pages {
        omissions.add(what, page.to_string(), failure.clone());
    }
    if listed.has_more_pages {
        omissions.add_skipped(what, format!("{MAX_PAGES} and after"), TOO_LONG);
    }

    Ok(listed)
}

fn is_whole(listed: &ListRecords) -> bool {
    listed.failed_pages.is_empty() && !listed.has_more_pages
}

/// Reads the record `target` and its tests.
///
/// # Errors
/// Failures of the operations that read, if nothing at all could be read.
pub(super) async fn read_subject(reader: &Reader, target: ResultTarget) -> Result<Subject, Failure> {
    match target {
        ResultTarget::Single(target) => read_record(reader, target).await,
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

    let read = |id: String| async move { (reader.read(&GetJob { job_id: Uuid(id.clone()) }).await, id) };
    let reads: Vec<_> = jobs.iter().cloned().map(read).collect();
    let mut subject = Subject::new(ResultTarget::Jobs(jobs));

    let mut first_failure = None;
    let mut reads = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS);
    while let Some((job, id)) = reads.next().await {
        match job {
            Ok(job) => subject.tests.push(TestResult::from_job(&job)),
            Err(failure) if is_partial(&failure) => {
                subject.is_complete = false;
                subject.omissions.add("job", id, failure.clone());
                first_failure.get_or_insert(failure);
            }
            Err(failure) => return Err(failure),
        }
    }

    match first_failure.filter(|_| subject.tests.is_empty()) {
        Some(failure) => Err(failure),
        None => Ok(subject),
    }
}

/// Reads a single record and its tests.
pub(super) async fn read_record(reader: &Reader, target: ResultId) -> Result<Subject, Failure> {
    let id = target.id.clone();
    match target.kind {
        ResultKind::Run => {
            let run = reader.read(&GetRun { run_id: Id(id) }).await?;
            let mut test = TestResult::from_run(run.head.clone());
            test.add_details(&run);
            Ok(Subject::of_test(target, test))
        }
        ResultKind::Job => {
            let job = reader.read(&GetJob { job_id: Uuid(id) }).await?;
            Ok(Subject::of_test(target, TestResult::from_job(&job)))
        }
        ResultKind::Execution => {
            let execution = reader.read(&GetTestPlanExecution { test_plan_execution_id: Id(id) }).await?;
            let subject = Subject { execution: Some(execution), ..Subject::new(target) };
            Ok(with_tests(reader, subject).await)
        }
    }
}

/// Adds the tests of an execution. If they cannot be read, they become an omission.
///
/// The tests are read after the record of the execution: when an execution is completed, all its tests are.
pub(super) async fn with_tests(reader: &Reader, mut subject: Subject) -> Subject {
    if let Err(failure) = add_tests(reader, &mut subject).await {
        subject.is_complete = false;
        subject.omissions.add("tests of the execution", subject.id().to_owned(), failure);
    }

    subject
}

/// Adds the tests of an execution: its jobs, or its runs if the service does not list jobs.
async fn add_tests(reader: &Reader, subject: &mut Subject) -> Result<(), Failure> {
    let filter = subject.target.to_arguments();
    match list::<ListJobs>(reader, &filter, &mut subject.omissions, "jobs, page").await {
        Ok(listed) => {
            subject.is_complete = is_whole(&listed);
            let jobs = deduplicate(listed.records, ResultKind::Job.id_field());
            subject.tests = jobs.iter().map(|job| TestResult::from_job(&view::<Job>(job))).collect();
            subject.add_unlisted_tests("jobs");
        }
        Err(failure) if is_list_missing(failure.code) => {
            let listed = list::<ListRuns>(reader, &filter, &mut subject.omissions, "runs, page").await?;
            subject.is_complete = is_whole(&listed);
            subject.tests = group_by_job(listed.records);
            subject.add_unlisted_tests("runs");
        }
        Err(failure) => return Err(failure),
    }

    Ok(())
}

/// Joins the runs of each job into one test. A run without a job is a test of its own.
pub(super) fn group_by_job(runs: Vec<Value>) -> Vec<TestResult> {
    let runs = deduplicate(runs, ResultKind::Run.id_field());
    let mut jobs: BTreeMap<(String, Option<usize>), Vec<RunHead>> = BTreeMap::new();
    for (index, run) in runs.iter().map(|run| view::<Run>(run).head).enumerate() {
        let number = Some(index).filter(|_| run.job_id.is_empty());
        jobs.entry((run.job_id.to_ascii_lowercase(), number)).or_default().push(run);
    }

    jobs.into_values().map(TestResult::from_attempts).collect()
}

/// Reads why the tests of `subject` failed, the bugs of all runs that may have some, and the names of its builds. What
/// cannot be read becomes an omission.
pub(super) async fn read_details(reader: &Reader, subject: &mut Subject) {
    count_bugs(reader, subject).await;

    let Subject { tests, omissions, .. } = subject;
    let mut wanted: Vec<_> = tests
        .iter_mut()
        .filter(|test| test.run_id.is_some() && (test.has_failed() || test.may_have_bugs()))
        .collect();
    // Failures come first, because the time or the number of reads may end before the others are read.
    wanted.sort_by_key(|test| (test.has_passed(), test.bug_count.is_none()));
    skip_uncounted(&mut wanted, omissions);

    reader.expect(wanted.len());
    reader.remember_runs(wanted.iter().filter_map(|test| test.run_id.as_ref()));

    let reads: Vec<_> = wanted.into_iter().map(|test| read_detail(reader, test)).collect();
    let mut reads = stream::iter(reads).buffer_unordered(MAX_CONCURRENT_REQUESTS);
    while let Some(unread) = reads.next().await {
        omissions.extend(unread);
    }
    drop(reads);

    name_builds(reader, subject).await;
}

/// Reads the builds and the numbers of bugs of the runs of an execution, because the records of its jobs do not contain
/// them. A run of which the list does not say how many bugs it has is asked itself.
async fn count_bugs(reader: &Reader, subject: &mut Subject) {
    let lacks_count =
        |test: &TestResult| test.has_passed() && test.may_have_bugs() && test.bug_count.is_none();
    if !subject.is_execution() || !subject.tests.iter().any(lacks_count) || reader.is_stopped() {
        return;
    }

    let listed = match reader.list(ListRuns::entry(), &subject.target.to_arguments(), MAX_PAGES).await {
        Ok(listed) => listed,
        Err(failure) => {
            return subject.omissions.add("number of bugs in the runs of the execution", "", failure);
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

/// Removes the runs that passed, and of which the service does not say whether they have bugs, beyond
/// [`MOST_UNCOUNTED`]. They come last.
fn skip_uncounted(wanted: &mut Vec<&mut TestResult>, omissions: &mut Omissions) {
    let counted = wanted.iter().filter(|test| test.has_failed() || test.bug_count.is_some()).count();
    let most = counted + MOST_UNCOUNTED;
    let skipped = wanted.len().saturating_sub(most);

    if skipped > 0 {
        let reason = "a summary asks no more runs that passed for bugs";
        omissions.add_skipped("bugs of runs that passed:", skipped.to_string(), reason);
        wanted.truncate(most);
    }
}

/// Reads the record of the run of a failed test, unless it is known, and the bugs of the run, unless it has none.
async fn read_detail(reader: &Reader, test: &mut TestResult) -> Omissions {
    let mut unread = Omissions::default();
    let run_id = test.run_id.clone().unwrap_or_default();

    if test.has_failed() && test.cause.is_none() {
        match reader.read(&GetRun { run_id: Id(run_id.clone()) }).await {
            Ok(run) => test.add_details(&run),
            Err(failure) => unread.add("run", run_id.as_str(), failure),
        }
        // After the time limit, the request for the bugs would fail with the same reason.
        if test.cause.is_none() && reader.is_stopped() {
            return unread;
        }
    }

    if test.may_have_bugs() {
        match reader.read(&ListRunBugs { run_id: Id(run_id.clone()) }).await {
            Ok(page) => add_bugs(test, page),
            Err(failure) => unread.add("bugs of run", run_id, failure),
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
        title: filled(&bug.title).unwrap_or_default(),
        severity: shorten_line(&severity.to_lowercase(), LONGEST_WORD),
    })
}

/// Reads the names of the first builds of which only the id is known. The name is no part of the result: without the
/// permission to read builds, it stays unknown.
async fn name_builds(reader: &Reader, subject: &mut Subject) {
    let nameless = subject.builds().into_iter().filter(|build| build.name.is_none());
    let reads = nameless.take(MOST_BUILDS).map(|build| async move {
        let read = reader.read(&GetBuild { build_id: Uuid(build.id.clone()) }).await.ok()?;
        Some((build.id, filled(&read.build.name)?))
    });
    let names: BTreeMap<_, _> = futures_util::future::join_all(reads).await.into_iter().flatten().collect();

    for test in subject.tests.iter_mut().filter(|test| test.build_name.is_none()) {
        test.build_name = test.build_id.as_ref().and_then(|id| names.get(id).cloned());
    }
}
