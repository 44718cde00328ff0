//! The gateway, through which tools call operations.

use std::sync::Arc;

use indexmap::IndexSet;

use super::{configured::ConfiguredGateway, granted::GrantedGateways};
use crate::{
    call::{config::CallConfig, shared_store::SharedStore},
    client::{ApiKey, HostProbe, KeyKind},
    clock::{Clock, SystemClock},
    failure::Failure,
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId},
};

/// Calls operations of the service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    granted: Arc<Result<GrantedGateways, Failure>>,
    clock: Arc<dyn Clock>,
    /// The person whom the calls serve; empty if the key itself identifies the caller.
    principal: Arc<str>,
    /// What several processes remember together, if they share a store.
    pub(super) shared: Option<Arc<dyn SharedStore>>,
}

impl Gateway {
    /// Creates a gateway. If `config` is a failure, every call returns that failure.
    pub fn new(config: Result<CallConfig, Failure>) -> Self {
        let granted = config.map(|config| ConfiguredGateway::new(config).into());
        Self {
            granted: Arc::new(granted),
            clock: Arc::new(SystemClock::default()),
            principal: Arc::default(),
            shared: None,
        }
    }

    /// Returns a gateway of other keys, with the same clock and the same store.
    pub(super) fn with_granted(&self, granted: Result<GrantedGateways, Failure>) -> Self {
        Self { granted: Arc::new(granted), principal: Arc::default(), ..self.clone() }
    }

    pub(super) fn of_principal(self, principal: &str) -> Self {
        Self { principal: principal.into(), ..self }
    }

    /// Returns the same gateway with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns a gateway for calls with another key. The gateways share connections, but nothing that they remember.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        let configured = self.configured().map(|configured| configured.with_key(key).into());
        self.with_granted(configured)
    }

    /// Returns a gateway for the same key and another project scope; `None` is global scope. Both gateways share what they
    /// remember.
    #[must_use]
    pub fn with_scope(&self, project: Option<&str>, is_read_only: bool) -> Self {
        let granted = self.granted();
        let granted =
            granted.map(|granted| granted.map(|configured| configured.with_scope(project, is_read_only)));
        self.with_granted(granted).of_principal(&self.principal)
    }

    /// Returns the same gateway with a store that it shares with other processes.
    #[must_use]
    pub fn with_shared_store(self, store: Arc<dyn SharedStore>) -> Self {
        Self { shared: Some(store), ..self }
    }

    /// Returns whether the service has accepted a key of this gateway.
    pub fn is_key_accepted(&self) -> bool {
        self.granted()
            .is_ok_and(|granted| granted.iter().any(|configured| configured.client.is_key_accepted()))
    }

    /// Returns whether the gateway remembers calls of unknown outcome.
    pub fn has_uncertain_calls(&self) -> bool {
        self.granted().is_ok_and(|granted| granted.iter().any(|configured| configured.attempts.has_calls()))
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the gateways of all keys.
    ///
    /// # Errors
    /// The failure that says why the settings are unusable.
    pub(super) fn granted(&self) -> Result<&GrantedGateways, Failure> {
        self.granted.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Returns the gateway of the first key.
    ///
    /// # Errors
    /// The failure that says why the settings are unusable.
    pub(super) fn configured(&self) -> Result<&ConfiguredGateway, Failure> {
        self.granted().map(|granted| &granted.first)
    }

    /// Returns why the settings are unusable, if they are.
    pub fn settings_failure(&self) -> Option<&Failure> {
        self.granted.as_ref().as_ref().err()
    }

    /// Returns whether the key belongs to a project or an organization.
    ///
    /// # Errors
    /// `not_configured` if the settings are unusable or there is no usable key.
    pub async fn key_kind(&self) -> Result<KeyKind, Failure> {
        Ok(self.configured()?.client.key().await?.kind())
    }

    /// Derives the secret of `purpose` from the API key and, if there is one, the signed-in person. Processes with the same key
    /// derive the same secret for the same person.
    pub(crate) async fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        let key = self.configured()?.client.key().await?;
        if self.principal.is_empty() {
            return Ok(key.derive_key(purpose));
        }

        // No purpose contains the separator.
        Ok(key.derive_key(&[purpose, b"\0", self.principal.as_bytes()].concat()))
    }

    /// Returns the maximum length of a reply, in characters.
    pub(crate) fn max_reply_chars(&self) -> Result<usize, Failure> {
        self.configured().map(|configured| configured.max_reply_chars)
    }

    /// Returns the address of the main API.
    pub fn base_url(&self) -> Result<&str, Failure> {
        self.configured().map(|configured| configured.base_url.as_str())
    }

    /// Checks whether the host of `url_base` answers; `None` if its address is not set.
    pub async fn check_host(&self, url_base: UrlBase) -> Option<Result<HostProbe, Failure>> {
        self.configured().ok()?.client.probe(url_base).await
    }

    /// Returns the projects that are known without a request.
    pub fn known_projects(&self) -> Vec<String> {
        let Ok(granted) = self.granted() else { return Vec::new() };
        let projects: IndexSet<_> =
            granted.iter().flat_map(|configured| configured.scope.known_projects()).collect();
        projects.into_iter().collect()
    }

    /// Returns the project that calls of `entry` without ids go to; `None` if the key decides it.
    ///
    /// # Errors
    /// As [`Scope::resolve`](crate::call::scope::Scope::resolve).
    pub async fn resolve_project(
        &self,
        entry: &'static OperationEntry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let configured = self.first_covering(entry, requested)?;
        let context = configured.begin_call().await?;
        let resolved = Box::pin(configured.scope.resolve(&context, entry, requested, &[])).await?;
        Ok(resolved.project)
    }

    /// Remembers that `project` owns these ids, which saves later owner look-ups.
    pub(crate) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        let Ok(granted) = self.granted() else { return };
        let ids: Vec<_> = ids.into_iter().collect();
        for configured in granted.iter().filter(|configured| configured.serves_project(project)) {
            configured.scope.remember_owner(project, ids.iter().cloned());
        }
    }
}
