//! Callers for other keys and project scopes, and what is known about a caller without a call.

use std::sync::Arc;

use super::{
    CallConfig, Caller, User,
    arguments::ToolArguments,
    ids::{find_invalid_ids, owned_ids},
    reply::ReplySettings,
    scope::{ASK_OPERATOR, Scope, ids_of_call},
};
use crate::{
    client::{ApiKey, Client},
    clock::{Clock, SystemClock},
    failure::{Code, Failure},
    service::{
        catalog,
        tool::{Access, ToolDefinition},
    },
    text::quoted_argument,
};

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
            reply_settings: Arc::new(reply_settings),
            requires_confirmation: config.asks_first,
            is_read_only: config.read_only,
            clock: Arc::new(SystemClock::default()),
        }
    }

    /// Returns the same caller with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns a caller with another key. Both share connections, but nothing that they remember.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        Self {
            client: Arc::new(self.client.with_key(key)),
            scope: self.scope.for_other_key(None),
            permissions: None,
            user: None,
            ..self.clone()
        }
    }

    /// Returns the client, for what concerns no call: its key, its hosts and their traffic.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the caller for one of the keys that a signed-in user may use, within `projects` and `permissions`.
    /// `None` is all that the key allows.
    #[must_use]
    pub fn with_key_of_user(
        &self,
        user: Arc<User>,
        key: ApiKey,
        projects: Option<Arc<[String]>>,
        permissions: Option<Arc<[String]>>,
    ) -> Self {
        let scope = self.scope.for_other_key(projects);
        let caller = self.with_key(key);
        Self { scope, permissions, user: Some(user), ..caller }
    }

    /// Returns a caller with the same key in another project scope; `None` is global scope. Both share what they
    /// remember.
    #[must_use]
    pub fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let scope = self.scope.with_project(project.map(str::to_owned));
        Self { scope, is_read_only, ..self.clone() }
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

    /// Refuses a call that the signed-in user may not make with the key. `requested` is the project that the arguments
    /// name.
    ///
    /// # Errors
    /// `permission_denied`.
    pub(super) fn check_permitted(
        &self,
        tool: &ToolDefinition,
        requested: Option<&str>,
    ) -> Result<(), Failure> {
        if self.permits(tool, requested) {
            return Ok(());
        }
        let project = requested
            .map(|project| format!(" in project `{}`", quoted_argument(project)))
            .unwrap_or_default();
        let message = format!("{}: no grant of the person covers {}{project}", tool.name, tool.access);
        Err(Failure::new(Code::PermissionDenied, message).hint(ASK_OPERATOR))
    }

    /// Returns whether the key reaches what the arguments name: their project, or else the records of their ids. Every
    /// key reaches invalid arguments, which the call itself refuses.
    pub async fn reaches(&self, tool: &ToolDefinition, arguments: &ToolArguments) -> Result<bool, Failure> {
        if !arguments.violations.is_empty() || !find_invalid_ids(&arguments.own).is_empty() {
            return Ok(true);
        }

        let ids = match catalog::find(tool.name) {
            Some(entry) => ids_of_call(entry, &arguments.own),
            None => owned_ids(&arguments.own).into_iter().collect(),
        };
        let sender = self.sender(tool.access).await?;
        self.scope.is_reached(&sender, arguments.common.project_id.as_deref(), &ids).await
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the address of the main API.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Derives the secret of `purpose` from the API key and, if there is one, the signed-in user. Processes with the
    /// same key derive the same secret for the same user.
    pub(crate) async fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        let Some(user) = &self.user else { return Ok(self.client.key().await?.derive_key(purpose)) };

        // No purpose contains the separator.
        Ok(user.key.derive_key(&[purpose, b"\0", user.principal.as_bytes()].concat()))
    }
}
