//! Failures of calls that were not sent because they could have a second effect.

use std::time::Duration;

use serde_json::{Value, json};

use super::{clock_reading::ClockReading, uncertain_attempt::UncertainAttempt};
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

/// Returns the failure of a write for which the owner look-up has left too little time.
pub(in crate::call) fn too_little_time(entry: &OperationEntry) -> Failure {
    let message = format!("{}: not sent: too little of the time limit of the call is left", entry.name);
    Failure::new(Code::Timeout, message).hint("nothing was sent: call again")
}

/// Returns the failure of a call while an equal call is in progress that repeats an uncertain attempt.
pub(in crate::call) fn equal_call_in_flight(entry: &OperationEntry) -> Failure {
    let message = format!(
        "{}: not sent: an equal call is in progress, and it repeats a call of unknown outcome",
        entry.name
    );
    Failure::new(Code::Conflict, message).hint("wait for the answer of that call")
}

/// Returns the failure of a call for which the service shows the records `found`. The earlier call has probably made them.
pub(in crate::call) fn probably_happened(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    found: &[Value],
    elapsed: Elapsed,
) -> Failure {
    let undated = match check.probe {
        Probe::List(list) if list.created_at.is_none() => {
            "; the list does not contain creation times, so that the records may also be older"
        }
        _ => "",
    };
    let message = format!(
        "{}: not sent: the equal call {elapsed} had an unknown outcome and seems to have happened{undated}",
        entry.name
    );
    let hint = format!("see `details.found`: {}; to repeat the call anyway, call again", check.advice);
    let shown: Vec<_> = found.iter().take(MAX_SHOWN_RECORDS).collect();

    Failure::new(Code::Conflict, message)
        .hint(hint)
        .detail("found", json!(shown))
        .detail("found_count", found.len())
}

/// Returns the failure of a call whose earlier equal call could not be looked up. `may_pass` tells whether a later look-up
/// may succeed.
pub(in crate::call) fn probe_failed(
    entry: &OperationEntry,
    check: &DuplicateCheck,
    failure: &Failure,
    elapsed: Elapsed,
    may_pass: bool,
) -> Failure {
    let message = format!(
        "{}: not sent: the outcome of the equal call {elapsed} is unknown, and {failure}",
        entry.name
    );
    let advice = match check.probe {
        Probe::List(list) => format!("check with `{}`", list.list),
        Probe::Repeat { argument, value, .. } => {
            format!("call with `{argument}: {value}`, which cannot have a second effect")
        }
        Probe::Unavailable(_) => check.advice.to_owned(),
    };
    let next = if may_pass { "or call again later" } else { "to repeat the call anyway, call again" };
    let unknown = Failure::new(Code::OutcomeUnknown, message).hint(format!("{advice}; {next}"));

    match check.probe {
        Probe::Unavailable(_) => unknown,
        _ => unknown.detail("looking_failed", json!(failure.code)),
    }
}
