//! The requests of a summary: the record, its tests, and why they failed. All of them go to one project.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

use super::{
    answer::BugEntry,
    cause::not_blank,
    subject::{LONGEST_WORD, Omissions, Subject, TestResult},
};
use crate::{
    call::{
        Caller,
        paging::{
            self, ListRecords, MAX_CONCURRENT_REQUESTS, MAX_PAGES, Page, ScanEnd, deduplicate,
            is_list_missing,
        },
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            Id, Uuid,
            bugs::{ListRunBugs, RunBug, RunBugPage},
            executions::{GetTestPlanExecution, ListTestPlanExecutions, TestPlanExecution},
            jobs::{GetJob, ListJobs},
            runs::{GetRun, ListRuns, Run, RunHead},
        },
        catalog::ListedOperation,
        lenient::view,
        result_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::shorten_line,
    tools::{
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader},
    },
};

/// Largest number of runs that passed, and of which the service does not say whether they have bugs, that are asked.
const MOST_UNCOUNTED: usize = 200;

/// Why the end of a long list is not read.
pub(super) const TOO_LONG: &str = "a summary reads no more pages of a list";

/// Sends the requests of one summary.
#[derive(Debug)]
pub(super) struct SummaryReader {
    caller: Caller,
    requested_project: Option<String>,
    /// The project of the first answer.
    answering_project: OnceLock<String>,
    stop: StopSignal,
    /// Number of answers so far.
    answers: AtomicUsize,
    /// Number of tests whose details are read, once it is known.
    details: OnceLock<usize>,
    /// Number of tests whose details have been read.
    read_details: AtomicUsize,
}

impl SummaryReader {
    /// Creates a reader for the requested project, if there is one.
    pub(super) fn new(caller: &Caller, requested_project: Option<&str>) -> Self {
        Self {
            caller: caller.clone(),
            requested_project: requested_project.map(str::to_owned),
            answering_project: OnceLock::new(),
            stop: StopSignal::default(),
            answers: AtomicUsize::new(0),
            details: OnceLock::new(),
            read_details: AtomicUsize::new(0),
        }
    }

    /// Calls an operation and returns the view of its answer.
    pub(super) async fn read<O: ListedOperation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        let client = self.client();
        self.receive(client.call(operation)).await.map(|answer| view(&answer))
    }

    /// Reads all pages of the list `L` that `filter` selects.
    pub(super) async fn list_all<L: ListedOperation>(&self, filter: &Fields) -> Result<ListRecords, Failure> {
        self.list_up_to::<L>(filter, MAX_PAGES).await
    }

    /// Reads at most `max_pages` pages of the list `L` that `filter` selects.
    pub(super) async fn list_up_to<L: ListedOperation>(
        &self,
        filter: &Fields,
        max_pages: u64,
    ) -> Result<ListRecords, Failure> {
        paging::read_all(max_pages, |page| self.list_page::<L>(filter, page)).await
    }

    /// Reads the executions of a plan, those that were started last first, until `examine` has found what it needs.
    pub(super) async fn scan_executions<T>(
        &self,
        plan: &str,
        filter: &[(&str, &str)],
        mut examine: impl FnMut(Vec<TestPlanExecution>) -> ControlFlow<T>,
    ) -> Result<ScanEnd<T>, Failure> {
        let order = [("test_plan_id", plan), ("sort_by", "start_time"), ("sort_order", "desc")];
        let filter = arguments(order.iter().chain(filter));
        let read = |number| self.list_page::<ListTestPlanExecutions>(&filter, number);

        let scan = paging::scan(MAX_PAGES, read, |number, page| {
            let is_last = page.is_last(number);
            let examined = examine(page.records.iter().map(view).collect());

            Ok(match examined {
                ControlFlow::Break(found) => ControlFlow::Break(found),
                ControlFlow::Continue(()) => ControlFlow::Continue(is_last),
            })
        });
        scan.await
    }

    /// Returns the project that has answered, if the requests name it.
    pub(super) fn project(&self) -> Option<String> {
        self.answering_project.get().cloned()
    }

    /// Remembers that the project that has answered owns these runs, so that their owner is not looked up.
    pub(super) fn remember_runs<'a>(&self, ids: impl Iterator<Item = &'a String>) {
        if let Some(project) = self.answering_project.get() {
            let runs: Vec<_> = ids.map(|id| ResultId::new(ResultKind::Run, id.as_str())).collect();
            self.caller.remember_owner(project, runs);
        }
    }

    async fn list_page<L: ListedOperation>(&self, filter: &Fields, number: u64) -> Result<Page, Failure> {
        let client = self.client();
        Page::parse(L::NAME, self.receive(client.list_page::<L>(filter, number)).await?)
    }

    fn client(&self) -> ProjectClient {
        let project = self.answering_project.get().or(self.requested_project.as_ref());
        ProjectClient { caller: self.caller.clone(), project: project.cloned() }
    }

    /// Waits for the reply of a request, and remembers the project that answered.
    async fn receive(&self, reply: impl Future<Output = Result<Reply, Failure>>) -> Result<Value, Failure> {
        let reply = self.stop.until_stopped(reply).await?;

        self.answers.fetch_add(1, Ordering::Relaxed);
        if let Some(project) = reply.project() {
            self.answering_project.get_or_init(|| project.to_owned());
        }

        Ok(reply.into_value())
    }
}

