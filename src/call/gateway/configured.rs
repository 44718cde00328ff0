//! The state of a gateway whose settings are usable.

use std::sync::Arc;

use tokio::time::Instant;

use crate::{
    call::{
        config::CallConfig,
        context::CallContext,
        duplicate_guard::AttemptMemory,
        grant::{Grant, GrantLimits},
        reply::ReplyLimits,
        scope::Scope,
    },
    client::{ApiKey, CALL_LIMIT, Client},
    failure::Failure,
    service::{result_kind::ResultId, tool::Tool},
};

/// A gateway whose settings are usable. The clones share the client and the memory.
#[derive(Clone, Debug)]
pub(super) struct ConfiguredGateway {
    pub(super) client: Arc<Client>,
    pub(super) scope: Scope,
    /// The calls that the key may serve.
    limits: GrantLimits,
    /// Address of the main API.
    pub(super) base_url: String,
    /// The name that the deployment uses for the test-management system.
    pub(super) tmsys_name: String,
    pub(super) max_reply_chars: usize,
    /// Whether irreversible or costly calls need the agreement of a person.
    pub(super) requires_confirmation: bool,
    pub(super) is_read_only: bool,
    /// Calls of unknown outcome.
    pub(super) attempts: Arc<AttemptMemory>,
}

impl ConfiguredGateway {
    pub(super) fn new(config: CallConfig) -> Self {
        Self {
            scope: Scope::new(config.project, config.projects),
            limits: GrantLimits::default(),
            base_url: config.client.base_url.as_str().to_owned(),
            tmsys_name: config.tmsys_name,
            max_reply_chars: config.max_reply_chars,
            requires_confirmation: config.asks_first,
            is_read_only: config.read_only,
            client: Arc::new(Client::new(config.client)),
            attempts: Arc::default(),
        }
    }

    /// Returns a gateway for calls with another key. The gateways share connections, but nothing that they remember.
    pub(super) fn with_key(&self, key: ApiKey) -> Self {
        Self {
            client: Arc::new(self.client.with_key(key)),
            scope: self.scope.with_new_memory(),
            attempts: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns a gateway for the calls that a grant covers. The gateways share connections, but nothing that they remember.
    pub(super) fn with_grant(&self, grant: &Grant) -> Self {
        let gateway = self.with_key(grant.key.clone());
        let scope = gateway.scope.restricted_to(grant.limits.projects.clone());
        Self { scope, limits: grant.limits.clone(), ..gateway }
    }

    /// Returns whether the key may serve a call of `tool`. `requested` is the project that the caller names.
    pub(super) fn covers(&self, tool: &Tool, requested: Option<&str>) -> bool {
        self.limits.cover(tool, self.scope.project().or(requested))
            && requested.is_none_or(|requested| self.serves_project(requested))
    }

    /// Returns whether the key may serve calls to `project`.
    pub(super) fn serves_project(&self, project: &str) -> bool {
        self.limits.projects.as_ref().is_none_or(|projects| projects.iter().any(|served| served == project))
    }

    /// Returns whether the key can be one of `project`. An organization key can be one of every project.
    ///
    /// # Errors
    /// The failure of a look-up.
    pub(super) async fn has_key_of(&self, project: &str) -> Result<bool, Failure> {
        if self.limits.projects.is_some() {
            return Ok(self.serves_project(project));
        }
        let context = self.begin_call().await?;
        Box::pin(self.scope.has_key_of(&context, project)).await
    }

    /// Returns whether the key can read the records of all `ids` in its scope.
    ///
    /// # Errors
    /// The failure of a look-up.
    pub(super) async fn has_records(&self, ids: &[ResultId]) -> Result<bool, Failure> {
        let context = self.begin_call().await?;
        Box::pin(self.scope.has_records(&context, ids)).await
    }

    /// Returns a gateway for the same key and another project scope. Both gateways share what they remember.
    pub(super) fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        Self { scope: self.scope.with_project(project.map(str::to_owned)), is_read_only, ..self.clone() }
    }

    /// Starts a call: gets the key and sets the deadline. The deadline does not include the time to get the key.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub(super) async fn begin_call(&self) -> Result<CallContext<'_>, Failure> {
        Ok(CallContext {
            client: &self.client,
            key: self.client.key().await?,
            deadline: Instant::now() + CALL_LIMIT,
            tmsys_name: &self.tmsys_name,
        })
    }

    pub(super) fn reply_limits(&self) -> ReplyLimits<'_> {
        ReplyLimits {
            tmsys_name: &self.tmsys_name,
            max_reply_chars: self.max_reply_chars,
            address_policy: self.client.address_policy(),
        }
    }
}
