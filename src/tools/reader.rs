//! The requests of one call of a tool that reads records and whole lists.
//!
//! All of them go to one project, at most eight at a time. Shortly before the time limit of the call they are stopped, and
//! the tool answers with what has been read.

use std::{
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::{
    call::{
        Caller,
        paging::{self, LONG_LIST_PAGES, ListRecords, MAX_CONCURRENT_REQUESTS, MAX_PAGES, Omission, Page},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            folders::{ListTestFolders, TestFolder},
            tests::{ListTests, TestSummary},
        },
        catalog::{ListedOperation, OperationEntry},
        lenient::view,
        record_kind::{ResultId, ResultKind},
    },
    text::shorten_line,
    tools::{context::CallOptions, project_client::ProjectClient},
};

/// Largest number of folders whose tests are read.
const MAX_FOLDERS: usize = 500;

/// Time that is kept for the work after the reading.
const GRACE: Duration = Duration::from_secs(5);

/// Longest text about everything that was not read, in characters.
const LONGEST_REASON: usize = 300;

/// Time between progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How [`Reader::scan`] ended.
#[derive(Debug)]
pub(crate) enum ScanEnd<T> {
    Found(T),
    /// The list has no more pages.
    LastPage,
    /// The list may have more pages than are read.
    PageLimit,
}

/// Reads records and lists for one call of a tool.
#[derive(Debug)]
pub(crate) struct Reader {
    caller: Caller,
    requested_project: Option<String>,
    /// The project of the first answer.
    answering_project: OnceLock<String>,
    requests: Semaphore,
    stop: CancellationToken,
    answers: AtomicU64,
    /// Number of all requests, as far as it is known.
    expected: AtomicU64,
}

impl Reader {
    pub(crate) fn new(caller: &Caller, requested_project: Option<&str>) -> Self {
        Self {
            caller: caller.clone(),
            requested_project: requested_project.map(str::to_owned),
            answering_project: OnceLock::new(),
            requests: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            stop: CancellationToken::new(),
            answers: AtomicU64::new(0),
            expected: AtomicU64::new(0),
        }
    }

    /// Runs `work`, which sends its requests through this reader, and reports its progress. Progress does not extend the
    /// time limit of the caller: hosts give up after a minute.
    pub(crate) async fn run<T>(&self, options: &CallOptions, work: impl Future<Output = T>) -> T {
        let clock = self.caller.clock();
        let mut left = options.wait_limit.map(|limit| limit.saturating_sub(GRACE));
        let mut work = pin!(work);

        loop {
            let tick = left.map_or(PROGRESS_INTERVAL, |left| left.min(PROGRESS_INTERVAL));
            tokio::select! {
                biased;
                output = &mut work => return output,
                () = clock.timeout(tick) => {}
            }

            left = left.map(|left| left.saturating_sub(tick));
            if left.is_some_and(|left| left.is_zero()) {
                self.stop.cancel();
                // Every request of a stopped reader fails at once, so that `work` ends soon.
                return work.await;
            }

            let (answers, expected) = (self.answers.load(Relaxed), self.expected.load(Relaxed));
            options.progress.report(answers, expected.max(answers), &format!("{answers} answers read"));
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Announces requests, so that the progress shows their number.
    pub(crate) fn expect(&self, requests: usize) {
        self.expected.fetch_max(self.answers.load(Relaxed) + requests as u64, Relaxed);
    }

    /// Returns the project that has answered, if the requests name it.
    pub(crate) fn project(&self) -> Option<String> {
        self.answering_project.get().cloned()
    }

    /// Remembers that the project that has answered owns these runs, so that their owner is not looked up.
    pub(crate) fn remember_runs<'a>(&self, ids: impl Iterator<Item = &'a String>) {
        if let Some(project) = self.answering_project.get() {
            let runs: Vec<_> = ids.map(|id| ResultId::new(ResultKind::Run, id.as_str())).collect();
            self.caller.remember_owner(project, runs);
        }
    }

    /// Calls an operation and returns the view of its answer.
    pub(crate) async fn read<O: ListedOperation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        self.read_value(operation).await.map(|answer| view(&answer))
    }

