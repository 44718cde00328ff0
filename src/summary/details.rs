//! Reading why tests did not pass: their runs in full, and the bugs of these.

use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _, future, stream};
use serde_json::Value;

use super::{AT_ONCE, Kind, Target, gathering::Subject, reader::Reader};
use crate::{
    api::bugs::ListRunBugs, failure::Failure, local::Watcher, operation::Operation as _, waiting::item::text,
};

/// How often a person is told how far it is.
const TELLING: Duration = Duration::from_secs(1);

/// What was read of a run.
#[derive(Debug)]
struct Read {
    run: Option<Result<Value, Failure>>,
    bugs: Option<Result<Value, Failure>>,
}

/// Reads the details of every test that failed, for `left` at most.
pub(super) async fn read(
    reader: &Reader,
    subject: &mut Subject,
    left: Option<Duration>,
    watcher: &dyn Watcher,
) {
    let clock = reader.gateway.clock();
    let wanted = subject.cases.iter().enumerate().filter_map(|(index, case)| {
        let run = case.item.run_id.clone().filter(|_| case.has_failed())?;
        Some((index, run, case.run.clone()))
    });
    let wanted: Vec<_> = wanted.collect();
    let mut waiting: Vec<_> = wanted.iter().map(|(index, run, _)| Some((*index, run.clone()))).collect();
    let mut reading = stream::iter(wanted.into_iter().enumerate())
        .map(|(place, (index, run, known))| {
            read_run(reader, run, known).map(move |read| (place, index, read))
        })
        .buffer_unordered(AT_ONCE);
    let mut alarm = left.map_or_else(|| future::pending().boxed(), |left| clock.alarm(left));
    let (mut done, mut told) = (0, clock.now());
    loop {
        let next = tokio::select! {
            biased;
            () = &mut alarm => break,
            next = reading.next() => next,
        };
        let Some((place, index, read)) = next else { break };
        note(subject, index, read);
        if let Some(waits) = waiting.get_mut(place) {
            *waits = None;
        }
        done += 1;
        if clock.now().saturating_sub(told) >= TELLING {
            told = clock.now();
            watcher.progress(
                done,
                waiting.len() as u64,
                &format!("{done} of {} failures read", waiting.len()),
            );
        }
    }
    drop(reading);
    for (_, run) in waiting.into_iter().flatten() {
        subject.notes.skipped("run", run, "the time of the call was over");
    }
}

async fn read_run(reader: &Reader, id: String, known: Option<Value>) -> Read {
    let target = Target::new(Kind::Run, &id);
    let run = match known {
        Some(_) => None,
        None => Some(reader.record(&target).await),
    };
    let record = known.as_ref().or_else(|| run.as_ref()?.as_ref().ok());
    // A verification test says how many bugs there are.
    let count = record.and_then(|record| record.pointer("/bug_info/bug_count")?.as_u64());
    if count == Some(0) {
        return Read { run, bugs: None };
    }
    let bugs = reader.ask(ListRunBugs::NAME, super::reader::filter([("run_id", &id)])).await;
    Read { run, bugs: Some(bugs) }
}

/// Keeps what was read, and notes what was not.
fn note(subject: &mut Subject, index: usize, read: Read) {
    let Some(case) = subject.cases.get_mut(index) else { return };
    let id = case.item.run_id.clone().unwrap_or_default();
    match read.run {
        Some(Ok(run)) => {
            case.build_name = run.pointer("/build/name").and_then(Value::as_str).map(str::to_owned);
            if case.build_id.is_none() {
                case.build_id = run.pointer("/build/id").and_then(Value::as_str).map(str::to_owned);
            }
            case.run = Some(run);
        }
        Some(Err(failure)) => subject.notes.add("run", id.clone(), failure),
        None => {}
    }
    match read.bugs {
        Some(Ok(mut page)) => {
            // Older services name the list otherwise (supplement 1.7).
            let list = ["data", "bug_occurrences"]
                .into_iter()
                .find(|name| page.get(name).is_some_and(Value::is_array));
            if let Some(Value::Array(bugs)) = list.and_then(|name| page.get_mut(name)).map(Value::take) {
                case.bugs = bugs
                    .into_iter()
                    .filter(|bug| text(bug, "title").is_some() || text(bug, "bug_id").is_some())
                    .collect();
            }
        }
        Some(Err(failure)) => subject.notes.add("bugs of run", id, failure),
        None => {}
    }
}
