//! The pictures of the runs of a job or an execution, those of failed runs first.

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::{
    album::PictureAlbum,
    selection::{PictureSource, select},
};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, Omission},
    failure::Failure,
    service::api::{Id, runs::GetRun},
    tools::{project_client::ProjectClient, waiting::ResultItem},
};

/// Largest number of runs whose records are read for their pictures.
const MAX_RUNS: usize = 100;

/// Loads the pictures of `runs`, which are records of the list of runs, with at most `max_bytes` bytes of Base64 text.
pub(in crate::tools::report) async fn album_of_runs(
    client: &ProjectClient,
    runs: &[Value],
    max_bytes: usize,
) -> PictureAlbum {
    // A run has no files before it is completed.
    let mut runs: Vec<_> = runs.iter().map(ResultItem::from_run).filter(ResultItem::is_finished).collect();
    runs.sort_by_key(ResultItem::has_passed);
    let left_out_runs = runs.len().saturating_sub(MAX_RUNS);

    let (sources, unread) = read_sources(client, runs).await;
    let mut album = PictureAlbum::load(client, sources, max_bytes).await;
    album.left_out_runs = left_out_runs;
    album.unread.extend(unread);

    album
}

/// Reads the records of the first runs. Returns their pictures, and what could not be read.
async fn read_sources(
    client: &ProjectClient,
    runs: Vec<ResultItem>,
) -> (Vec<PictureSource>, Option<Omission>) {
    let mut reads = stream::iter(runs.into_iter().take(MAX_RUNS))
        .map(|run| async move { (read_run(client, &run).await, run) })
        .buffered(MAX_CONCURRENT_REQUESTS);
    let (mut of_failed, mut of_passed) = (Vec::new(), Vec::new());
    let (mut failed_reads, mut first_failure) = (0_usize, None);

    while let Some((read, run)) = reads.next().await {
        match read {
            Ok(sources) if run.has_passed() => of_passed.extend(sources),
            Ok(sources) => of_failed.extend(sources),
            Err(failure) => {
                failed_reads += 1;
                first_failure.get_or_insert(failure.message);
            }
        }
    }

    // The sort is stable, so that the runs keep their order.
    of_failed.sort_by_key(|source| source.step.is_none());
    of_failed.extend(of_passed);
    let omission =
        first_failure.map(|why| Omission { what: format!("pictures of {failed_reads} runs"), why });

    (of_failed, omission)
}

/// Reads the record of a run. The record itself is not kept, because it is long.
async fn read_run(client: &ProjectClient, run: &ResultItem) -> Result<Vec<PictureSource>, Failure> {
    let Some(run_id) = run.run_id.clone() else { return Ok(Vec::new()) };
    let record = client.call(&GetRun { run_id: Id(run_id.clone()) }).await?;

    Ok(select(&run_id, record.value(), &[]))
}
