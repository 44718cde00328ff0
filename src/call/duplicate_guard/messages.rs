//! Failures of calls that were not sent because their outcome could be a duplicate.

use std::time::Duration;

use serde_json::{Value, json};

use super::{attempt::UncertainAttempt, clock_reading::ClockReading};
use crate::{
    failure::{Code, Failure},
    service::{
        catalog::OperationEntry,
        operation::{DuplicateCheck, Probe},
    },
};

/// Largest number of records that a failure shows.
const MAX_SHOWN_RECORDS: usize = 5;

/// Time since the first and the last of equal attempts.
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct Elapsed {
    pub(in crate::call) since_first: Duration,
    pub(in crate::call) since_last: Duration,
}

impl Elapsed {
    pub(in crate::call) fn new(attempt: UncertainAttempt, now: ClockReading) -> Self {
        Self { since_first: now.since(attempt.first), since_last: now.since(attempt.last) }
    }
}

impl std::fmt::Display for Elapsed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} s ago", self.since_last.as_secs())
    }
}

/// The owner look-up has left too little time for a write.
pub(in crate::call) fn too_little_time(entry: &OperationEntry) -> Failure {
    let message = format!("{}: not sent: too little time is left of that for one call", entry.name);
    Failure::new(Code::Timeout, message).hint("nothing was sent: call again")
}

/// An equal call that repeats an uncertain attempt is in flight.
pub(in crate::call) fn equal_call_in_flight(entry: &OperationEntry) -> Failure {
    let message = format!(
        "{}: not sent: an equal call, which repeats one of unknown outcome, is in progress",
        entry.name
    );
    Failure::new(Code::Conflict, message).hint("wait for its answer")
}

/// The service shows `found`, which the earlier call has probably made.
pub(in crate::call) fn probably_happened(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    found: &[Value],
    elapsed: Elapsed,
) -> Failure {
    let undated = match check.probe {
        Probe::List(list) if list.created_at.is_none() => {
            ", or it was there before: the list does not say since when"
        }
        _ => "",
    };
    let message = format!(
        "{}: not sent: the equal call of {elapsed} had no known outcome, and seems to have happened{undated}",
        entry.name
    );
    let hint = format!("see `details.found`: {}; to do it again all the same, call once more", check.advice);
    let shown: Vec<_> = found.iter().take(MAX_SHOWN_RECORDS).collect();

    Failure::new(Code::Conflict, message)
        .hint(hint)
        .detail("found", json!(shown))
        .detail("found_count", found.len())
}

/// The service could not be asked whether the earlier call happened. `may_pass` tells whether a later attempt to ask may
/// succeed.
pub(in crate::call) fn probe_failed(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    failure: &Failure,
    elapsed: Elapsed,
    may_pass: bool,
) -> Failure {
    let message = format!(
        "{}: not sent: the outcome of the equal call of {elapsed} is unknown, and {failure}",
        entry.name
    );
    let advice = match check.probe {
        Probe::List(list) => format!("look with `{}`", list.list),
        Probe::Repeat { argument, value, .. } => {
            format!("call with `{argument}: {value}`, which never does it twice")
        }
        Probe::Unavailable(_) => check.advice.to_owned(),
    };
    let next = if may_pass { "or call again later" } else { "to do it again all the same, call once more" };
    let unknown = Failure::new(Code::OutcomeUnknown, message).hint(format!("{advice}; {next}"));

    match check.probe {
        Probe::Unavailable(_) => unknown,
        _ => unknown.detail("looking_failed", json!(failure.code)),
    }
}
