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
        paging::{self, LONG_LIST_PAGES, ListRecords, MAX_CONCURRENT_REQUESTS, MAX_PAGES, Page},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::{
            folders::{ListTestFolders, TestFolder},
            tests::{ListTests, TestSummary},
        },
        arguments::is_uuid,
        catalog::{ListedOperation, OperationEntry},
        lenient::view,
        record_kind::{ResultId, ResultKind},
    },
    tools::{context::CallOptions, project_client::ProjectClient, unread::Unread},
};

/// Largest number of folders whose tests are read.
const MAX_FOLDERS: usize = 500;

/// Time that is kept for the work after the reading.
const GRACE: Duration = Duration::from_secs(5);

/// Time between progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// The record of a run, a job or an execution, as the service returned it.
#[derive(Clone, Debug)]
pub struct FoundResult {
    /// The id of the record.
    pub id: ResultId,
    /// The record.
    pub record: Value,
}

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
            self.caller.scope.remember(Some(project), runs);
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
    pub(crate) async fn read_result(&self, id: ResultId) -> Result<FoundResult, Failure> {
        let client = self.client();
        let record = self.receive(client.read_result(&id)).await?;
        Ok(FoundResult { id, record })
    }

    /// Finds the run, job or execution with the id `id`.
    ///
    /// # Errors
    /// `not_found` if no record has the id, or the failure of a look-up.
    pub(crate) async fn find_result(&self, id: &str) -> Result<FoundResult, Failure> {
        let message = format!("no run, job or plan execution has the id `{id}`");
        let mut unknown = Failure::new(Code::NotFound, &*message).hint("`tool:list_runs` lists runs");
        // The ids of runs are no UUIDs (service.md 1.7), but a service may have others.
        let kinds = [ResultKind::Execution, ResultKind::Job, ResultKind::Run];
        for kind in kinds.into_iter().filter(|kind| *kind == ResultKind::Run || is_uuid(id)) {
            match self.read_result(ResultId::new(kind, id)).await {
                // It names the projects that were searched.
                Err(failure) if failure.code == Code::ProjectNotResolved => {
                    unknown = Failure { message: format!("{message}: {failure}"), ..failure };
                }
                Err(failure) if is_unknown_id(&failure) => {}
                read => return read,
            }
        }

        Err(unknown)
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

    /// Returns a client of the project that has answered, else of the requested one.
    pub(crate) fn client(&self) -> ProjectClient {
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
            unread.cut(&what, "there are too many folders");
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

/// Returns whether a failed look-up means that no record of this kind has the id. Ids of runs have another form than the
/// other ids, so that the arguments may be invalid.
pub(crate) fn is_unknown_id(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::ProjectNotResolved | Code::InvalidArguments)
}

/// Returns arguments with these names and values.
pub(crate) fn arguments<'a>(pairs: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> Fields {
    pairs.into_iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
}

pub(crate) fn shows_folder(test: &Value) -> bool {
    view::<TestSummary>(test).folder_path.is_some_and(|path| path != "/")
}
