//! One call of one operation: argument check, project scope, request, reply.
//!
//! [`Caller::call`] is the path of a call. It uses, in this order, `arguments`, `scope`, `request` and `reply`.

pub mod arguments;
mod artifact;
mod caller;
mod dry_run;
mod files;
mod ids;
pub mod limit;
mod links;
pub mod paging;
mod pictures;
pub mod reply;
mod request;
pub mod scope;
mod selection;

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

pub(crate) use self::request::LONG_WORK;
pub use self::{
    arguments::CheckedArguments,
    artifact::{Artifact, OpenRefusal},
    dry_run::RequestPreview,
    ids::{RecordId, record_ids},
};
use self::{
    arguments::ToolArguments,
    reply::{Conversion, FieldSelection, Reply, ReplySettings, ReplySource},
    request::{OperationRequest, RequestSender},
    scope::Scope,
};
use crate::{
    client::{ApiKey, CALL_LIMIT, Client, ClientConfig},
    clock::Clock,
    failure::{Cause, Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        result_kind::ResultId,
        tool::PROJECT_ID,
    },
    violation::Violation,
};

/// What the model does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: compare with `details.current`, then call again with only your changed fields, and with `details.latest_version` as `expected_version`";

/// The service, its projects and the rules of this server that every call follows.
#[derive(Debug)]
pub struct CallConfig {
    /// Hosts, key and limits.
    pub client: ClientConfig,
    /// The project of project scope; `None` for global scope.
    pub project: Option<String>,
    /// Projects in which an organization key looks for ids.
    pub projects: Vec<String>,
    /// The deployment's word for the test-management system.
    pub tmsys_name: String,
    /// Longest reply, in characters.
    pub max_reply_chars: usize,
    /// Whether irreversible or costly calls need the agreement of a user.
    pub asks_first: bool,
    /// Whether calls that change anything are refused.
    pub read_only: bool,
}

/// Calls operations of the service with one API key, in one project scope. The clones share the client, and what was
/// learned with the key.
#[derive(Clone, Debug)]
pub struct Caller {
    client: Arc<Client>,
    scope: Scope,
    /// The only permissions that calls may need; `None` for all that the key has.
    permissions: Option<Arc<[String]>>,
    /// The signed-in user of the calls; `None` if the key itself identifies who calls.
    user: Option<Arc<User>>,
    /// Address of the main API.
    base_url: Arc<str>,
    reply_settings: ReplySettings,
    /// Whether irreversible or costly calls need the agreement of a user.
    requires_confirmation: bool,
    is_read_only: bool,
    clock: Arc<dyn Clock>,
}

/// A signed-in user. All callers of one user derive the same secrets, so that a token of one is valid for the others.
#[derive(Debug)]
pub struct User {
    /// Identifies the user.
    pub principal: String,
    /// The key from which the secrets are derived.
    pub key: ApiKey,
}

/// A call whose arguments are checked. Its project is not known yet.
struct CheckedCall {
    entry: &'static OperationEntry,
    arguments: Fields,
    /// The project that the arguments name.
    requested: Option<String>,
    /// The ids in the arguments that identify the project.
    ids: Vec<ResultId>,
    selection: Option<FieldSelection>,
    /// What the service may not understand as the caller means it.
    warnings: Vec<Violation>,
}

/// A call whose arguments are checked and whose project is known.
struct PreparedCall<'a> {
    request: OperationRequest,
    sender: RequestSender<'a>,
    /// The ids in the arguments that identify the project.
    ids: Vec<ResultId>,
    project: Option<String>,
    selection: Option<FieldSelection>,
}

impl Caller {
    /// Calls an operation.
    ///
    /// # Errors
    /// Every failure of the operation; `outcome_unknown` if the answer to a writing request is missing.
    pub async fn call(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<Reply, Failure> {
        let is_dry_run = arguments.common.is_dry_run;
        let mut checked = self.check_call(entry, arguments)?;
        let warnings = std::mem::take(&mut checked.warnings);
        let call = self.prepare(checked).await?;

        let reply = if is_dry_run { Self::dry_run(&call) } else { Box::pin(self.execute(call)).await? };

        Ok(reply.with_warnings(&warnings))
    }

    /// Returns the project that calls of `entry` without ids go to; `None` if the key decides it.
    ///
    /// # Errors
    /// `permission_denied`, `project_scope_mismatch`, `project_required`, or the failure of a look-up.
    pub async fn resolve_project(
        &self,
        entry: &'static OperationEntry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        self.check_permitted(entry, requested)?;
        let sender = self.sender().await?;
        self.scope.resolve(&sender, entry, requested, &[]).await
    }

    /// Starts a call: gets the key and sets the deadline. The deadline does not include the time to get the key.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    async fn sender(&self) -> Result<RequestSender<'_>, Failure> {
        Ok(RequestSender {
            client: &self.client,
            key: self.client.key().await?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.reply_settings.tmsys_name,
        })
    }