    /// Calls an operation and returns its answer.
    pub(crate) async fn read_value<O: ListedOperation>(&self, operation: &O) -> Result<Value, Failure> {
        let client = self.client();
        self.receive(client.call(operation)).await
    }

    /// Reads the record of a run, a job or an execution.
    pub(crate) async fn read_result(&self, id: &ResultId) -> Result<Value, Failure> {
        let client = self.client();
        self.receive(client.read_result(id)).await
    }

    /// Reads the pages of a list that `filter` selects, at most `max_pages`.
    pub(crate) async fn list(
        &self,
        list: &'static OperationEntry,
        filter: &Fields,
        max_pages: u64,
    ) -> Result<ListRecords, Failure> {
        let read = |number| async move {
            let page = self.page(list, filter, number).await?;
            if number == 0 {
                let others = page.total_pages.unwrap_or_default().min(max_pages).saturating_sub(1);
                self.expected.fetch_max(self.answers.load(Relaxed) + others, Relaxed);
            }
            Ok(page)
        };

        paging::read_all(max_pages, read).await
    }

    /// Reads the pages of the list `L` one after the other, until `examine` has found what it needs in one.
    pub(crate) async fn scan<L: ListedOperation, T>(
        &self,
        filter: &Fields,
        mut examine: impl FnMut(Vec<Value>) -> Option<T>,
    ) -> Result<ScanEnd<T>, Failure> {
        for number in 0..MAX_PAGES {
            let page = self.page(L::entry(), filter, number).await?;
            let is_last = page.is_last(number);
            if let Some(found) = examine(page.records) {
                return Ok(ScanEnd::Found(found));
            }
            if is_last {
                return Ok(ScanEnd::LastPage);
            }
        }

        Ok(ScanEnd::PageLimit)
    }

    async fn page(
        &self,
        list: &'static OperationEntry,
        filter: &Fields,
        number: u64,
    ) -> Result<Page, Failure> {
        let client = self.client();
        Page::parse(list.name, self.receive(client.list_page_of(list, filter, number)).await?)
    }

    fn client(&self) -> ProjectClient {
        let project = self.answering_project.get().or(self.requested_project.as_ref());
        ProjectClient { caller: self.caller.clone(), project: project.cloned() }
    }

    /// Sends a request when there is room for it, and remembers the project that answered.
    async fn receive(&self, request: impl Future<Output = Result<Reply, Failure>>) -> Result<Value, Failure> {
        let request = async {
            // The semaphore is never closed.
            let _permit = self.requests.acquire().await;
            request.await
        };
        let reply = tokio::select! {
            // After the stop no further answer is used, even if it is ready.
            biased;
            () = self.stop.cancelled() => Err(Failure::new(Code::Timeout, "the time limit of the call has passed")),
            reply = request => reply,
        }?;

        self.answers.fetch_add(1, Relaxed);
        if let Some(project) = reply.project() {
            self.answering_project.get_or_init(|| project.to_owned());
        }

        Ok(reply.into_value())
    }

