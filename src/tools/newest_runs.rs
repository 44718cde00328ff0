//! The newest runs of a list that the service cannot sort (supplement 2.2).

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    call::{
        gateway::{CheckedArguments, Gateway},
        paging::Omission,
        reply::Reply,
    },
    failure::Failure,
    fields::Fields,
    service::{
        api::runs::{ListRuns, NEWEST},
        catalog::{ListedOperation as _, OperationEntry},
        operation::Operation as _,
    },
    tools::{caller::CallerContext, newest_records::NewestRecords, project_client::ProjectClient},
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
/// The failure of the first page. Other pages that cannot be read, or not in time, are named in the reply.
pub(super) async fn read(
    gateway: Gateway,
    checked: CheckedArguments,
    caller: &CallerContext,
) -> Result<Reply, Failure> {
    let CheckedArguments { own: mut filter, project_id, selection } = checked;
    let count = filter.shift_remove(NEWEST).and_then(|count| count.as_u64()).unwrap_or_default();

    let client = ProjectClient { gateway, project: project_id };
    let listed = NewestRecords { client, list: ListRuns::entry(), filter }.read(caller).await?;

    let runs_read = listed.records.len();
    let mut runs = listed.records;
    runs.truncate(usize::try_from(count).unwrap_or(usize::MAX));

    let mut reply = Reply::from_value(json!(NewestRuns { data: runs, runs_read, unread: listed.unread }));
    if let Some(selection) = selection {
        reply.select(selection);
    }

    Ok(reply)
}
