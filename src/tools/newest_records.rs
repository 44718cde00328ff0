//! The newest records of a list, which is read completely and sorted here: the service states no order for most lists.

use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    call::paging::{self, LONG_LIST_PAGES, Omission, Page, deduplicate},
    failure::Failure,
    fields::{Fields, field_at},
    service::{catalog::OperationEntry, tool::ColumnFormat},
    tools::{
        caller::CallerContext,
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader, run_with_limit},
    },
};

/// A request for the records of a list, the newest first.
#[derive(Debug)]
pub(super) struct NewestRecords {
    pub(super) client: ProjectClient,
    pub(super) list: &'static OperationEntry,
    /// The arguments that select records.
    pub(super) filter: Fields,
}

/// The records of a list, the newest first.
#[derive(Debug)]
pub(super) struct SortedRecords {
    /// The records. Those without a time follow at the end, sorted by name.
    pub(super) records: Vec<Value>,
    /// Pages that could not be read.
    pub(super) unread: Vec<Omission>,
}

/// Which of the newest records are wanted.
#[derive(Clone, Copy, Debug)]
pub struct WantedRecords {
    /// Returns whether a record is wanted.
    pub filter: fn(&Value) -> bool,
    /// Largest number of records.
    pub limit: usize,
}

/// The newest records of a list.
#[derive(Debug, Serialize)]
pub(super) struct RecordPage {
    data: Vec<Value>,
    /// Number of all records that the filter wants.
    total_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<Omission>,
}

impl SortedRecords {
    pub(super) fn select(self, wanted: WantedRecords) -> RecordPage {
        let mut data = self.records;
        data.retain(wanted.filter);
        let total_count = data.len();
        data.truncate(wanted.limit);

        RecordPage { data, total_count, unread: self.unread }
    }
}

/// Reads the pages of the list.
struct PageReader {
    request: NewestRecords,
    stop: StopSignal,
    /// Number of pages that were read.
    pages: AtomicU64,
}

impl NewestRecords {
    /// Reads all pages of the list and sorts the records.
    ///
    /// # Errors
    /// The failure of the first page. Other pages that cannot be read, or not in time, are part of the result.
    pub(super) async fn read(self, caller: &CallerContext) -> Result<SortedRecords, Failure> {
        let (list, clock) = (self.list, Arc::clone(self.client.gateway.clock()));
        let reader = PageReader { request: self, stop: StopSignal::default(), pages: AtomicU64::new(0) };
        let pages = paging::read_all(LONG_LIST_PAGES, |number| reader.read_page(number));
        let listed = run_with_limit(&reader, &*clock, caller, pages).await?;

        let unread = listed.unread_pages(list.name, LONG_LIST_PAGES);
        let id_field = fields_of(list, ColumnFormat::Id).first().copied().unwrap_or("id");
        let mut records = deduplicate(listed.records, id_field);
        let (times, names) = (fields_of(list, ColumnFormat::Time), fields_of(list, ColumnFormat::Text));
        records.sort_by_cached_key(|record| {
            let time = text_at(record, times).and_then(|text| text.parse::<Timestamp>().ok());
            (Reverse(time), text_at(record, names).map(str::to_lowercase))
        });

        Ok(SortedRecords { records, unread })
    }
}

impl PageReader {
    async fn read_page(&self, number: u64) -> Result<Page, Failure> {
        let NewestRecords { client, list, filter } = &self.request;
        let reply = self.stop.until_stopped(client.list_page_of(list, filter, number)).await?;

        self.pages.fetch_add(1, Ordering::Relaxed);
        Page::parse(list.name, reply.into_value())
    }
}

impl StoppableReader for PageReader {
    fn stop(&self) {
        self.stop.stop();
    }

    fn progress(&self) -> (u64, u64, String) {
        let pages = self.pages.load(Ordering::Relaxed);
        (pages, pages, format!("{pages} pages read"))
    }
}

/// Returns the fields of the first column with this format.
fn fields_of(list: &OperationEntry, format: ColumnFormat) -> &'static [&'static str] {
    list.columns.iter().find(|column| column.format == format).map_or(&[], |column| column.fields)
}

fn text_at<'a>(record: &'a Value, fields: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|field| field_at(record, field)?.as_str())
}
