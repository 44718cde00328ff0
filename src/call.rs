//! One call of one operation: argument check, project scope, duplicate guard, request, reply.
//!
//! [`Caller::call_guarded`] is the path of a call. It uses, in this order, `arguments`, `scope`, `guard`, `execution`, `request`
//! and `reply`.

pub mod arguments;
mod artifact;
mod execution;
mod files;
mod guard;
mod ids;
pub mod limit;
mod links;
pub mod paging;
mod pictures;
pub mod reply;
mod request;
pub mod scope;
mod selection;
pub mod shared_store;

use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

pub use self::{
    arguments::CheckedArguments,
    artifact::{Artifact, OpenRefusal},
};
use self::{
    arguments::ToolArguments,
    guard::{CallDigest, Guard, duplicate_check},
    reply::{FieldSelection, Reply, ReplySettings},
    request::{Answer, OperationRequest, RequestSender},
    scope::{ResolvedProject, Scope, find_invalid_ids, owned_ids},
    shared_store::{CALLS, SharedStore},
};
use crate::{
    client::{ApiKey, CALL_LIMIT, Client, ClientConfig, HostProbe, KeyKind},
    clock::{Clock, SystemClock},
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        operation::UrlBase,
        result_kind::ResultId,
        tool::{Access, PROJECT_ID, ToolDefinition},
    },
};

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

/// Calls operations of the service with one API key, in one project scope. The clones share the client, and what was learned
/// with the key.
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
    /// Calls of unknown outcome.
    guard: Arc<Guard>,
    clock: Arc<dyn Clock>,
    /// What several processes remember together, if they share a store.
    shared_store: Option<Arc<dyn SharedStore>>,
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
    request: OperationRequest,
    /// The project that the arguments name.
    requested: Option<String>,
    /// The ids in the arguments that identify the project.
    ids: Vec<ResultId>,
    selection: Option<FieldSelection>,
}

/// A call whose arguments are checked and whose project is known.
#[derive(Clone)]
struct PreparedCall<'a> {
    request: OperationRequest,
    sender: RequestSender<'a>,
    /// The ids in the arguments that identify the project.
    ids: Vec<ResultId>,
    project: Option<String>,
    selection: Option<FieldSelection>,
    /// The answer, if the owner look-up has already sent the same request.
    answer: Option<Answer>,
}

impl Caller {
    /// Creates the caller that the settings describe.
    pub fn new(config: CallConfig) -> Self {
        let base_url = config.client.base_url.as_str().into();
        let client = Client::new(config.client);
        let reply_settings = ReplySettings {
            tmsys_name: config.tmsys_name,
            max_reply_chars: config.max_reply_chars,
            address_policy: client.address_policy(),
        };

        Self {
            client: Arc::new(client),
            scope: Scope::new(config.project, config.projects),
            permissions: None,
            user: None,
            base_url,
            reply_settings,
            requires_confirmation: config.asks_first,
            is_read_only: config.read_only,
            guard: Arc::default(),
            clock: Arc::new(SystemClock::default()),
            shared_store: None,
        }
    }

    /// Returns the same caller with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns the same caller with a store that it shares with other processes.
    #[must_use]
    pub fn with_shared_store(self, store: Arc<dyn SharedStore>) -> Self {
        Self { shared_store: Some(store), ..self }
    }

    /// Returns a caller with another key. Both share connections, but nothing that they remember.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        Self {
            client: Arc::new(self.client.with_key(key)),
            scope: self.scope.for_other_key(None),
            permissions: None,
            user: None,
            guard: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the caller for one of the keys that a signed-in user may use, within `projects` and `permissions`. `None` is all
    /// that the key allows.
    #[must_use]
    pub fn with_key_of_user(
        &self,
        user: Arc<User>,
        key: ApiKey,
        projects: Option<Arc<[String]>>,
        permissions: Option<Arc<[String]>>,
    ) -> Self {
        let scope = self.scope.for_other_key(projects);
        Self { scope, permissions, user: Some(user), ..self.with_key(key) }
    }

