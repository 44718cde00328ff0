//! Changes that the service refuses because another writer has changed the record meanwhile.

use serde_json::Value;

use super::{configured::ConfiguredGateway, sending::Conversion};
use crate::{
    call::{context::CallContext, operation_request::OperationRequest, reply::ReplySource},
    failure::Failure,
    service::catalog,
};

/// What the caller does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: merge your change into `details.current`, and call again with its `version`";

impl ConfiguredGateway {
    /// Returns `failure` with the current record in the detail `current`, if `request` was refused because of its version
    /// and the record can be read. The caller then needs no further call to merge the change.
    pub(super) async fn with_current_record(
        &self,
        failure: Failure,
        request: &OperationRequest,
        context: &CallContext<'_>,
        project: Option<&str>,
    ) -> Failure {
        if !failure.facts.is_stale {
            return failure;
        }

        match self.read_current_record(request, context, project).await {
            Some(record) => failure.hint(MERGE).detail("current", record),
            None => failure,
        }
    }

    /// Reads the record that `request` changes, cut to the length of a reply. Returns `None` if the record cannot be read.
    async fn read_current_record(
        &self,
        request: &OperationRequest,
        context: &CallContext<'_>,
        project: Option<&str>,
    ) -> Option<Value> {
        let entry = catalog::find(request.entry.request.current_record?)?;
        let id = |name: &'static str| Some((name.to_owned(), request.arguments.get(name)?.clone()));
        let arguments = entry.request.path_fields().filter_map(id).collect();

        let request = context.request(entry, arguments).ok()?;
        let answer = context.send_successfully(&request, project).await.ok()?;
        let conversion = Conversion { request, answer, key: context.key.clone(), selection: None };
        let (reply, _) = self.convert(conversion).await.ok()?;

        // A long record is cut off the serving thread. The failure is then cut on it.
        let max_chars = self.reply_limits().max_reply_chars;
        let (record, _) = reply.into_limited(max_chars, ReplySource::Call(entry)).await;
        Some(record)
    }
}
