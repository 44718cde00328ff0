//! Changes that the service refuses because another writer has changed the record meanwhile.

use crate::{
    call::{
        context::CallContext,
        operation_request::OperationRequest,
        reply::{Reply, ReplyLimits},
    },
    failure::Failure,
    fields::Fields,
    service::catalog,
};

/// What the caller does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: merge your change into `details.current`, and call again with its `version`";

/// A change that the service has refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct RefusedChange<'a> {
    pub(super) request: &'a OperationRequest,
    pub(super) context: &'a CallContext<'a>,
    pub(super) project: Option<&'a str>,
}

impl RefusedChange<'_> {
    /// Returns `failure` with the current record in the detail `current`, if the change was refused because of its version
    /// and the record can be read. The caller then needs no further call to merge the change.
    pub(super) async fn with_current_record(self, failure: Failure, limits: &ReplyLimits<'_>) -> Failure {
        if !failure.facts.is_stale {
            return failure;
        }

        match self.read_record(limits).await {
            Some(record) => failure.hint(MERGE).detail("current", record),
            None => failure,
        }
    }

    async fn read_record(self, limits: &ReplyLimits<'_>) -> Option<Fields> {
        let entry = catalog::find(self.request.entry.request.current_record?)?;
        let id = |name: &'static str| Some((name.to_owned(), self.request.arguments.get(name)?.clone()));
        let arguments = entry.request.path_fields().filter_map(id).collect();

        let request = self.context.request(entry, arguments).ok()?;
        let answer = self.context.send_successfully(&request, self.project).await.ok()?;
        let reply = Reply::new(&request, &answer, &self.context.key, limits).ok()?;

        reply.fields().cloned()
    }
}
