//! Checks with the service whether a call has happened.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{configured::ConfiguredGateway, sending::PreparedCall};
use crate::{
    call::{duplicate_guard::TimeWindow, reply::Reply},
    failure::{Code, Failure},
    service::operation::{DuplicateCheck, Probe},
};

/// Which records can be the result of the earlier calls.
pub(super) struct ProbeContext {
    pub(super) window: TimeWindow,
    /// Ids, in lower case, of records that the earlier calls have not made.
    pub(super) issued_ids: BTreeSet<String>,
}

/// What the service shows about a call.
pub(super) enum ProbeOutcome {
    /// The call has not happened.
    NotHappened,
    /// The call had not happened. The check itself has performed it.
    HappenedNow(Box<Reply>),
    /// Records that the call has probably made; never empty.
    Found(Vec<Value>),
}

impl ConfiguredGateway {
    /// Checks with the service whether `call` has happened.
    ///
    /// # Errors
    /// The failure of the request; `not_found` if no operation of the service shows the results of such calls.
    pub(super) async fn probe(
        &self,
        check: &DuplicateCheck,
        call: &PreparedCall<'_>,
        context: &ProbeContext,
    ) -> Result<ProbeOutcome, Failure> {
        let with_request = |failure: Failure, request: &str| {
            let message = format!("the check with `{request}` failed: {failure}");
            Failure { message, ..failure }
        };

        match check.probe {
            Probe::List(list) => {
                let found = self.find_new_records(&list, call, context).await;
                let found = found.map_err(|failure| with_request(failure, list.list))?;
                Ok(if found.is_empty() { ProbeOutcome::NotHappened } else { ProbeOutcome::Found(found) })
            }
            Probe::Repeat { argument, value, found } => {
                let reply = self.execute_with(call, argument, value).await;
                let reply =
                    reply.map_err(|failure| with_request(failure, &format!("{argument}: {value}")))?;
                // The operation creates the record if there is none, and states whether there was one.
                let is_found = reply.value().get(found) == Some(&Value::Bool(true));
                Ok(if is_found {
                    ProbeOutcome::Found(vec![reply.into_value()])
                } else {
                    ProbeOutcome::HappenedNow(Box::new(reply))
                })
            }
            Probe::Unavailable(what) => {
                Err(Failure::new(Code::NotFound, format!("no operation of the service shows {what}")))
            }
        }
    }

    /// Executes a call with another value of one argument.
    async fn execute_with(
        &self,
        call: &PreparedCall<'_>,
        argument: &str,
        value: bool,
    ) -> Result<Reply, Failure> {
        let mut arguments = call.request.arguments.clone();
        arguments.insert(argument.to_owned(), Value::Bool(value));
        let request = call.context.request(call.request.entry, arguments)?;
        self.execute(PreparedCall { request, ..call.clone() }).await
    }
}
