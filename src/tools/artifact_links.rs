//! Links to the files in a list of artifacts, for callers that fetch the files themselves.
//!
//! The listed addresses need the API key. For files on the storage host, the service redirects to addresses that need
//! none.

use std::{cmp::Reverse, time::Duration};

use futures_util::{StreamExt as _, stream};
use serde::Deserialize as _;

use crate::{
    call::{
        Artifact, Caller,
        arguments::ToolArguments,
        reply::{FileLink, Reply},
    },
    service::{
        api::artifacts::{ListRunArtifacts, RunArtifact},
        catalog::OperationEntry,
        operation::Operation as _,
    },
    tools::call_options::CallOptions,
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
    options: &CallOptions,
) -> Option<String> {
    let is_requested = options.gets_links && entry.name == ListRunArtifacts::NAME;
    // Invalid arguments fail with the call.
    is_requested.then(|| ListRunArtifacts::deserialize(&arguments.own).ok())?.map(|list| list.run_id.0)
}

/// Adds links to the largest files of a list of artifacts of `player`.
pub(super) async fn add_links(caller: &Caller, player: &str, reply: &mut Reply) {
    let project = reply.project();
    let mut files = reply.view::<ListRunArtifacts>().artifacts;
    files.retain(|file| !file.filename.is_empty());
    files.sort_by_key(|file| Reverse(file.size));
    files.truncate(MAX_FILES);

    let links = stream::iter(files)
        .map(|file| find_link(caller, project, player, file))
        .buffered(PARALLEL_REQUESTS)
        .take_until(tokio::time::sleep(TIME_LIMIT));
    let links: Vec<_> = links.collect().await;

    reply.add_links(links.into_iter().flatten().collect());
}

async fn find_link(
    caller: &Caller,
    project: Option<&str>,
    player: &str,
    file: RunArtifact,
) -> Option<FileLink> {
    let artifact = Artifact {
        project: project.map(str::to_owned),
        run_id: player.to_owned(),
        filename: file.filename.clone(),
        url: Some(file.url).filter(|url| !url.is_empty()),
    };
    let address = caller.presigned_address(&artifact).await?;
    let size = Some(file.size).filter(|size| *size > 0);

    Some(FileLink { address, name: file.filename, size, media_type: None })
}
