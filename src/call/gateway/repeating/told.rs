//! What callers are told of a call that was not sent.

use std::time::Duration;

use serde_json::{Value, json};

use super::{memory::Doubt, moment::Moment, passes};
use crate::{
    failure::{Code, Failure},
    service::{
        catalog::OperationEntry,
        operation::{DuplicateCheck, Probe},
    },
};

/// Most records that a failure shows.
const MOST_SHOWN: usize = 5;

/// How long ago the first and the last of the equal calls were sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ago {
    pub(super) first: Duration,
    pub(super) last: Duration,
}

impl Ago {
    pub(super) fn of(doubt: Doubt, now: Moment) -> Self {
        Self { first: now.since(doubt.first), last: now.since(doubt.last) }
    }
}

impl std::fmt::Display for Ago {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} s ago", self.last.as_secs())
    }
}

/// Too little time is left.
pub(super) fn too_late(entry: &OperationEntry) -> Failure {
    let message = format!("{}: not sent: too little time is left of that for one call", entry.name);
    Failure::new(Code::Timeout, message).hint("nothing was sent: call again")
}

/// Somebody repeats the same call at this moment.
pub(super) fn under_way(entry: &OperationEntry) -> Failure {
    let message = format!(
        "{}: not sent: an equal call, which repeats one of unknown outcome, is under way",
        entry.name
    );
    Failure::new(Code::Conflict, message).hint("wait for its answer")
}

/// The first call seems to have happened.
pub(super) fn found_again(
    entry: &OperationEntry,
    trace: &DuplicateCheck,
    found: &[Value],
    ago: Ago,
) -> Failure {
    let undated = match trace.probe {
        Probe::List(list) if list.created_at.is_none() => {
            ", or it was there before: the list does not say since when"
        }
        _ => "",
    };

    let message = format!(
        "{}: not sent: the equal call of {ago} had no known outcome, and seems to have happened{undated}",
        entry.name
    );
    let shown: Vec<_> = found.iter().take(MOST_SHOWN).collect();

    Failure::new(Code::Conflict, message)
        .hint(format!("see `details.found`: {}; to do it again all the same, call once more", trace.advice))
        .detail("found", json!(shown))
        .detail("found_count", found.len())
}

/// Nobody could see whether it happened.
pub(super) fn unseen(entry: &OperationEntry, trace: &DuplicateCheck, failure: &Failure, ago: Ago) -> Failure {
    let message =
        format!("{}: not sent: the outcome of the equal call of {ago} is unknown, and {failure}", entry.name);
    let advice = match trace.probe {
        Probe::List(list) => format!("look with `{}`", list.list),
        Probe::Repeat { argument, value, .. } => {
            format!("call with `{argument}: {value}`, which never does it twice")
        }
        Probe::Unavailable(_) => trace.advice.to_owned(),
    };

    let more = if passes(failure) {
        "; or call again later"
    } else {
        "; to do it again all the same, call once more"
    };
    let unseen = Failure::new(Code::OutcomeUnknown, message).hint(format!("{advice}{more}"));

    match trace.probe {
        Probe::Unavailable(_) => unseen,
        _ => unseen.detail("looking_failed", json!(failure.code)),
    }
}