    /// Finds the project of a checked call, and lays out its request.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key, the failures of the search for the project, and `invalid_arguments` if
    /// the address becomes too long.
    async fn prepare(&self, checked: CheckedCall) -> Result<PreparedCall<'_>, Failure> {
        let CheckedCall { entry, mut arguments, requested, ids, selection, .. } = checked;
        let sender = self.sender().await?;
        let resolved = Box::pin(self.scope.resolve(&sender, entry, requested.as_deref(), &ids)).await;
        let project = resolved.map_err(|failure| match self.scope.project() {
            None if !entry.effect.is_read_only() => with_nothing_changed(failure),
            _ => failure,
        })?;

        // Some requests carry the project in their path or body.
        if let Some(project) = project.as_ref().filter(|_| entry.request.names_project()) {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }
        let request = sender.request(entry, arguments)?;

        Ok(PreparedCall { request, sender, ids, project, selection })
    }

    /// Sends the request of a call, and makes the reply.
    async fn execute(&self, call: PreparedCall<'_>) -> Result<Reply, Failure> {
        let PreparedCall { mut request, sender, ids, project, selection } = call;
        let mut answer = sender.send(&request, project.as_deref()).await?;
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

        let (key, settings) = (sender.key.clone(), self.reply_settings.clone());
        let (reply, found_ids) = Conversion { request, answer, key, settings, selection }.run().await?;
        let ids: Vec<_> = ids.into_iter().chain(found_ids).collect();
        self.scope.remember_seen(&ids);
        if let Some(project) = &project {
            // The project has answered for these ids, so that it owns them.
            self.scope.remember_owner(project, ids);
        }

        Ok(reply.with_decoded_pictures(sender.deadline).await.with_project(project))
    }

    /// Returns `failure` with the current record in the detail `current`, if `request` was refused because of its
    /// version and the record can be read. The caller then needs no further call to merge the change.
    async fn with_current_record(
        &self,
        failure: Failure,
        request: &OperationRequest,
        sender: &RequestSender<'_>,
        project: Option<&str>,
    ) -> Failure {
        if failure.facts.cause != Some(Cause::StaleRecord) {
            return failure;
        }

        let Ok(Some(record)) = self.read_current_record(request, sender, project).await else {
            return failure;
        };
        let (max_chars, source) = (self.reply_settings.max_reply_chars, ReplySource::Call(request.entry));
        failure.hint(MERGE).detail("current", record.into_limited(max_chars, source).0)
    }

    /// Reads the record that `request` changes. Returns `None` if the operation names no way to read it.
    async fn read_current_record(
        &self,
        request: &OperationRequest,
        sender: &RequestSender<'_>,
        project: Option<&str>,
    ) -> Result<Option<Reply>, Failure> {
        let Some(entry) = request.entry.request.current_record.and_then(catalog::find) else {
            return Ok(None);
        };
        let id = |name: &'static str| Some((name.to_owned(), request.arguments.get(name)?.clone()));
        let arguments = entry.request.path_fields().filter_map(id).collect();

        let request = sender.request(entry, arguments)?;
        let answer = sender.send_successfully(&request, project).await?;
        let (key, settings) = (sender.key.clone(), self.reply_settings.clone());
        let (reply, _) = Conversion { request, answer, key, settings, selection: None }.run().await?;

        Ok(Some(reply))
    }
}

/// Adds to the failure of a writing call that nothing was changed.
fn with_nothing_changed(mut failure: Failure) -> Failure {
    if matches!(failure.code, Code::ProjectScopeMismatch | Code::ProjectNotResolved) {
        failure.message.push_str("; nothing was changed");
    }
    failure
}