impl StoppableReader for SummaryReader {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let answers = self.answers.load(Ordering::Relaxed);
        let read = self.read_details.load(Ordering::Relaxed);
        let (total, message) = match self.details.get() {
            Some(all) => (answers + all.saturating_sub(read), format!("{read} of {all} runs read")),
            None => (answers, format!("{answers} answers read")),
        };
        (answers as u64, total as u64, message)
    }
}

/// Returns arguments with these names and values.
pub(super) fn arguments<'a>(pairs: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> Fields {
    pairs.into_iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

/// Returns whether a failure means that the service does not have the record or the list.
pub(super) fn is_absent(failure: &Failure) -> bool {
    is_list_missing(failure.code) || failure.code == Code::ProjectNotResolved
}

/// Returns whether a failure may concern only this request, so that other requests may still succeed.
pub(super) fn is_partial(failure: &Failure) -> bool {
    failure.is_transient() || is_absent(failure)
}

/// Reads the record `target` and its tests. If the record of an execution cannot be read, its tests are enough.
///
/// # Errors
/// Failures of the operations that read, if nothing at all could be read.
pub(super) async fn read_subject(reader: &SummaryReader, target: ResultTarget) -> Result<Subject, Failure> {
    let target = match target {
        ResultTarget::Single(target) => target,
        ResultTarget::Jobs(jobs) => return read_jobs(reader, jobs).await,
    };
    let failure = match read_record(reader, target.clone()).await {
        Err(failure) if target.kind == ResultKind::Execution && is_partial(&failure) => failure,
        read => return read,
    };

    let mut subject = Subject::without_tests(target, None);
    if add_tests(reader, &mut subject).await.is_err() || subject.tests.is_empty() {
        return Err(failure);
    }
    subject.omissions.add("execution", subject.id().to_owned(), failure);

    Ok(subject)
}

