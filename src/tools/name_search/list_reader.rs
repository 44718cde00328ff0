//! Reads the lists of one search.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Semaphore;

use super::{
    matches::Matches,
    record_kind::{NamedList, RecordKind},
};
use crate::{
    call::paging::{self, LONG_LIST_PAGES, MAX_CONCURRENT_REQUESTS, Omission, Page},
    failure::Failure,
    fields::Fields,
    tools::{
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader},
    },
};

/// Number of records that are matched before the thread serves other calls.
const MATCHED_AT_ONCE: usize = 20;

/// Reads the lists of one search, with at most [`MAX_CONCURRENT_REQUESTS`] requests at a time for all of them.
#[derive(Debug)]
pub(super) struct ListReader {
    client: ProjectClient,
    requests: Semaphore,
    stop: StopSignal,
    state: Mutex<ReaderState>,
}

/// What has been read.
#[derive(Debug)]
pub(super) struct ReaderState {
    pub(super) matches: Matches,
    pub(super) unread: Vec<Omission>,
    /// The folders and the tests that have been read.
    pub(super) folders: FolderState,
    pages: u64,
    known_pages: u64,
}

/// What the lists show of the folders.
#[derive(Debug, Default)]
pub(super) struct FolderState {
    pub(super) ids: Vec<String>,
    /// Whether the list of tests shows a test of a folder.
    pub(super) has_test_in_folder: bool,
}

impl ListReader {
    pub(super) fn new(client: ProjectClient, names: Vec<String>) -> Self {
        let state = ReaderState {
            matches: Matches::new(names),
            unread: Vec::new(),
            folders: FolderState::default(),
            pages: 0,
            known_pages: 0,
        };

        Self {
            client,
            requests: Semaphore::new(MAX_CONCURRENT_REQUESTS),
            stop: StopSignal::default(),
            state: Mutex::new(state),
        }
    }

    /// Reads the list of `kind`. Pages that cannot be read become omissions.
    ///
    /// # Errors
    /// The failure of the first page.
    pub(super) async fn read_list(&self, kind: RecordKind) -> Result<(), Failure> {
        let list = kind.list();
        let filter =
            list.filter.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();

        self.read_pages(kind, list, &filter, (list.operation)().name).await
    }

    /// Reads the pages of a list that `filter` selects. `what` names the list in omissions.
    ///
    /// # Errors
    /// The failure of the first page.
    pub(super) async fn read_pages(
        &self,
        kind: RecordKind,
        list: NamedList,
        filter: &Fields,
        what: &str,
    ) -> Result<(), Failure> {
        let read = |number| self.read_page(kind, list, filter, number);
        let records = paging::read_all(LONG_LIST_PAGES, read).await?;
        if self.stop.is_stopped() && self.state().matches.is_certain() {
            return Ok(());
        }

        self.state().unread.extend(records.unread_pages(what, LONG_LIST_PAGES));

        Ok(())
    }

    /// Reads one page and adds its records to the matches.
    async fn read_page(
        &self,
        kind: RecordKind,
        list: NamedList,
        filter: &Fields,
        number: u64,
    ) -> Result<Page, Failure> {
        let operation = (list.operation)();
        let request = async {
            // The semaphore is never closed.
            let _permit = self.requests.acquire().await;
            self.client.list_page_of(operation, filter, number).await
        };
        let reply = self.stop.until_stopped(request).await?;

        let page = Page::parse(operation.name, reply.into_value())?;
        self.add_page(kind, number, &page).await;

        Ok(page)
    }

    async fn add_page(&self, kind: RecordKind, number: u64, page: &Page) {
        {
            let mut state = self.state();
            state.pages += 1;
            if number == 0 {
                state.known_pages += page.total_pages.unwrap_or(1).clamp(1, LONG_LIST_PAGES);
            }
        }

        for records in page.records.chunks(MATCHED_AT_ONCE) {
            self.add_records(kind, records);
            // A service without pages returns all records at once.
            tokio::task::yield_now().await;
        }
    }

    fn add_records(&self, kind: RecordKind, records: &[Value]) {
        let mut state = self.state();
        for record in records {
            state.matches.add(kind, record);
            state.folders.add(kind, record);
        }

        // No further page can change the result.
        if state.matches.is_certain() {
            self.stop.stop();
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether nothing more is to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Returns what has been read.
    pub(super) fn into_state(self) -> ReaderState {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoppableReader for ListReader {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let state = self.state();
        (state.pages, state.known_pages, format!("{} pages read", state.pages))
    }
}

impl FolderState {
    fn add(&mut self, kind: RecordKind, record: &Value) {
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        match kind {
            RecordKind::TestFolder => self.ids.extend(text("id").map(str::to_owned)),
            RecordKind::Test => {
                self.has_test_in_folder |= text("folder_path").is_some_and(|path| path != "/");
            }
            _ => {}
        }
    }
}
