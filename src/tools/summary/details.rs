//! Reading why tests did not pass: the full records of their runs, and the bugs of these runs.

use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use super::{reader::SummaryReader, subject::Subject, test_result::bug_count};
use crate::{
    call::paging::MAX_CONCURRENT_REQUESTS,
    failure::Failure,
    service::{
        api::{Id, bugs::ListRunBugs},
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::record::string_field,
};

/// A run to read.
struct PendingRun {
    /// The index of the test.
    index: usize,
    id: String,
    /// Whether the full record has been read already.
    is_known: bool,
    /// The number of bugs, if the full record contains it.
    bug_count: Option<u64>,
}

/// The details that were read of a run; `None` for what was not requested.
#[derive(Debug)]
struct RunDetails {
    run: Option<Result<Value, Failure>>,
    bugs: Option<Result<Value, Failure>>,
}

/// Reads the details of every failed test of `subject`. Details that cannot be read become omissions.
pub(super) async fn read_details(reader: &SummaryReader, subject: &mut Subject) {
    let mut pending = Vec::new();
    for (index, test) in subject.tests.iter().enumerate().filter(|(_, test)| test.has_failed()) {
        if let Some(id) = test.item.run_id.clone() {
            pending.push(PendingRun { index, id, is_known: test.cause.is_some(), bug_count: test.bug_count });
        }
    }

    reader.set_failure_count(pending.len());

    let mut reads = stream::iter(pending)
        .map(|run| {
            let index = run.index;
            read_run(reader, run).map(move |details| (index, details))
        })
        .buffer_unordered(MAX_CONCURRENT_REQUESTS);

    while let Some((index, details)) = reads.next().await {
        add_details(subject, index, details);
        reader.count_read_failure();
    }
}

/// Reads the record of a run, unless it is known, and its bugs, unless it has none.
async fn read_run(reader: &SummaryReader, pending: PendingRun) -> RunDetails {
    let run = if pending.is_known {
        None
    } else {
        Some(reader.read_result(&ResultId::new(ResultKind::Run, pending.id.as_str())).await)
    };
    // After the time limit, the request for the bugs would fail with the same reason.
    if matches!(run, Some(Err(_))) && reader.is_stopped() {
        return RunDetails { run, bugs: None };
    }

    let read_count = run.as_ref().and_then(|run| bug_count(run.as_ref().ok()?));
    if read_count.or(pending.bug_count) == Some(0) {
        return RunDetails { run, bugs: None };
    }

    let bugs = reader.call(&ListRunBugs { run_id: Id(pending.id) }).await;

    RunDetails { run, bugs: Some(bugs) }
}

/// Adds the details of a run to its test, and what failed to the omissions.
fn add_details(subject: &mut Subject, index: usize, details: RunDetails) {
    let Some(test) = subject.tests.get_mut(index) else { return };
    let id = test.item.run_id.clone().unwrap_or_default();

    match details.run {
        Some(Ok(run)) => test.add_details(&run),
        Some(Err(failure)) => subject.omissions.add("run", id.clone(), failure),
        None => {}
    }

    match details.bugs {
        Some(Ok(page)) => test.bugs = bugs_of_page(page),
        Some(Err(failure)) => subject.omissions.add("bugs of run", id, failure),
        None => {}
    }
}

/// Returns the bugs of a page. Older services use another name for the list (supplement 1.7).
fn bugs_of_page(mut page: Value) -> Vec<Value> {
    let name =
        ["data", "bug_occurrences"].into_iter().find(|name| page.get(name).is_some_and(Value::is_array));
    let Some(Value::Array(mut bugs)) = name.and_then(|name| page.get_mut(name)).map(Value::take) else {
        return Vec::new();
    };

    bugs.retain(|bug| string_field(bug, "title").is_some() || string_field(bug, "bug_id").is_some());

    bugs
}
