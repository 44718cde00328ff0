//! Callers that repeat themselves: a call that equals one whose outcome nobody knows (no answer, a failure of the service
//! or an answer that says nothing) is not sent before somebody has looked whether that one happened.
//!
//! What is found is told once; who calls again then means it.

use std::time::Duration;

use serde_json::Value;

mod alike;
mod equality;
mod given;
mod look;
mod memory;
mod moment;
mod service_time;
mod told;

pub(super) use memory::Memory;

use self::{
    equality::Call,
    look::{Seen, Since},
    moment::Moment,
    told::{Ago, found_again, too_late, under_way, unseen},
};
use super::{Gateway, Ready, sending::Prepared};
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::OperationEntry,
        operation::{DuplicateCheck, Probe},
    },
};

/// Time that a write has at the least: with less it is not begun, for its outcome would likely stay unknown. Looking ends
/// so long before the whole call.
const FOR_THE_WRITE: Duration = Duration::from_secs(10);

impl Gateway {
    /// Calls an operation, unless the call repeats one that seems to have happened.
    pub async fn call_guarded(
        &self,
        entry: &'static OperationEntry,
        arguments: Fields,
    ) -> Result<Reply, Failure> {
        let ready = self.ready()?;
        let prepared = ready.prepared(entry, arguments, &*self.clock).await?;
        let Some(trace) = left_by(entry, &prepared.arguments) else { return ready.sent(prepared).await };
        if prepared.call.left() < FOR_THE_WRITE {
            return Err(too_late(entry));
        }

        let now = Moment::now(&*self.clock);
        let call = Call::of(entry.name, prepared.project.as_deref(), &prepared.arguments);
        let Some(mut attempt) = ready.memory.begin(call, &*self.clock) else { return Err(under_way(entry)) };

        if let Some(doubt) = attempt.doubt() {
            let ago = Ago::of(doubt, now);
            let since =
                Since { first: ago.first, sent: doubt.sent, now: now.date, given: attempt.given(doubt) };
            let seen = ready.look(trace, &prepared, &since).await;
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
                Ok(Seen::Records(found)) => {
                    attempt.tells(&found);
                    return Err(found_again(entry, trace, &found, ago));
                }
                Err(failure) => return Err(unseen(entry, trace, &failure, ago)),
            }
        }

        attempt.sends();
        let outcome = ready.sent(prepared).await;

        if let Ok(reply) = &outcome {
            attempt.makes(reply.value());
        }

        if !outcome.as_ref().is_err_and(|failure| failure.facts.is_uncertain) {
            attempt.settle();
        }

        outcome
    }
}

/// Where a call would be seen; `None`: it may be sent as often as anybody likes.
fn left_by(entry: &OperationEntry, arguments: &Fields) -> Option<&'static DuplicateCheck> {
    if entry.is_repeatable(arguments) {
        return None;
    }
    entry
        .request
        .duplicate_checks
        .iter()
        .find(|trace| trace.when_given.is_none_or(|name| arguments.contains_key(name)))
}

/// Whether looking may work the next time.
fn passes(failure: &Failure) -> bool {
    // An export under way comes to an end.
    failure.is_transient() || failure.code == Code::Conflict
}

impl Ready {
    /// Looks whether a call has happened.
    async fn look(
        &self,
        trace: &DuplicateCheck,
        prepared: &Prepared<'_>,
        since: &Since,
    ) -> Result<Seen, Failure> {
        let failed = |failure: Failure, with: &str| {
            let message = format!("looking with `{with}` failed: {failure}");
            Failure { message, ..failure }
        };
        match trace.probe {
            Probe::List(list) => {
                let found = self.listed(&list, prepared, since).await;
                found.map(Seen::of).map_err(|failure| failed(failure, list.list))
            }
            Probe::Repeat { argument, value, found } => {
                let mut again = prepared.clone();
                again.arguments.insert(argument.to_owned(), Value::Bool(value));
                let reply = self.sent(again).await;
                let reply = reply.map_err(|failure| failed(failure, &format!("{argument}: {value}")))?;
                let is_found = reply.value().get(found) == Some(&Value::Bool(true));
                Ok(if is_found { Seen::Records(vec![reply.value().clone()]) } else { Seen::Done(reply) })
            }
            Probe::Unavailable(what) => {
                Err(Failure::new(Code::NotFound, format!("nothing in the service shows {what}")))
            }
        }
    }
}
