//! Links to the files in a list of artifacts, for callers that fetch the files themselves.
//!
//! The listed addresses need the API key. For files on the storage host, the service redirects to addresses that need
//! none.

use std::{cmp::Reverse, time::Duration};

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use crate::{
    call::{Artifact, Caller, Reply, ToolArguments, reply::FileLink},
    failure::Failure,
    service::{
        api::artifacts::{ListRunArtifacts, RunArtifact},
        catalog::OperationEntry,
    },
};

/// Largest number of files whose addresses are requested. The largest files are those on the storage host.
const MAX_FILES: usize = 10;

/// Number of requests at the same time.
const PARALLEL_REQUESTS: usize = 4;

/// Time limit of all requests together. The list is returned without the links that are not known by then.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Lists the artifacts of a player, with links to the largest ones.
pub(super) async fn list(
    caller: &Caller,
    entry: &'static OperationEntry,
    arguments: ToolArguments,
) -> Result<Reply, Failure> {
    let player = arguments.own.get("run_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut reply = caller.call(entry, arguments).await?;
    let project = reply.project();
    let mut files = reply.view::<ListRunArtifacts>().artifacts;
    files.retain(|file| !file.filename.is_empty());
    files.sort_by_key(|file| Reverse(file.size));
    files.truncate(MAX_FILES);

    let links = stream::iter(files)
        .map(|file| find_link(caller, project, &player, file))
        .buffered(PARALLEL_REQUESTS)
        .take_until(tokio::time::sleep(TIME_LIMIT));
    let links: Vec<_> = links.collect().await;

    reply.add_links(links.into_iter().flatten().collect());
    Ok(reply)
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
