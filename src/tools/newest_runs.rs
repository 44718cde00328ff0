//! The newest runs of a list that the service cannot sort (supplement 2.2).

use std::cmp::Reverse;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    call::{
        gateway::CheckedArguments,
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
    tools::project_client::ProjectClient,
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

/// Returns whether a call asks for the newest records of a list.
pub(super) fn is_requested(entry: &OperationEntry, arguments: &Fields) -> bool {
    entry.name == ListRuns::NAME && arguments.contains_key(NEWEST)
}

/// Reads the pages of the list that the arguments select, and returns the newest runs, the newest first.
///
/// # Errors
/// The failure of the first page. Other pages that cannot be read are named in the reply.
pub(super) async fn read(mut client: ProjectClient, checked: CheckedArguments) -> Result<Reply, Failure> {
    let CheckedArguments { own: mut filter, project_id, selection } = checked;
    let count = filter.shift_remove(NEWEST).and_then(|count| count.as_u64()).unwrap_or_default();
    client.project = project_id;

    let read = async |number| {
        let reply = client.list_page::<ListRuns>(&filter, number).await?;
        Page::parse(ListRuns::NAME, reply.into_value())
    };
    let listed = paging::read_all(LONG_LIST_PAGES, read).await?;

    let mut unread: Vec<_> = listed
        .failed_pages
        .into_iter()
        .map(|(page, failure)| Omission { what: format!("page {page}"), why: failure.message })
        .collect();
    if listed.has_more_pages {
        let why = "the list is too long to be read completely".to_owned();
        unread.push(Omission { what: format!("page {LONG_LIST_PAGES} and after"), why });
    }

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
