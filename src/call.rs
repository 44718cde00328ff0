//! One call of one operation: argument check, project scope, duplicate guard, request, reply.
//!
//! [`Gateway::call_guarded`] is the path of a call. It uses, in this order, `arguments`, `grants`, `scope`, `guard`, `request`
//! and `reply`.

pub mod arguments;
mod artifact;
mod files;
mod grants;
mod guard;
pub mod limit;
mod links;
pub mod paging;
mod pictures;
pub mod reply;
mod request;
pub mod scope;
mod selection;
pub mod shared_store;

use std::{sync::Arc, time::Duration};

use indexmap::IndexSet;
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

pub use self::{
    arguments::CheckedArguments,
    artifact::{Artifact, OpenRefusal},
    grants::{Grant, GrantLimits},
};
use self::{
    arguments::{CommonArguments, ToolArguments},
    guard::{CallDigest, Guard, duplicate_check},
    reply::{Conversion, FieldSelection, Reply, ReplySettings, ReplySource},
    request::{Answer, OperationRequest, RequestSender},
    scope::{Scope, owned_ids},
    shared_store::{SharedStore, StoreKey, StorePlace},
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
        tool::PROJECT_ID,
    },
};

/// Kind of the keys of calls in the shared store, and the purpose of the derived key that makes them.
const CALLS: (&str, &[u8]) = ("call", b"tas-mcp shared calls 1");

/// Kind of the keys of ids that count once, and the purpose of the derived key that makes them.
const USED_IDS: (&str, &[u8]) = ("used", b"tas-mcp shared ids 1");

/// What the caller does with the record in `details.current`.
const MERGE: &str = "another writer has changed the record, and nothing was written: merge your change into `details.current`, and call again with its `version`";

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
    /// Whether irreversible or costly calls need the agreement of a person.
    pub asks_first: bool,
    /// Whether calls that change anything are refused.
    pub read_only: bool,
}

/// Calls operations of the service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The key that serves the calls.
    access: Arc<Result<Access, Failure>>,
    /// Further keys of a signed-in person, which serve other calls.
    others: Arc<[Access]>,
    clock: Arc<dyn Clock>,
    /// The person whom the calls serve; empty if the key itself identifies the caller.
    principal: Arc<str>,
    /// What several processes remember together, if they share a store.
    shared: Option<Arc<dyn SharedStore>>,
}

/// One key with its project scope, the calls that it may serve, and what was learned with it. The clones share the client and
/// the memory.
#[derive(Clone, Debug)]
struct Access {
    client: Arc<Client>,
    scope: Scope,
    /// The calls that the key may serve.
    limits: GrantLimits,
    /// Address of the main API.
    base_url: String,
    reply_settings: ReplySettings,
    /// Whether irreversible or costly calls need the agreement of a person.
    requires_confirmation: bool,
    is_read_only: bool,
    /// Calls of unknown outcome.
    guard: Arc<Guard>,
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

impl Gateway {
    /// Creates a gateway. If `config` is a failure, every call returns that failure.
    pub fn new(config: Result<CallConfig, Failure>) -> Self {
        Self {
            access: Arc::new(config.map(Access::new)),
            others: Arc::default(),
            clock: Arc::new(SystemClock::default()),
            principal: Arc::default(),
            shared: None,
        }
    }

    /// Returns the same gateway with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns the same gateway with a store that it shares with other processes.
    #[must_use]
    pub fn with_shared_store(self, store: Arc<dyn SharedStore>) -> Self {
        Self { shared: Some(store), ..self }
    }

    /// Returns a gateway for calls with another key. The gateways share connections, but nothing that they remember.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        let access = self.access().map(|access| access.with_key(key, GrantLimits::default()));
        Self { access: Arc::new(access), others: Arc::default(), principal: Arc::default(), ..self.clone() }
    }

    /// Returns a gateway for the same keys and another project scope; `None` is global scope. Both gateways share what they
    /// remember.
    #[must_use]
    pub fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let with_scope = |access: &Access| Access {
            scope: access.scope.with_project(project.map(str::to_owned)),
            is_read_only,
            ..access.clone()
        };
        let access = Arc::new(self.access().map(with_scope));
        Self { access, others: self.others.iter().map(with_scope).collect(), ..self.clone() }
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
        let access = Box::pin(self.serving(entry, &arguments)).await?;
        let call = Box::pin(access.prepare(entry, arguments)).await?;
        let Some(check) = duplicate_check(entry, &call.request.arguments) else {
            return Box::pin(access.execute(call)).await;
        };

