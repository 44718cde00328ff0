//! One call of a tool, start to end: arguments, project, request, answer, reply.

use std::sync::Arc;

mod checking;
mod opening;
mod repeating;
mod sending;

pub use opening::{Artifact, Refusal};

pub use checking::Checked;

use self::repeating::Memory;

use crate::{
    call::{config::CallConfig, reply::Reply, scope::Scope},
    client::{HostProbe, KeyKind, ServiceClient},
    clock::{Clock, SystemClock},
    failure::Failure,
    fields::Fields,
    service::{catalog::OperationEntry, operation::UrlBase, result_kind::ResultId, tool::Tool},
};

/// The way from tools to the service; cheap to clone.
#[derive(Clone, Debug)]
pub struct Gateway {
    ready: Arc<Result<Ready, Failure>>,
    clock: Arc<dyn Clock>,
}

#[derive(Debug)]
struct Ready {
    client: ServiceClient,
    scope: Scope,
    service: String,
    tmsys_name: String,
    max_reply_chars: usize,
    asks_first: bool,
    read_only: bool,
    memory: Memory,
}

impl Gateway {
    /// A gateway with this configuration. With unusable settings every call ends as the given failure.
    pub fn new(config: Result<CallConfig, Failure>) -> Self {
        let ready = config.map(|config| Ready {
            scope: Scope::new(config.project, config.projects),
            service: config.client.base_url.as_str().to_owned(),
            tmsys_name: config.tmsys_name,
            max_reply_chars: config.max_reply_chars,
            asks_first: config.asks_first,
            read_only: config.read_only,
            client: ServiceClient::new(config.client),
            memory: Memory::default(),
        });
        Self { ready: Arc::new(ready), clock: Arc::new(SystemClock::default()) }
    }

    /// With another time to wait in.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The time that is waited in.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    fn ready(&self) -> Result<&Ready, Failure> {
        self.ready.as_ref().as_ref().map_err(Clone::clone)
    }

    /// What is wrong with the settings, if anything is.
    pub fn settings_failure(&self) -> Option<&Failure> {
        self.ready.as_ref().as_ref().err()
    }

    /// Whose key it is, where there is a usable one.
    pub fn key_kind(&self) -> Option<KeyKind> {
        Some(self.ready().ok()?.client.key().ok()?.kind())
    }

    /// A key for another purpose that everybody with the same API key has.
    pub(crate) fn derived_key(&self, purpose: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(self.ready()?.client.key()?.derive_key(purpose))
    }

    /// Address of the main API.
    pub fn service(&self) -> Result<&str, Failure> {
        self.ready().map(|ready| ready.service.as_str())
    }

    /// Asks whether the host of a place is there; `None` when it is not set.
    pub async fn check_host(&self, place: UrlBase) -> Option<Result<HostProbe, Failure>> {
        self.ready().ok()?.client.probe(place).await
    }

    /// The projects that are known without a request.
    pub fn known_projects(&self) -> Vec<String> {
        self.ready().map(|ready| ready.scope.known()).unwrap_or_default()
    }

    /// The project that calls of an operation without ids go to; `None`: it follows from the key.
    pub async fn resolve_project(
        &self,
        entry: &'static OperationEntry,
        requested: Option<&str>,
    ) -> Result<Option<String>, Failure> {
        let ready = self.ready()?;
        ready.scope.resolve(&ready.call()?, entry, requested, &[]).await
    }

    /// Checks the arguments of a tool against everything that is known without a request, and removes those that all
    /// tools have.
    ///
    /// # Errors
    /// `invalid_arguments` with every violation, or `confirmation_required`.
    pub fn check(&self, tool: &Tool, arguments: &mut Fields) -> Result<Checked, Failure> {
        self.ready()?.checked(tool, None, arguments)
    }

    /// Remembers that ids are of `project`, so that nobody has to look for their owner.
    pub(crate) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        if let Ok(ready) = self.ready() {
            ready.scope.learn(project, ids);
        }
    }

    /// Calls an operation and gives its reply.
    pub async fn call(&self, entry: &'static OperationEntry, arguments: Fields) -> Result<Reply, Failure> {
        let ready = self.ready()?;
        ready.sent(ready.prepared(entry, arguments, &*self.clock).await?).await
    }
}
