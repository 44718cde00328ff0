//! Reading why tests did not pass: their runs in full, and the bugs of these.

use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use super::{
    gathering::Subject,
    reader::{Reader, filter},
};
use crate::{
    call::paging::MAX_CONCURRENT_REQUESTS,
    failure::Failure,
    service::{
        api::bugs::ListRunBugs,
        operation::Operation as _,
        result_kind::{ResultId, ResultKind},
    },
    tools::waiting::item::text,
};

/// What was read of a run.
#[derive(Debug)]
struct Read {
    run: Option<Result<Value, Failure>>,
    bugs: Option<Result<Value, Failure>>,
}

/// What is known of a run that is to be read.
struct Wanted {
    /// Place of its test.
    place: usize,
    id: String,
    /// Whether its record has been seen in full, and how many bugs that names.
    is_known: bool,
    bug_count: Option<u64>,
}

/// Reads the details of every test that failed.
pub(super) async fn read(reader: &Reader, subject: &mut Subject) {
    let wanted = subject.cases.iter().enumerate().filter_map(|(place, case)| {
        let id = case.item.run_id.clone().filter(|_| case.has_failed())?;
        Some(Wanted { place, id, is_known: case.cause.is_some(), bug_count: case.bug_count })
    });
    let wanted: Vec<_> = wanted.collect();
    reader.expect(wanted.len());

    let mut reading = stream::iter(wanted)
        .map(|wanted| {
            let place = wanted.place;
            read_run(reader, wanted).map(move |read| (place, read))
        })
        .buffer_unordered(MAX_CONCURRENT_REQUESTS);

    while let Some((place, read)) = reading.next().await {
        note(subject, place, read);
        reader.advance();
    }
}

async fn read_run(reader: &Reader, wanted: Wanted) -> Read {
    let target = ResultId::new(ResultKind::Run, &wanted.id);
    let run = if wanted.is_known { None } else { Some(reader.record(&target).await) };
    if matches!(run, Some(Err(_))) && reader.is_stopped() {
        return Read { run, bugs: None };
    }

    let count = run.as_ref().and_then(|run| bug_count(run.as_ref().ok()?)).or(wanted.bug_count);
    if count == Some(0) {
        return Read { run, bugs: None };
    }

    let bugs = reader.ask(ListRunBugs::NAME, filter([("run_id", &wanted.id)])).await;

    Read { run, bugs: Some(bugs) }
}

/// A verification test says how many bugs there are.
pub(super) fn bug_count(run: &Value) -> Option<u64> {
    run.pointer("/bug_info/bug_count")?.as_u64()
}

/// Keeps what was read, and notes what was not.
fn note(subject: &mut Subject, place: usize, read: Read) {
    let Some(case) = subject.cases.get_mut(place) else { return };
    let id = case.item.run_id.clone().unwrap_or_default();

    match read.run {
        Some(Ok(run)) => case.learn(&run),
        Some(Err(failure)) => subject.notes.add("run", id.clone(), failure),
        None => {}
    }

    match read.bugs {
        Some(Ok(page)) => case.bugs = bugs(page),
        Some(Err(failure)) => subject.notes.add("bugs of run", id, failure),
        None => {}
    }
}

/// The bugs of a page. Older services name the list otherwise (supplement 1.7).
fn bugs(mut page: Value) -> Vec<Value> {
    let names = ["data", "bug_occurrences"];
    let name = names.into_iter().find(|name| page.get(name).is_some_and(Value::is_array));
    let Some(Value::Array(mut bugs)) = name.and_then(|name| page.get_mut(name)).map(Value::take) else {
        return Vec::new();
    };

    bugs.retain(|bug| text(bug, "title").is_some() || text(bug, "bug_id").is_some());

    bugs
}
