//! Sends the request of a call and makes the reply.

use serde_json::Value;

use super::{
    Caller, PreparedCall, files,
    reply::{Conversion, Reply, ReplySource},
    request::{OperationRequest, RequestSender},
};
use crate::{failure::Failure, service::catalog};

/// What the model does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: merge your change into `details.current`, and call again with its `version`";

impl Caller {
    /// Sends the request of a call, unless its answer is already known, and makes the reply.
    ///
    /// # Errors
    /// Every failure of the operation.
    pub(super) async fn execute(&self, call: PreparedCall<'_>) -> Result<Reply, Failure> {
        let PreparedCall { mut request, sender, ids, project, selection, answer } = call;
        let mut answer = match answer {
            Some(answer) => answer,
            None => sender.send(&request, project.as_deref()).await?,
        };
        if !answer.is_success(request.entry) {
            let failure = sender.refusal(&request, project.as_deref(), &answer.response);
            return Err(self.with_current_record(failure, &request, &sender, project.as_deref()).await);
        }

        // A part of a picture cannot be decoded, so that the complete file is requested.
        let full = files::full_picture_arguments(request.entry, &request.arguments, &answer.response);
        if let Some(arguments) = full {
            request = sender.request(request.entry, arguments)?;
            answer = sender.send_successfully(&request, project.as_deref()).await?;
        }

        let takes_pages = request.entry.takes_pages();
        let (key, settings) = (sender.key.clone(), self.reply_settings.clone());
        let (mut reply, found_ids) = Conversion { request, answer, key, settings, selection }.run().await?;
        if let Some(project) = &project {
            // The project has answered for these ids, so that it owns them.
            self.scope.remember_owner(project, ids.into_iter().chain(found_ids));
        }
        if takes_pages {
            reply.add_next_page();
        }

        Ok(reply.with_decoded_pictures(sender.deadline).await.with_project(project))
    }

    /// Returns `failure` with the current record in the detail `current`, if `request` was refused because of its version
    /// and the record can be read. The caller then needs no further call to merge the change.
    async fn with_current_record(
        &self,
        failure: Failure,
        request: &OperationRequest,
        sender: &RequestSender<'_>,
        project: Option<&str>,
    ) -> Failure {
        if !failure.facts.is_stale {
            return failure;
        }

        match self.read_current_record(request, sender, project).await {
            Some(record) => failure.hint(MERGE).detail("current", record),
            None => failure,
        }
    }

    /// Reads the record that `request` changes, cut to the length of a reply. Returns `None` if the record cannot be read.
    async fn read_current_record(
        &self,
        request: &OperationRequest,
        sender: &RequestSender<'_>,
        project: Option<&str>,
    ) -> Option<Value> {
        let entry = catalog::find(request.entry.request.current_record?)?;
        let id = |name: &'static str| Some((name.to_owned(), request.arguments.get(name)?.clone()));
        let arguments = entry.request.path_fields().filter_map(id).collect();

        let request = sender.request(entry, arguments).ok()?;
        let answer = sender.send_successfully(&request, project).await.ok()?;
        let (key, settings) = (sender.key.clone(), self.reply_settings.clone());
        let max_chars = settings.max_reply_chars;
        let (reply, _) = Conversion { request, answer, key, settings, selection: None }.run().await.ok()?;

        // A long record is cut off the serving thread. The failure is then cut on it.
        Some(reply.into_limited(max_chars, ReplySource::Call(entry)).await.0)
    }
}
