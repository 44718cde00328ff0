//! The verdicts of a wait as JUnit XML.

use futures_util::{StreamExt as _, stream};

use super::result::WaitResult;
use crate::{
    call::Caller,
    service::api::{
        Id,
        runs::{GetRun, RunDetail},
    },
    tools::{
        project_client::ProjectClient,
        waiting::{
            ResultItem,
            junit::{self, Case},
        },
    },
};

/// Maximum number of runs that are read at the same time.
const CONCURRENT_READS: usize = 8;

/// Returns the JUnit document. Reads the run of each item for its steps.
pub(super) async fn build(
    result: &WaitResult,
    caller: &Caller,
    project: Option<&str>,
) -> anyhow::Result<String> {
    let items = &result.completion.items;
    let plan = junit::plan_name(&result.completion);
    let client = ProjectClient { caller: caller.clone(), project: project.map(str::to_owned) };
    let reads = items.iter().cloned().map(|item| {
        let client = client.clone();
        async move { read_run(&client, &item).await }
    });
    // `buffered` keeps the order, so that runs and items can be combined.
    let runs: Vec<_> = stream::iter(reads).buffered(CONCURRENT_READS).collect().await;

    let with_items = items.iter().zip(&runs).map(|(item, run)| Case::new(item, run.as_ref(), &plan));
    let not_started = result.not_started.iter().map(|run| Case::not_started(&run.device, &run.reason, &plan));
    let unread = result.unread_reasons();
    let not_read = unread.iter().map(|reason| Case::not_read(reason, &plan));
    let cases: Vec<_> = with_items.chain(not_started).chain(not_read).collect();

    Ok(junit::render_document(&plan, &cases)?)
}

/// Returns the run of `item`. Returns `None` if the run cannot be read: the document then lacks its steps.
async fn read_run(client: &ProjectClient, item: &ResultItem) -> Option<RunDetail> {
    let run = client.call(&GetRun { run_id: Id(item.run_id.clone()?) }).await;
    let run = run.inspect_err(|failure| tracing::warn!("the JUnit file lacks the steps of a run: {failure}"));

    run.ok().map(|reply| reply.view::<GetRun>())
}
