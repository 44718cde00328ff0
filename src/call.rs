//! One call of one operation: argument check, project scope, request, reply.
//!
//! [`Caller::call`] is the path of a call. It uses, in this order, `arguments`, `scope`, `sender` and `reply`.

pub mod arguments;
mod artifact;
mod caller;
mod files;
mod ids;
pub mod limit;
pub mod paging;
mod pictures;
pub mod reply;
pub mod scope;
mod selection;
mod sender;

use std::{mem::take, sync::Arc};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_with::skip_serializing_none;
use tokio::time::Instant;

pub(crate) use self::sender::LONG_WORK;
pub use self::{
    arguments::{CheckedArguments, CommonArguments, ToolArguments},
    artifact::Artifact,
    ids::{id_fields, values},
    reply::Reply,
};
use self::{
    reply::{ReplySettings, ReplySource},
    scope::{Scope, ids_of_call},
    sender::{RequestSender, on_other_thread},
};
use crate::{
    client::{ApiKey, CALL_LIMIT, Client, ClientConfig},
    clock::Clock,
    failure::{Cause, Code, Failure},
    fields::text_at,
    service::{
        catalog::{self, OperationEntry},
        record_kind::ResultId,
        request::Request,
        tool::Access,
    },
    text::quoted_name,
};

/// What the model does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: compare with `details.current`, then call again with only your changed fields, and with `details.latest_version` as `expected_version`";

/// Argument with the changed fields of a record.
const PATCH: &str = "patch";

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
    pub(crate) scope: Scope,
    /// The only permissions that calls may need; `None` for all that the key has.
    permissions: Option<Arc<[String]>>,
    /// The signed-in user of the calls; `None` if the key itself identifies who calls.
    user: Option<Arc<User>>,
    /// Address of the main API.
    base_url: Arc<str>,
    reply_settings: Arc<ReplySettings>,
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

impl Caller {
    /// Calls an operation.
    ///
    /// # Errors
    /// Every failure of the operation; `outcome_unknown` if the answer to a writing request is missing.
    pub fn call(
        &self,
        operation: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> BoxFuture<'_, Result<Reply, Failure>> {
        // In a box, because the futures of all tools contain those of their calls.
        Box::pin(async move {
            let mut checked = self.check(operation, arguments)?;
            let (is_dry_run, is_confirmed) = (checked.is_dry_run, checked.is_confirmed);
            let warnings = take(&mut checked.warnings);
            let selection = checked.selection.take();

            let sender = self.sender(operation.access).await?;
            let mut ids = ids_of_call(operation, &checked.own);
            let request = self.request(&sender, operation, checked, &ids).await?;
            if is_dry_run {
                return Ok(Reply::of_dry_run(&request).with_warnings(&warnings));
            }
            if !is_confirmed {
                self.check_losses(&request, &sender).await?;
            }

            let response = sender.send(&request).await?;
            if !request.is_success(response.status) {
                let failure = sender.refusal(&request, &response);
                return Err(self.with_current_record(failure, &request, &sender).await);
            }

            let (request, response) = files::with_whole_picture(&sender, request, response).await?;
            let takes_long = reply::takes_long(&request, &response);
            let (key, settings, deadline) = (sender.key, Arc::clone(&self.reply_settings), sender.deadline);
            let convert =
                move || Reply::new(&request, &response, &key, &settings, selection.as_ref(), deadline);
            let (reply, answered) = if takes_long { on_other_thread(convert).await? } else { convert()? };

            ids.extend(answered);
            self.scope.remember(reply.project(), ids);
            Ok(reply.with_warnings(&warnings))
        })
    }

    /// Returns the request of a call that is not sent.
    ///
    /// # Errors
    /// Every failure of the call before its request.
    pub async fn preview(
        &self,
        operation: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<RequestPreview, Failure> {
        let checked = self.check(operation, arguments)?;
        let sender = self.sender(operation.access).await?;
        let ids = ids_of_call(operation, &checked.own);
        Ok(RequestPreview::new(&self.request(&sender, operation, checked, &ids).await?))
    }

    /// Returns the project that calls of `operation` without ids go to; `None` if the key decides it.
    ///
    /// # Errors
    /// `permission_denied`, `project_scope_mismatch`, `project_required`, or the failure of a look-up.
    pub async fn resolve_project(
        &self,
        operation: &'static OperationEntry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        self.check_permitted(operation, requested)?;
        let sender = self.sender(operation.access).await?;
        self.scope.resolve(&sender, operation, requested, &[]).await
    }

    /// Starts a call: gets the key and sets the deadline. The deadline does not include the time to get the key.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key and the call needs one.
    async fn sender(&self, access: Access) -> Result<RequestSender<'_>, Failure> {
        let key = self.client.key().await;
        Ok(RequestSender {
            client: &self.client,
            key: if access == Access::NoKey { key.unwrap_or_else(|_| ApiKey::absent()) } else { key? },
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.reply_settings.tmsys_name,
        })
    }

