//! The gateway, through which tools call operations.

use std::sync::Arc;

use super::configured::ConfiguredGateway;
use crate::{
    call::config::CallConfig,
    client::{HostProbe, KeyKind},
    clock::{Clock, SystemClock},
    failure::Failure,
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId},
};

/// Calls operations of the service. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    configured: Arc<Result<ConfiguredGateway, Failure>>,
    clock: Arc<dyn Clock>,
}

impl Gateway {
    /// Creates a gateway. If `config` is a failure, every call returns that failure.
    pub fn new(config: Result<CallConfig, Failure>) -> Self {
        let configured = config.map(ConfiguredGateway::new);
        Self { configured: Arc::new(configured), clock: Arc::new(SystemClock::default()) }
    }

    /// Returns the same gateway with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns the clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns the state of the gateway.
    ///
    /// # Errors
    /// The failure that says why the settings are unusable.
    pub(super) fn configured(&self) -> Result<&ConfiguredGateway, Failure> {
        self.configured.as_ref().as_ref().map_err(Clone::clone)
    }

    /// Returns why the settings are unusable, if they are.
    pub fn settings_failure(&self) -> Option<&Failure> {
        self.configured.as_ref().as_ref().err()
    }

    /// Returns whether the key belongs to a project or an organization; `None` without a usable key.
    pub fn key_kind(&self) -> Option<KeyKind> {
        Some(self.configured().ok()?.client.key().ok()?.kind())
    }

    /// Derives a secret for another purpose from the API key. Equal keys give equal secrets.
    pub(crate) fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(self.configured()?.client.key()?.derive_key(purpose))
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
        self.configured().map(|configured| configured.scope.known_projects()).unwrap_or_default()
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
        let configured = self.configured()?;
        let context = configured.begin_call()?;
        let resolved = Box::pin(configured.scope.resolve(&context, entry, requested, &[])).await?;
        Ok(resolved.project)
    }

    /// Remembers that `project` owns these ids, which saves later owner look-ups.
    pub(crate) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        if let Ok(configured) = self.configured() {
            configured.scope.remember_owner(project, ids);
        }
    }
}
