//! The pictures of a report page: screenshots of failed steps and of the end of each run.
//!
//! - `selection` finds the pictures among the files of a run.
//! - `run_records` reads the runs of a job or an execution, the failed ones first.
//! - `loading` downloads one picture.
//! - `album` scales the pictures and collects them up to a size limit.

mod album;
mod file_order;
mod loading;
mod run_records;
mod selection;

pub use album::PictureAlbum;
pub(super) use run_records::album_of_runs;

use crate::{
    call::gateway::Gateway,
    failure::Failure,
    service::api::{Id, runs::GetRun},
    tools::project_client::ProjectClient,
};

use serde_json::Value;

/// Largest size of the pictures of one run that a host receives, in bytes of Base64 text.
const MAX_HOST_BYTES: usize = 2_000_000;

/// Loads the pictures of a run whose record and bugs are known, with at most `max_bytes` bytes of Base64 text.
pub(super) async fn album_of_run(
    client: &ProjectClient,
    run_id: &str,
    record: &Value,
    bugs: &[Value],
    max_bytes: usize,
) -> PictureAlbum {
    let sources = selection::select(run_id, record, bugs);
    PictureAlbum::load(client, sources, max_bytes).await
}

/// Reads a run and loads its pictures for the view in a host.
///
/// # Errors
/// Failures of `get_run`.
pub async fn pictures_for_host(
    gateway: &Gateway,
    project: Option<&str>,
    run_id: &str,
) -> Result<PictureAlbum, Failure> {
    let client = ProjectClient { gateway: gateway.clone(), project: project.map(str::to_owned) };
    let run = client.call(&GetRun { run_id: Id(run_id.to_owned()) }).await?;

    Ok(album_of_run(&client, run_id, run.value(), &[], MAX_HOST_BYTES).await)
}
