//! Callers that repeat themselves: a call that equals one whose outcome nobody knows (no answer, a failure of the service
//! or an answer that says nothing) is not sent before somebody has looked whether that one happened.
//!
//! What is found is told once; who calls again then means it.

use std::time::Duration;

use serde_json::{Value, json};

mod alike;
mod equality;
mod look;
mod memory;
mod moment;

pub(super) use memory::Memory;

use self::{
    equality::Call,
    look::{Seen, Since},
    memory::Doubt,
    moment::Moment,
};
use super::{Gateway, Prepared, Ready};
use crate::{
    catalog::Entry,
    failure::{Code, Failure},
    operation::{Fields, Look, Trace},
    reply::Reply,
};

/// Time that a write has at the least: with less it is not begun, for its outcome would likely stay unknown. Looking ends
/// so long before the whole call.
const FOR_THE_WRITE: Duration = Duration::from_secs(10);

/// Most records that a failure shows.
const MOST_SHOWN: usize = 5;

impl Gateway {
    /// Calls an operation, unless the call repeats one that seems to have happened.
    pub(super) async fn call_once(&self, entry: &'static Entry, arguments: Fields) -> Result<Reply, Failure> {
        let ready = self.ready()?;
        let prepared = ready.prepared(entry, arguments).await?;
        let Some(trace) = left_by(entry, &prepared.arguments) else { return ready.sent(prepared).await };
        if prepared.call.left() < FOR_THE_WRITE {
            return Err(too_late(entry));
        }
        let now = Moment::now(&*self.clock);
        let call = Call::of(entry.name, prepared.project.as_deref(), &prepared.arguments);
        let Some(mut attempt) = ready.memory.begin(call, now) else { return Err(under_way(entry)) };
        if let Some(doubt) = attempt.doubt() {
            let ago = Ago::of(doubt, now);
            let seen = ready.look(trace, &prepared, &Since { first: ago.first, now: now.date }).await;
            let is_settled = match &seen {
                Ok(seen) => !matches!(seen, Seen::Nothing),
                Err(failure) => !passes(failure),
            };
            if is_settled {
                attempt.settle();
            }
            match seen {
                Ok(Seen::Nothing) => {}
                Ok(Seen::Done(reply)) => return Ok(reply),
                Ok(Seen::Records(found)) => return Err(found_again(entry, trace, &found, ago)),
                Err(failure) => return Err(unseen(entry, trace, &failure, ago)),
            }
        }
        attempt.sends(Moment::now(&*self.clock));
        let outcome = ready.sent(prepared).await;
        if !outcome.as_ref().is_err_and(|failure| failure.is_in_doubt) {
            attempt.settle();
        }
        outcome
    }
}

/// How long ago the first and the last of the equal calls were sent.
#[derive(Clone, Copy, Debug)]
struct Ago {
    first: Duration,
    last: Duration,
}

impl Ago {
    fn of(doubt: Doubt, now: Moment) -> Self {
        Self { first: now.since(doubt.first), last: now.since(doubt.last) }
    }
}

impl std::fmt::Display for Ago {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} s ago", self.last.as_secs())
    }
}

/// Where a call would be seen; `None`: it may be sent as often as anybody likes.
fn left_by(entry: &Entry, arguments: &Fields) -> Option<&'static Trace> {
    if (entry.repeatable)(arguments) {
        return None;
    }
    entry.traces.iter().find(|trace| trace.with.is_none_or(|name| arguments.contains_key(name)))
}

/// Whether looking may work the next time.
fn passes(failure: &Failure) -> bool {
    // An export under way comes to an end.
    failure.is_passing() || failure.code == Code::Conflict
}

fn too_late(entry: &Entry) -> Failure {
    let message = format!("{}: not sent: too little time is left of that for one call", entry.name);
    Failure::new(Code::Timeout, message).hint("nothing was sent: call again")
}

fn under_way(entry: &Entry) -> Failure {
    let message = format!(
        "{}: not sent: an equal call, which repeats one of unknown outcome, is under way",
        entry.name
    );
    Failure::new(Code::Conflict, message).hint("wait for its answer")
}

fn found_again(entry: &Entry, trace: &Trace, found: &[Value], ago: Ago) -> Failure {
    let undated = match trace.look {
        Look::List(list) if list.made.is_none() => {
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
fn unseen(entry: &Entry, trace: &Trace, failure: &Failure, ago: Ago) -> Failure {
    let message =
        format!("{}: not sent: the outcome of the equal call of {ago} is unknown, and {failure}", entry.name);
    let advice = match trace.look {
        Look::List(list) => format!("look with `{}`", list.list),
        Look::Again { argument, value, .. } => {
            format!("call with `{argument}: {value}`, which never does it twice")
        }
        Look::Nowhere(_) => trace.advice.to_owned(),
    };
    let more = if passes(failure) {
        "; or call again later"
    } else {
        "; to do it again all the same, call once more"
    };
    let unseen = Failure::new(Code::OutcomeUnknown, message).hint(format!("{advice}{more}"));
    match trace.look {
        Look::Nowhere(_) => unseen,
        _ => unseen.detail("looking_failed", json!(failure.code)),
    }
}

impl Ready {
    /// Looks whether a call has happened.
    async fn look(&self, trace: &Trace, prepared: &Prepared<'_>, since: &Since) -> Result<Seen, Failure> {
        let failed = |failure: Failure, with: &str| {
            let message = format!("looking with `{with}` failed: {failure}");
            Failure { message, ..failure }
        };
        match trace.look {
            Look::List(list) => {
                let found = self.listed(&list, prepared, since).await;
                found.map(Seen::of).map_err(|failure| failed(failure, list.list))
            }
            Look::Again { argument, value, found } => {
                let mut again = prepared.clone();
                again.arguments.insert(argument.to_owned(), Value::Bool(value));
                let reply = self.sent(again).await;
                let reply = reply.map_err(|failure| failed(failure, &format!("{argument}: {value}")))?;
                let is_found = reply.value().get(found) == Some(&Value::Bool(true));
                Ok(if is_found { Seen::Records(vec![reply.value().clone()]) } else { Seen::Done(reply) })
            }
            Look::Nowhere(what) => {
                Err(Failure::new(Code::NotFound, format!("nothing in the service shows {what}")))
            }
        }
    }
}
