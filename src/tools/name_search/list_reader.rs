//! Reads the lists of one search.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{
    matches::Matches,
    record_kind::{NamedList, RecordKind},
};
use crate::{
    call::paging::{self, LONG_LIST_PAGES, MAX_CONCURRENT_REQUESTS, Omission, Page},
    failure::{Code, Failure},
    fields::Fields,
    tools::{project_client::ProjectClient, time_limit::StoppableReader},
};

/// Reads the lists of one search, with at most [`MAX_CONCURRENT_REQUESTS`] requests at a time for all of them.
#[derive(Debug)]
pub(super) struct ListReader {
    client: ProjectClient,
    requests: Semaphore,
    /// Cancelled when nothing more is to be read.
    stopped: CancellationToken,
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
            stopped: CancellationToken::new(),
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
        if self.stopped.is_cancelled() && self.state().matches.is_certain() {
            return Ok(());
        }

        let unread = &mut self.state().unread;
        for (page, failure) in records.failed_pages {
            unread.push(Omission { what: format!("{what}, page {page}"), why: failure.message });
        }
        if records.has_more_pages {
            let why = "the list is too long to be read completely".to_owned();
            unread.push(Omission { what: format!("{what}, page {LONG_LIST_PAGES} and after"), why });
        }

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
        let reply = tokio::select! {
            biased;
            () = self.stopped.cancelled() => {
                return Err(Failure::new(Code::Timeout, "the time limit of the call has passed"));
            }
            reply = request => reply?,
        };

        let page = Page::parse(operation.name, reply.into_value())?;
        self.add_page(kind, number, &page);

        Ok(page)
    }

    fn add_page(&self, kind: RecordKind, number: u64, page: &Page) {
        let mut state = self.state();
        state.pages += 1;
        if number == 0 {
            state.known_pages += page.total_pages.unwrap_or(1).clamp(1, LONG_LIST_PAGES);
        }

        for record in &page.records {
            state.matches.add(kind, record);
            state.folders.add(kind, record);
        }

        // No further page can change the result.
        if state.matches.is_certain() {
            self.stopped.cancel();
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether nothing more is to be read.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_cancelled()
    }

    /// Returns what has been read.
    pub(super) fn into_state(self) -> ReaderState {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoppableReader for ListReader {
    fn stop(&self) {
        self.stopped.cancel();
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