    /// Finds the project of a call, which has these ids, and lays out its request.
    ///
    /// # Errors
    /// The failures of the search for the project, and `invalid_arguments` if the address becomes too long.
    async fn request(
        &self,
        sender: &RequestSender<'_>,
        operation: &'static OperationEntry,
        checked: CheckedArguments,
        ids: &[ResultId],
    ) -> Result<Request, Failure> {
        let requested = checked.project_id.as_deref();
        let resolved = self.scope.resolve(sender, operation, requested, ids).await;
        let project = resolved.map_err(|failure| match self.scope.project() {
            None if !operation.effect.is_read_only() => with_nothing_changed(failure),
            _ => failure,
        })?;

        sender.request(operation, checked.own, project.as_deref())
    }

    /// Returns `failure` with the current record in the detail `current`, if `request` was refused because of its
    /// version and the record can be read. The caller then needs no further call to merge the change.
    async fn with_current_record(
        &self,
        failure: Failure,
        request: &Request,
        sender: &RequestSender<'_>,
    ) -> Failure {
        if failure.facts.cause != Some(Cause::StaleRecord) {
            return failure;
        }

        let Ok(Some(record)) = self.read_current_record(request, sender).await else { return failure };
        let source = ReplySource::Call(request.operation);
        let (current, _) = record.into_limited(self.reply_settings.max_reply_chars, source);
        failure.hint(MERGE).detail("current", current)
    }

    /// Refuses a patch that makes a list of the current record shorter, if a user must agree to it: the service replaces a list
    /// as a whole. Only a patch with such a list reads the record.
    async fn check_losses(&self, request: &Request, sender: &RequestSender<'_>) -> Result<(), Failure> {
        let names = request.operation.request.asks_if_shorter;
        let lists = request.arguments.get(PATCH).map(|patch| lists(patch, names)).unwrap_or_default();
        if lists.is_empty() || !self.requires_confirmation {
            return Ok(());
        }
        let Some(current) = self.read_current_record(request, sender).await? else { return Ok(()) };

        let losses = lists.iter().filter_map(|(path, kept)| {
            let list = path.iter().try_fold(current.value(), |value, name| value.get(name))?;
            let count = list.as_array()?.len();
            (count > *kept)
                .then(|| format!("{} of {count} entries of {}", count - kept, quoted_name(&path.join("."))))
        });
        let losses = losses.collect::<Vec<_>>().join(", ");
        if losses.is_empty() {
            return Ok(());
        }

        self.require_agreement(false, || {
            let quoted = |name| quoted_name(text_at(current.value(), name).unwrap_or("unknown"));
            let [record, project] = ["name", "project_id"].map(quoted);
            format!("{} removes {losses} from {record} in project {project}", request.operation.name)
        })
    }

    /// Reads the record that `request` changes. Returns `None` if the operation names no way to read it.
    async fn read_current_record(
        &self,
        request: &Request,
        sender: &RequestSender<'_>,
    ) -> Result<Option<Reply>, Failure> {
        let Some(reading) = request.operation.request.current_record.and_then(catalog::find) else {
            return Ok(None);
        };
        let id = |name: &'static str| Some((name.to_owned(), request.arguments.get(name)?.clone()));
        let arguments = reading.request.path_fields().filter_map(id).collect();

        let request = sender.request(reading, arguments, request.project.as_deref())?;
        let response = sender.send_successfully(&request).await?;
        let settings = &self.reply_settings;
        let (reply, _) = Reply::new(&request, &response, &sender.key, settings, None, sender.deadline)?;

        Ok(Some(reply))
    }
}

/// A request that was not sent.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RequestPreview {
    /// HTTP method.
    pub method: String,
    /// Below the address of the service.
    pub path: String,
    /// Absent if the key decides.
    pub project_id: Option<String>,
    /// JSON body.
    pub body: Option<Value>,
}

impl RequestPreview {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            method: request.operation.request.method.to_string(),
            path: request.target.clone(),
            project_id: request.project.clone(),
            body: request.body.as_deref().and_then(|body| serde_json::from_slice(body).ok()),
        }
    }
}

/// Returns the path and the length of each list in `patch` with one of these names, at any depth. Null is an empty list.
fn lists<'a>(patch: &'a Value, names: &[&str]) -> Vec<(Vec<&'a str>, usize)> {
    let fields = patch.as_object().into_iter().flatten();
    let found = fields.flat_map(|(name, value)| {
        if names.contains(&name.as_str()) {
            return vec![(vec![name.as_str()], value.as_array().map_or(0, Vec::len))];
        }
        let below = lists(value, names).into_iter();
        below.map(|(path, length)| ([&[name.as_str()], &path[..]].concat(), length)).collect()
    });
    found.collect()
}

/// Adds to the failure of a writing call that nothing was changed.
fn with_nothing_changed(mut failure: Failure) -> Failure {
    if matches!(failure.code, Code::ProjectScopeMismatch | Code::ProjectNotResolved) {
        failure.message.push_str("; nothing was changed");
    }
    failure
}