    /// Returns a caller with the same key in another project scope; `None` is global scope. Both share what they remember.
    #[must_use]
    pub fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let scope = self.scope.with_project(project.map(str::to_owned));
        Self { scope, is_read_only, ..self.clone() }
    }

    /// Calls an operation for a host.
    ///
    /// If the call repeats a call of unknown outcome, the service is first asked whether the earlier call happened.
    ///
    /// # Errors
    /// Every failure of the operation; `conflict` if the earlier call seems to have happened; `outcome_unknown` if the
    /// service cannot tell.
    pub async fn call_guarded(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<Reply, Failure> {
        let checked = self.check_call(entry, arguments)?;
        let sender = self.sender().await?;
        let resolved = Box::pin(self.scope.resolve(&sender, entry, checked.requested(), &checked.ids)).await;
        let call = self.prepare(checked, sender, resolved)?;

        let Some(check) = duplicate_check(entry, &call.request.arguments) else {
            return Box::pin(self.execute(call)).await;
        };
        let digest = CallDigest::new(entry.name, call.project.as_deref(), &call.request.arguments);
        let store = self.shared_place(CALLS, digest.as_bytes()).await?;
        Box::pin(guard::run(self, call, check, digest, store)).await
    }

    /// Calls an operation for another tool, which knows what a repetition does.
    ///
    /// # Errors
    /// Every failure of the operation.
    pub async fn call(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<Reply, Failure> {
        let checked = self.check_call(entry, arguments)?;
        let sender = self.sender().await?;
        let resolved = Box::pin(self.scope.resolve(&sender, entry, checked.requested(), &checked.ids)).await;

        Box::pin(self.execute(self.prepare(checked, sender, resolved)?)).await
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
        Ok(self.scope.resolve(&sender, entry, requested, &[]).await?.project)
    }

    /// Remembers that `project` owns these ids, which saves later owner look-ups.
    pub(crate) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        self.scope.remember_owner(project, ids);
    }

    /// Returns the projects that are known without a request.
    pub fn known_projects(&self) -> Vec<String> {
        self.scope.known_projects()
    }

    /// Returns whether calls of `tool` are permitted. `requested` is the project that the arguments name.
    pub fn permits(&self, tool: &ToolDefinition, requested: Option<&str>) -> bool {
        let has_permission = match (&self.permissions, tool.access) {
            (Some(permissions), Access::Permission(needed)) => permissions.iter().any(|held| held == needed),
            _ => true,
        };
        let mut projects = self.scope.project().into_iter().chain(requested);

        has_permission && projects.all(|project| self.scope.includes(project))
    }

    /// Returns whether the key reaches what the arguments name: their project, or else the records of their ids. Every key
    /// reaches invalid arguments, which the call itself refuses.
    ///
    /// # Errors
    /// The failure of a look-up.
    pub async fn reaches(&self, tool: &ToolDefinition, arguments: &ToolArguments) -> Result<bool, Failure> {
        if !arguments.violations.is_empty() || !find_invalid_ids(&arguments.own).is_empty() {
            return Ok(true);
        }

        let ids = match catalog::find(tool.name) {
            Some(entry) => ids_of_call(entry, &arguments.own),
            None => owned_ids(&arguments.own).into_iter().collect(),
        };
        let sender = self.sender().await?;
        self.scope.is_reached(&sender, arguments.common.project_id.as_deref(), &ids).await
    }

    /// Returns whether the service has accepted the key.
    pub fn is_key_accepted(&self) -> bool {
        self.client.is_key_accepted()
    }

    /// Returns whether the caller remembers calls of unknown outcome.
    pub fn has_uncertain_calls(&self) -> bool {
        self.guard.has_calls()
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns whether the key belongs to a project or an organization.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub async fn key_kind(&self) -> Result<KeyKind, Failure> {
        Ok(self.client.key().await?.kind())
    }

    /// Returns the maximum length of a reply, in characters.
    pub(crate) fn max_reply_chars(&self) -> usize {
        self.reply_settings.max_reply_chars
    }

    /// Returns the address of the main API.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Checks whether the host of `url_base` answers; `None` if its address is not set.
    pub async fn check_host(&self, url_base: UrlBase) -> Option<Result<HostProbe, Failure>> {
        self.client.probe(url_base).await
    }

    /// Derives the secret of `purpose` from the API key and, if there is one, the signed-in user. Processes with the same key
    /// derive the same secret for the same user.
    pub(crate) async fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        let Some(user) = &self.user else { return Ok(self.client.key().await?.derive_key(purpose)) };

        // No purpose contains the separator.
        Ok(user.key.derive_key(&[purpose, b"\0", user.principal.as_bytes()].concat()))
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

    /// Returns the call for the project that was found.
    ///
    /// # Errors
    /// The failure of the search for the project, and `invalid_arguments` if the project makes no valid request.
    fn prepare<'a>(
        &'a self,
        checked: CheckedCall,
        sender: RequestSender<'a>,
        resolved: Result<ResolvedProject, Failure>,
    ) -> Result<PreparedCall<'a>, Failure> {
        let CheckedCall { mut request, ids, selection, .. } = checked;
        let entry = request.entry;
        let resolved = resolved.map_err(|failure| match self.scope.project() {
            None if !entry.effect.is_read_only() => with_nothing_changed(failure),
            _ => failure,
        })?;
        let project = resolved.project.clone();

        // Some requests carry the project in their path or body. Only these are laid out again.
        if let Some(project) = project.as_ref().filter(|_| entry.request.names_project()) {
            request.arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
            request = sender.request(entry, request.arguments)?;
        }

        let answer = resolved.answer_to(&request);
        Ok(PreparedCall { request, sender, ids, project, selection, answer })
    }
}