/// Reads several jobs. One that cannot be read becomes an omission.
///
/// # Errors
/// The first failure that concerns the whole summary, or the first of all if no job could be read.
async fn read_jobs(reader: &SummaryReader, mut jobs: Vec<String>) -> Result<Subject, Failure> {
    let mut known = BTreeSet::new();
    jobs.retain(|id| known.insert(id.to_ascii_lowercase()));

    let read = |id: String| async move { (reader.read(&GetJob { job_id: Uuid(id.clone()) }).await, id) };
    let reads: Vec<_> = jobs.iter().cloned().map(read).collect();
    let mut subject = Subject::without_tests(ResultTarget::Jobs(jobs), None);

    let mut first_failure = None;
    let mut reads = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS);
    while let Some((job, id)) = reads.next().await {
        match job {
            Ok(job) => subject.tests.push(TestResult::from_job(job)),
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

/// Reads the record `target` and its tests.
pub(super) async fn read_record(reader: &SummaryReader, target: ResultId) -> Result<Subject, Failure> {
    let id = target.id.clone();
    match target.kind {
        ResultKind::Run => {
            let run = reader.read(&GetRun { run_id: Id(id) }).await?;

            let mut test = TestResult::from_run(run.head.clone());
            test.add_details(&run);
            Ok(Subject::single_test(target, test))
        }
        ResultKind::Job => {
            let job = reader.read(&GetJob { job_id: Uuid(id) }).await?;
            Ok(Subject::single_test(target, TestResult::from_job(job)))
        }
        ResultKind::Execution => {
            let execution = reader.read(&GetTestPlanExecution { test_plan_execution_id: Id(id) }).await?;
            Ok(with_tests(reader, Subject::without_tests(target, Some(execution))).await)
        }
    }
}

/// Adds the tests of an execution. If they cannot be read, they become an omission.
///
/// The tests are read after the record of the execution: when an execution is completed, all its tests are.
pub(super) async fn with_tests(reader: &SummaryReader, mut subject: Subject) -> Subject {
    if let Err(failure) = add_tests(reader, &mut subject).await {
        subject.is_complete = false;
        subject.omissions.add("tests of the execution", subject.id().to_owned(), failure);
    }

    subject
}

/// Adds the tests of an execution: its jobs, or its runs if the service does not list jobs.
async fn add_tests(reader: &SummaryReader, subject: &mut Subject) -> Result<(), Failure> {
    let filter = subject.target.to_arguments();
    match reader.list_all::<ListJobs>(&filter).await {
        Ok(listed) => {
            subject.is_complete = add_missing_pages(&mut subject.omissions, &listed, "jobs, page");
            let jobs = deduplicate(listed.records, ResultKind::Job.id_field());
            subject.tests = jobs.iter().map(view).map(TestResult::from_job).collect();
            subject.add_unlisted_tests("jobs");
        }
        Err(failure) if is_list_missing(failure.code) => {
            let listed = reader.list_all::<ListRuns>(&filter).await?;
            subject.is_complete = add_missing_pages(&mut subject.omissions, &listed, "runs, page");
            let runs = deduplicate(listed.records, ResultKind::Run.id_field());
            subject.tests = group_by_job(runs.iter().map(|run| view::<Run>(run).head));
            subject.add_unlisted_tests("runs");
        }
        Err(failure) => return Err(failure),
    }

    Ok(())
}

/// Adds an omission for each page of a list that was not read. Returns whether the whole list was read.
pub(super) fn add_missing_pages(omissions: &mut Omissions, listed: &ListRecords, what: &'static str) -> bool {
    for (page, failure) in &listed.failed_pages {
        omissions.add(what, page.to_string(), failure.clone());
    }

    if listed.has_more_pages {
        omissions.add_skipped(what, format!("{MAX_PAGES} and after"), TOO_LONG);
    }

    listed.failed_pages.is_empty() && !listed.has_more_pages
}

/// Joins the runs of each job into one test. A run without a job is a test of its own.
pub(super) fn group_by_job(runs: impl Iterator<Item = RunHead>) -> Vec<TestResult> {
    let mut jobs: BTreeMap<(String, Option<usize>), Vec<RunHead>> = BTreeMap::new();
    for (index, run) in runs.enumerate() {
        let number = Some(index).filter(|_| run.job_id.is_empty());
        jobs.entry((run.job_id.to_ascii_lowercase(), number)).or_default().push(run);
    }

    jobs.into_values().map(TestResult::from_attempts).collect()
}

/// Reads why the tests of `subject` failed, and the bugs of all runs that may have some. What cannot be read becomes an
/// omission.
pub(super) async fn read_details(reader: &SummaryReader, subject: &mut Subject) {
    count_bugs(reader, subject).await;

    let Subject { tests, omissions, .. } = subject;
    let mut wanted: Vec<_> = tests
        .iter_mut()
        .filter(|test| test.run_id.is_some() && (test.has_failed() || test.may_have_bugs()))
        .collect();
    // Failures come first, because the time or the number of reads may end before the others are read.
    wanted.sort_by_key(|test| (test.has_passed(), test.bug_count.is_none()));
    skip_uncounted(&mut wanted, omissions);

    reader.details.get_or_init(|| wanted.len());
    reader.remember_runs(wanted.iter().filter_map(|test| test.run_id.as_ref()));

    let reads: Vec<_> = wanted.into_iter().map(|test| read_detail(reader, test)).collect();
    let mut reads = stream::iter(reads).buffer_unordered(MAX_CONCURRENT_REQUESTS);
    while let Some(unread) = reads.next().await {
        omissions.extend(unread);
        reader.read_details.fetch_add(1, Ordering::Relaxed);
    }
}

/// Reads how many bugs the runs of an execution have, because the records of its jobs do not say so. A run of which the
/// list does not say it is asked itself.
async fn count_bugs(reader: &SummaryReader, subject: &mut Subject) {
    let lacks_count =
        |test: &TestResult| test.has_passed() && test.may_have_bugs() && test.bug_count.is_none();
    if !subject.is_execution() || !subject.tests.iter().any(lacks_count) || reader.stop.is_stopped() {
        return;
    }

    let listed = match reader.list_all::<ListRuns>(&subject.target.to_arguments()).await {
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
async fn read_detail(reader: &SummaryReader, test: &mut TestResult) -> Omissions {
    let mut unread = Omissions::default();
    let run_id = test.run_id.clone().unwrap_or_default();

    if test.has_failed() && test.cause.is_none() {
        match reader.read(&GetRun { run_id: Id(run_id.clone()) }).await {
            Ok(run) => test.add_details(&run),
            Err(failure) => unread.add("run", run_id.as_str(), failure),
        }
        // After the time limit, the request for the bugs would fail with the same reason.
        if test.cause.is_none() && reader.stop.is_stopped() {
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

/// Adds the bugs of a page to the test, and how many the service counts and does not return.
fn add_bugs(test: &mut TestResult, answer: RunBugPage) {
    let total = answer.page.pagination.total_count.and_then(|total| usize::try_from(total).ok());
    let bugs = bugs_of_page(answer);

    test.unlisted_bugs = total.unwrap_or_default().saturating_sub(bugs.len());
    test.bugs = Some(bugs.iter().filter_map(bug_entry).collect());
}

/// Returns the bugs of a page. Older services use another name for the list (service.md 1.7).
fn bugs_of_page(answer: RunBugPage) -> Vec<RunBug> {
    if !answer.page.data.is_empty() {
        return answer.page.data;
    }
    let bugs = answer.bug_occurrences.into_iter().flatten();
    bugs.map(|bug| view(&bug)).collect()
}

/// Returns a bug of a run, or `None` if it has neither a title nor an id.
fn bug_entry(bug: &RunBug) -> Option<BugEntry> {
    if bug.title.is_empty() && bug.bug_id.is_empty() {
        return None;
    }
    let severity = not_blank(Some(&bug.severity)).unwrap_or_else(|| "unknown".to_owned());

    Some(BugEntry {
        id: not_blank(Some(&bug.bug_id)).or_else(|| not_blank(Some(&bug.id))),
        title: not_blank(Some(&bug.title)).unwrap_or_default(),
        severity: shorten_line(&severity.to_lowercase(), LONGEST_WORD),
    })
}