    /// Reads the tests of every folder, for a service whose list of tests shows only those of the root (service.md
    /// 6.1). `folders` are the folders if they have been read.
    pub(crate) async fn tests_in_folders(&self, folders: Option<Vec<Value>>) -> (Vec<Value>, Unread) {
        let (mut tests, mut unread) = (Vec::new(), Unread::default());
        let folders = if let Some(folders) = folders {
            folders
        } else {
            let list = self.list(ListTestFolders::entry(), &Fields::new(), LONG_LIST_PAGES).await;
            unread.list("tests in folders", list, LONG_LIST_PAGES).unwrap_or_default()
        };

        let mut ids: Vec<_> = folders.iter().map(|folder| view::<TestFolder>(folder).id).collect();
        ids.retain(|id| !id.is_empty());
        if ids.len() > MAX_FOLDERS {
            let what = format!("tests in {} of {} folders", ids.len() - MAX_FOLDERS, ids.len());
            unread.omit(what, "there are too many folders");
            unread.is_cut = true;
            ids.truncate(MAX_FOLDERS);
        }

        let reads = ids.into_iter().map(|id| async move {
            let filter = Fields::from_iter([("folder_id".to_owned(), json!(id))]);
            (self.list(ListTests::entry(), &filter, LONG_LIST_PAGES).await, id)
        });
        let reads: Vec<_> = reads.collect();
        let mut lists = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS);
        while let Some((list, id)) = lists.next().await {
            let what = format!("tests in the folder {id}");
            tests.extend(unread.list(&what, list, LONG_LIST_PAGES).unwrap_or_default());
        }

        (tests, unread)
    }
}

/// What a tool could not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unread {
    pub(crate) omissions: Vec<Omission>,
    /// Whether an equal call may read more. What the key may not read stays unread.
    pub(crate) may_be_read_later: bool,
    /// Whether a list is too long to be read whole.
    pub(crate) is_cut: bool,
}

impl Unread {
    /// Adds what a request did not read. A missing permission is said once for everything that it keeps unread.
    pub(crate) fn add(&mut self, what: &str, failure: &Failure) {
        let refusals = [Code::Unauthenticated, Code::PermissionDenied, Code::FeatureDisabled];
        self.may_be_read_later |= !refusals.contains(&failure.code);

        let Some(permission) = &failure.facts.missing_permission else {
            return self.omit(what.to_owned(), &failure.message);
        };
        let why = format!("the key lacks the permission `{permission}`");
        match self.omissions.iter_mut().find(|one| one.why == why) {
            Some(same) => same.what.extend([", ", what]),
            None => self.omit(what.to_owned(), &why),
        }
    }

    /// Adds what was left unread on purpose.
    pub(crate) fn omit(&mut self, what: String, why: &str) {
        self.omissions.push(Omission { what, why: why.to_owned() });
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.omissions.extend(other.omissions);
        self.may_be_read_later |= other.may_be_read_later;
        self.is_cut |= other.is_cut;
    }

    /// Returns the records of a list of which at most `max_pages` were read; `None` if its first page could not be read.
    pub(crate) fn list(
        &mut self,
        what: &str,
        list: Result<ListRecords, Failure>,
        max_pages: u64,
    ) -> Option<Vec<Value>> {
        let list = list.map_err(|failure| self.add(what, &failure)).ok()?;
        Some(self.pages(what, list, max_pages))
    }

    /// Returns the records of a list whose first page was read.
    pub(crate) fn pages(&mut self, what: &str, list: ListRecords, max_pages: u64) -> Vec<Value> {
        for (page, failure) in &list.failed_pages {
            self.add(&format!("{what}, page {page}"), failure);
        }
        if list.has_more_pages {
            let what = format!("{what}, page {max_pages} and after");
            self.omit(what, "the list is too long to be read completely");
            self.is_cut = true;
        }

        list.records
    }

    /// Returns the beginning of all of it in one line.
    pub(crate) fn reason(&self) -> Option<String> {
        let reasons: Vec<_> = self.omissions.iter().map(|one| format!("{}: {}", one.what, one.why)).collect();
        (!reasons.is_empty()).then(|| shorten_line(&reasons.join("; "), LONGEST_REASON))
    }
}

/// Returns arguments with these names and values.
pub(crate) fn arguments<'a>(pairs: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> Fields {
    pairs.into_iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

pub(crate) fn shows_folders(tests: &[Value]) -> bool {
    let path = |test: &Value| view::<TestSummary>(test).folder_path;
    tests.iter().filter_map(path).any(|path| path != "/")
}