        let digest = CallDigest::new(entry.name, call.project.as_deref(), &call.request.arguments);
        let store = self.shared_place(CALLS, digest.as_bytes()).await?;
        Box::pin(guard::run(access, call, check, digest, store, &*self.clock)).await
    }

    /// Calls an operation for another tool, which knows what a repetition does.
    ///
    /// # Errors
    /// Every failure of the operation.
    pub async fn call(
        &self,
        entry: &'static OperationEntry,
        arguments: Fields,
        common: CommonArguments,
    ) -> Result<Reply, Failure> {
        let arguments = ToolArguments::new(arguments, common);
        let access = Box::pin(self.serving(entry, &arguments)).await?;
        let call = Box::pin(access.prepare(entry, arguments)).await?;

        Box::pin(access.execute(call)).await
    }

    /// Returns the project that calls of `entry` without ids go to; `None` if the key decides it.
    ///
    /// # Errors
    /// `project_scope_mismatch`, `project_required`, or the failure of a look-up.
    pub async fn resolve_project(
        &self,
        entry: &'static OperationEntry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let access = self.first_covering(entry, requested)?;
        let sender = access.sender().await?;
        Ok(access.scope.resolve(&sender, entry, requested, &[]).await?.project)
    }

    /// Remembers that `project` owns these ids, which saves later owner look-ups.
    pub(crate) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        let ids: Vec<_> = ids.into_iter().collect();
        for access in self.all().filter(|access| access.limits.include_project(project)) {
            access.scope.remember_owner(project, ids.iter().cloned());
        }
    }

    /// Returns the projects that are known without a request.
    pub fn known_projects(&self) -> Vec<String> {
        let projects: IndexSet<_> = self.all().flat_map(|access| access.scope.known_projects()).collect();
        projects.into_iter().collect()
    }

    /// Returns whether the service has accepted a key of this gateway.
    pub fn is_key_accepted(&self) -> bool {
        self.all().any(|access| access.client.is_key_accepted())
    }

    /// Returns whether the gateway remembers calls of unknown outcome.
    pub fn has_uncertain_calls(&self) -> bool {
        self.all().any(|access| access.guard.has_calls())
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns why the settings are unusable, if they are.
    pub fn settings_failure(&self) -> Option<&Failure> {
        self.access.as_ref().as_ref().err()
    }

    /// Returns whether the key belongs to a project or an organization.
    ///
    /// # Errors
    /// `not_configured` if the settings are unusable or there is no usable key.
    pub async fn key_kind(&self) -> Result<KeyKind, Failure> {
        Ok(self.access()?.client.key().await?.kind())
    }

    /// Returns the maximum length of a reply, in characters.
    pub(crate) fn max_reply_chars(&self) -> Result<usize, Failure> {
        Ok(self.access()?.reply_settings.max_reply_chars)
    }

    /// Returns the address of the main API.
    pub fn base_url(&self) -> Result<&str, Failure> {
        Ok(&self.access()?.base_url)
    }

    /// Checks whether the host of `url_base` answers; `None` if its address is not set.
    pub async fn check_host(&self, url_base: UrlBase) -> Option<Result<HostProbe, Failure>> {
        self.access().ok()?.client.probe(url_base).await
    }

    /// Derives the secret of `purpose` from the API key and, if there is one, the signed-in person. Processes with the same key
    /// derive the same secret for the same person.
    pub(crate) async fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        let key = self.access()?.client.key().await?;
        if self.principal.is_empty() {
            return Ok(key.derive_key(purpose));
        }

        // No purpose contains the separator.
        Ok(key.derive_key(&[purpose, b"\0", self.principal.as_bytes()].concat()))
    }

    /// Records that the caller has used `id`, for `lifetime`. Returns whether another process has recorded the same before.
    /// Without an available store, the answer is `false`.
    pub(crate) async fn is_used_elsewhere(&self, id: &str, lifetime: Duration) -> bool {
        match self.shared_place(USED_IDS, id.as_bytes()).await {
            Ok(Some(place)) => {
                let value = Uuid::now_v7().to_string();
                matches!(place.insert(&value, lifetime).await, Ok(Some(_)))
            }
            Ok(None) | Err(_) => false,
        }
    }

    /// Returns the place of `content` in the shared store, if there is one.
    ///
    /// # Errors
    /// `not_configured` if the API key cannot be read.
    async fn shared_place(
        &self,
        (kind, purpose): (&str, &[u8]),
        content: &[u8],
    ) -> Result<Option<StorePlace>, Failure> {
        let Some(store) = &self.shared else { return Ok(None) };
        let key = StoreKey::new(kind, &self.derived_key(purpose).await?, content);

        Ok(Some(StorePlace::new(Arc::clone(store), key)))
    }

    /// Returns the first key.
    ///
    /// # Errors
    /// The failure that says why the settings are unusable.
    fn access(&self) -> Result<&Access, Failure> {
        self.access.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Returns all keys, in the order in which they are preferred.
    fn all(&self) -> impl Iterator<Item = &Access> {
        self.access.iter().chain(self.others.iter())
    }
}

impl Access {
    fn new(config: CallConfig) -> Self {
        let base_url = config.client.base_url.as_str().to_owned();
        let client = Client::new(config.client);
        let reply_settings = ReplySettings {
            tmsys_name: config.tmsys_name,
            max_reply_chars: config.max_reply_chars,
            address_policy: client.address_policy(),
        };

        Self {
            client: Arc::new(client),
            scope: Scope::new(config.project, config.projects),
            limits: GrantLimits::default(),
            base_url,
            reply_settings,
            requires_confirmation: config.asks_first,
            is_read_only: config.read_only,
            guard: Arc::default(),
        }
    }

    /// Returns the access of another key, which may serve the calls within `limits`. It shares connections, but nothing that is
    /// remembered.
    fn with_key(&self, key: ApiKey, limits: GrantLimits) -> Self {
        Self {
            client: Arc::new(self.client.with_key(key)),
            scope: self.scope.for_other_key(limits.projects.clone()),
            limits,
            guard: Arc::default(),
            ..self.clone()
        }
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

    /// Checks the arguments of an operation, lays out its request, and resolves its project.
    ///
    /// # Errors
    /// `invalid_arguments` with every violation, `confirmation_required`, and those of [`Scope::resolve`].
    async fn prepare(
        &self,
        entry: &'static OperationEntry,
        arguments: ToolArguments,
    ) -> Result<PreparedCall<'_>, Failure> {
        let (mut request, common, selection) = self.check_call(entry, arguments)?;
        let sender = self.sender().await?;
        let ids = ids_of_call(entry, &request.arguments);
        let resolved = self.scope.resolve(&sender, entry, common.project_id.as_deref(), &ids).await;
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

    /// Sends the request of a call, unless its answer is already known, and makes the reply.
    ///
    /// # Errors
    /// Every failure of the operation.
    async fn execute(&self, call: PreparedCall<'_>) -> Result<Reply, Failure> {
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
