//! The newest runs of a list that the service cannot sort (supplement 2.2).

use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    call::{
        gateway::{CheckedArguments, Gateway},
        paging::{self, LONG_LIST_PAGES, Omission, Page, deduplicate},
        reply::Reply,
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::runs::{ListRuns, NEWEST},
        catalog::OperationEntry,
        operation::Operation as _,
    },
    tools::{
        caller::CallerContext,
        project_client::ProjectClient,
        time_limit::{StopSignal, StoppableReader, run_with_limit},
    },
};

/// The newest runs.
#[derive(Serialize)]
struct NewestRuns {
    data: Vec<Value>,
    /// Number of runs that were read and sorted.
    runs_read: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<Omission>,
}

/// Reads the pages of the list of runs.
struct PageReader {
    client: ProjectClient,
    filter: Fields,
    stop: StopSignal,
    /// Number of pages that were read.
    pages: AtomicU64,
}

impl PageReader {
    async fn read_page(&self, number: u64) -> Result<Page, Failure> {
        let request = self.client.list_page::<ListRuns>(&self.filter, number);
        let reply = self.stop.until_stopped(request).await?;

        self.pages.fetch_add(1, Ordering::Relaxed);
        Page::parse(ListRuns::NAME, reply.into_value())
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

/// Returns whether a call asks for the newest records of a list.
pub(super) fn is_requested(entry: &OperationEntry, arguments: &Fields) -> bool {
    entry.name == ListRuns::NAME && arguments.contains_key(NEWEST)
}

/// Reads the pages of the list that the arguments select, and returns the newest runs, the newest first.
///
/// # Errors
/// The failure of the first page. Other pages that cannot be read, or not in time, are named in the reply.
pub(super) async fn read(
    gateway: Gateway,
    checked: CheckedArguments,
    caller: &CallerContext,
) -> Result<Reply, Failure> {
    let CheckedArguments { own: mut filter, project_id, selection } = checked;
    let count = filter.shift_remove(NEWEST).and_then(|count| count.as_u64()).unwrap_or_default();

    let clock = Arc::clone(gateway.clock());
    let client = ProjectClient { gateway, project: project_id };
    let reader = PageReader { client, filter, stop: StopSignal::default(), pages: AtomicU64::new(0) };
    let pages = paging::read_all(LONG_LIST_PAGES, |number| reader.read_page(number));
    let listed = run_with_limit(&reader, &*clock, caller, pages).await?;

    let unread = listed.unread_pages(ListRuns::NAME, LONG_LIST_PAGES);
    let mut runs = deduplicate(listed.records, "multiplayer_run_id");
    let runs_read = runs.len();
    runs.sort_by_cached_key(|run| Reverse(created_at(run)));
    runs.truncate(usize::try_from(count).unwrap_or(usize::MAX));

    let mut reply = Reply::from_value(json!(NewestRuns { data: runs, runs_read, unread }));
    if let Some(selection) = selection {
        reply.select(selection);
    }

    Ok(reply)
}

fn created_at(run: &Value) -> Option<Timestamp> {
    run.get("created_at")?.as_str()?.parse().ok()
}