impl CheckedCall {
    fn requested(&self) -> Option<&str> {
        self.requested.as_deref()
    }
}

/// Returns the ids in the arguments that identify the project of a call.
fn ids_of_call(entry: &OperationEntry, arguments: &Fields) -> Vec<ResultId> {
    // The operations of the knowledge host take the ids of players, which contain the id of the run.
    let are_players = entry.request.url_base == UrlBase::Knowledge;
    let ids = owned_ids(arguments).into_iter();
    ids.map(|id| if are_players { id.without_player() } else { id }).collect()
}

/// Adds to the failure of a writing call that nothing was changed.
fn with_nothing_changed(mut failure: Failure) -> Failure {
    if matches!(failure.code, Code::ProjectScopeMismatch | Code::ProjectNotResolved) {
        failure.message.push_str("; nothing was changed");
    }
    failure
}

#[cfg(test)]
impl Caller {
    /// Returns a caller in global scope whose requests fail, because no service is there.
    pub(crate) fn of_no_service() -> Self {
        Self::of_key_source(crate::client::KeySource::Fixed(ApiKey::parse("svc_demo_key").expect("a key")))
    }

    /// Returns a caller that needs another key for its calls.
    pub(crate) fn without_key() -> Self {
        Self::of_key_source(crate::client::KeySource::EachCall)
    }

    fn of_key_source(key: crate::client::KeySource) -> Self {
        let client = ClientConfig {
            base_url: crate::client::HostUrl::parse("http://127.0.0.1:9").expect("an address"),
            knowledge_url: Ok(None),
            key,
            ca_file: None,
            timeout: std::time::Duration::from_secs(1),
        };

        Self::new(CallConfig {
            client,
            project: None,
            projects: Vec::new(),
            tmsys_name: "tmsys".to_owned(),
            max_reply_chars: 1_000,
            asks_first: false,
            read_only: false,
        })
    }
}
