//! Links to the files in a list of artifacts, for callers that fetch the files themselves.
//!
//! The listed addresses need the API key. For files on the storage host, the service redirects to addresses that need none.

use std::{cmp::Reverse, time::Duration};

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::{
    call::{
        common_arguments::ToolArguments,
        gateway::{Artifact, Gateway},
        reply::{FileLink, Reply},
    },
    service::{api::artifacts::ListRunArtifacts, catalog::OperationEntry, operation::Operation as _},
    tools::caller::CallerContext,
};

/// Largest number of files whose addresses are requested. The largest files are those on the storage host.
const MAX_FILES: usize = 10;

/// Number of requests at the same time.
const PARALLEL_REQUESTS: usize = 4;

/// Time limit of all requests together. The list is returned without the links that are not known by then.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Returns the id of the player, if the call lists artifacts and the caller gets links.
pub(super) fn requested_player(
    entry: &OperationEntry,
    arguments: &ToolArguments,
    caller: &CallerContext,
) -> Option<String> {
    let is_requested = caller.gets_links && entry.name == ListRunArtifacts::NAME;
    let player = is_requested.then(|| arguments.own.get("run_id"))??;
    player.as_str().map(str::to_owned)
}

/// Adds links to the largest files of a list of artifacts of `player`.
pub(super) async fn add_links(gateway: &Gateway, player: &str, reply: &mut Reply) {
    let project = reply.project().map(str::to_owned);
    let text = |record: &Value, name: &str| record.get(name).and_then(Value::as_str).map(str::to_owned);
    let file = |record: &Value| {
        let (filename, url) = (text(record, "filename")?, text(record, "url"));
        let size = record.get("size").and_then(Value::as_u64);
        Some((Artifact { project: project.clone(), run_id: player.to_owned(), filename, url }, size))
    };

    let listed = reply.value().get("artifacts").and_then(Value::as_array);
    let mut files: Vec<_> = listed.into_iter().flatten().filter_map(file).collect();
    files.sort_by_key(|(_, size)| Reverse(*size));
    files.truncate(MAX_FILES);

    let links = stream::iter(files)
        .map(|(file, size)| find_link(gateway, file, size))
        .buffered(PARALLEL_REQUESTS)
        .take_until(tokio::time::sleep(TIME_LIMIT));
    let links: Vec<_> = links.collect().await;

    reply.add_links(links.into_iter().flatten().collect());
}

async fn find_link(gateway: &Gateway, file: Artifact, size: Option<u64>) -> Option<FileLink> {
    let address = gateway.presigned_address(&file).await?;
    Some(FileLink { address, name: file.filename, size, media_type: None })
}
