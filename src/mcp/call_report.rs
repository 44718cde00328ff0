//! What a transport learns of a call beside its result, for its log.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::{RoleServer, service::RequestContext};

use crate::{
    call::{RecordId, record_ids, reply::Reply},
    failure::{Code, Failure},
    fields::Fields,
    service::tool::ToolDefinition,
};

/// Largest number of ids of one call that are reported.
const MAX_IDS: usize = 32;

/// The report of one call, in the extensions of its request. The transport that inserts it reads it after the call.
#[derive(Clone, Debug, Default)]
pub struct CallReport(Arc<Mutex<CallFacts>>);

/// What is known of a call after its end.
#[derive(Clone, Debug, Default)]
pub struct CallFacts {
    /// Code of the failure; `None` after a success.
    pub code: Option<Code>,
    /// The project that the request to the service named.
    pub project: Option<String>,
    /// The records that a writing call names, or has made.
    pub ids: Vec<RecordId>,
}

impl CallReport {
    /// Returns the report that the transport of a request wants.
    pub(super) fn wanted(context: &RequestContext<RoleServer>) -> Option<Self> {
        context.extensions.get::<Self>().cloned()
    }

    /// Notes the records that the arguments of a writing call name.
    pub(super) fn note_arguments(&self, tool: &ToolDefinition, arguments: Option<&Fields>) {
        if let Some(arguments) = arguments.filter(|_| !tool.effect.is_read_only()) {
            self.lock().ids = record_ids(arguments, MAX_IDS);
        }
    }

    /// Notes how a call has ended.
    pub(super) fn note_outcome(&self, tool: &ToolDefinition, outcome: &Result<Reply, Failure>) {
        let mut facts = self.lock();
        match outcome {
            Ok(reply) => {
                facts.project = reply.project().map(str::to_owned);
                if let Some(answer) = reply.value().as_object().filter(|_| !tool.effect.is_read_only()) {
                    let more = record_ids(answer, MAX_IDS - facts.ids.len());
                    let new: Vec<_> = more.into_iter().filter(|id| !facts.ids.contains(id)).collect();
                    facts.ids.extend(new);
                }
            }
            Err(failure) => facts.code = Some(failure.code),
        }
    }

    /// Returns what is known of the call.
    pub fn facts(&self) -> CallFacts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, CallFacts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
