//! Whole lists of the service, several of them at a time, for one call.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::{
    call::{
        Caller,
        paging::{self, LONG_LIST_PAGES, ListRecords, MAX_CONCURRENT_REQUESTS, Omission, Page},
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            folders::{ListTestFolders, TestFolder},
            tests::{ListTests, TestSummary},
        },
        catalog::{ListedOperation, OperationEntry},
        lenient::view,
    },
    tools::{
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader},
    },
};

/// Largest number of folders whose tests are read.
const MAX_FOLDERS: usize = 500;

/// Reads lists and records, with at most [`MAX_CONCURRENT_REQUESTS`] requests at a time for all of them.
pub(super) struct ListReader {
    client: ProjectClient,
    requests: Semaphore,
    stop: StopSignal,
    /// Number of pages that were read.
    pages: AtomicU64,
    /// Number of pages of all lists, as far as they are known.
    known_pages: AtomicU64,
}

impl ListReader {
    pub(super) fn new(caller: &Caller, project: Option<String>) -> Self {
        Self {
            client: ProjectClient { caller: caller.clone(), project },
            requests: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            stop: StopSignal::default(),
            pages: AtomicU64::new(0),
            known_pages: AtomicU64::new(0),
        }
    }

    /// Reads the pages of a list that `filter` selects.
    pub(super) async fn read_list(
        &self,
        list: &'static OperationEntry,
        filter: Fields,
    ) -> Result<ListRecords, Failure> {
        let filter = &filter;
        let read = |number| async move {
            let request = async {
                // The semaphore is never closed.
                let _permit = self.requests.acquire().await;
                self.client.list_page_of(list, filter, number).await
            };
            let reply = self.stop.until_stopped(request).await?;
            let page = Page::parse(list.name, reply.into_value())?;

            self.pages.fetch_add(1, Relaxed);
            if number == 0 {
                let pages = page.total_pages.unwrap_or(1).clamp(1, LONG_LIST_PAGES);
                self.known_pages.fetch_add(pages, Relaxed);
            }

            Ok(page)
        };

        paging::read_all(LONG_LIST_PAGES, read).await
    }

    /// Reads a record.
    pub(super) async fn read_record<O: ListedOperation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        let request = async {
            let _permit = self.requests.acquire().await;
            self.client.call(operation).await
        };
        let reply = self.stop.until_stopped(request).await?;

        Ok(reply.view::<O>())
    }

    /// Reads the tests of every folder, for a service whose list of tests shows only those of the root (service.md
    /// 6.1). `folders` are the folders if they have been read.
    pub(super) async fn read_tests_in_folders(&self, folders: Option<Vec<Value>>) -> FolderTests {
        let mut tests = FolderTests::default();
        if self.stop.is_stopped() {
            tests.omit("tests in folders".to_owned(), "the time limit of the call has passed".to_owned());
            return tests;
        }

        let folders = match folders {
            Some(folders) => folders,
            None => match self.read_list(ListTestFolders::entry(), Fields::new()).await {
                Ok(list) => {
                    tests.unread.extend(list.unread_pages(ListTestFolders::entry().name, LONG_LIST_PAGES));
                    list.records
                }
                Err(failure) => {
                    tests.omit("tests in folders".to_owned(), failure.message);
                    return tests;
                }
            },
        };

        let mut ids: Vec<_> = folders.iter().map(|folder| view::<TestFolder>(folder).id).collect();
        ids.retain(|id| !id.is_empty());
        if ids.len() > MAX_FOLDERS {
            let what = format!("tests in {} of {} folders", ids.len() - MAX_FOLDERS, ids.len());
            tests.omit(what, "there are too many folders".to_owned());
            ids.truncate(MAX_FOLDERS);
        }

        let reads: Vec<_> = ids
            .iter()
            .map(|id| {
                let filter = Fields::from_iter([("folder_id".to_owned(), json!(id))]);
                self.read_list(ListTests::entry(), filter)
            })
            .collect();
        let lists: Vec<_> = stream::iter(reads).buffered(MAX_CONCURRENT_REQUESTS).collect().await;
        tests.lists = ids.iter().map(|id| format!("tests in the folder {id}")).zip(lists).collect();

        tests
    }
}

impl StoppableReader for ListReader {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let pages = self.pages.load(Relaxed);
        (pages, self.known_pages.load(Relaxed), format!("{pages} pages read"))
    }
}

/// The tests of folders.
#[derive(Debug, Default)]
pub(super) struct FolderTests {
    /// What each list contains, and the list.
    pub(super) lists: Vec<(String, Result<ListRecords, Failure>)>,
    /// What was not requested.
    pub(super) unread: Vec<Omission>,
}

impl FolderTests {
    fn omit(&mut self, what: String, why: String) {
        self.unread.push(Omission { what, why });
    }
}

/// Returns whether one of the tests is in a folder.
pub(super) fn shows_folders(tests: &[Value]) -> bool {
    let path = |test: &Value| view::<TestSummary>(test).folder_path;
    tests.iter().filter_map(path).any(|path| path != "/")
}
