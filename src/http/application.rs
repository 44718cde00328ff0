//! What all requests of the HTTP server share.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::HeaderMap;
use rmcp::{RoleServer, Service};
use tokio::sync::Semaphore;

#[cfg(feature = "otlp")]
use super::traces::Traces;
use super::{
    authorization::Authorization,
    client_address::client_address,
    detached_peer::DetachedPeer,
    endpoint::Endpoint,
    limits::semaphore,
    metrics::Metrics,
    opened_service::{OpenedService, ServiceFactory},
    origin::KnownOrigins,
    request_body::BodyReader,
    tenants::{Tenant, Tenants},
};
use crate::{
    call::shared_store::SharedStore,
    failure::{Code, Failure},
    mcp::McpConfig,
    settings::{HttpSettings, Settings},
    store::RedisStore,
    tools::{caller::Stopping, config::ToolsConfig, dispatcher::Dispatcher},
};

/// Largest number of open connections.
const MAX_CONNECTIONS: usize = 16_384;

/// What all requests share. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Application(pub(super) Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: HttpSettings,
    pub(super) origins: KnownOrigins,
    /// What the operator offers: the widest endpoint.
    pub(super) offered: Endpoint,
    pub(super) tenants: Tenants,
    /// Signs in persons, if there is an issuer.
    pub(super) authorization: Option<Authorization>,
    pub(super) bodies: BodyReader,
    /// The places of the requests of all clients.
    pub(super) places: Arc<Semaphore>,
    /// The places of open connections.
    pub(super) connections: Arc<Semaphore>,
    pub(super) metrics: Arc<Metrics>,
    /// Sends spans, if there is a collector.
    #[cfg(feature = "otlp")]
    pub(super) traces: Option<Traces>,
    /// The store that several processes share, if there is one.
    store: Option<Arc<RedisStore>>,
    pub(super) peer: DetachedPeer,
    /// Answers the requests in place of the servers of `tenants`.
    other_service: Option<ServiceFactory>,
    /// Whether the process is about to stop.
    is_draining: AtomicBool,
    stopping: Stopping,
}

impl Application {
    /// Creates the application of these settings.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let (http, tools) = settings.http_config()?;
        Self::new(http, tools, settings, None)
    }

    /// Creates an application that serves another MCP service than the servers of credentials. `open` returns the service of
    /// each request. Origins, credentials, limits and messages are handled as for the server.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub fn for_service<S: Service<RoleServer>>(
        settings: &Settings,
        open: impl Fn() -> S + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let (http, tools) = settings.http_config()?;
        Self::new(http, tools, settings, Some(ServiceFactory::new(open)))
    }

    fn new(
        http: HttpSettings,
        tools: ToolsConfig,
        settings: &Settings,
        other_service: Option<ServiceFactory>,
    ) -> Result<Self, Failure> {
        let stopping = Stopping::default();
        let config = McpConfig::from(settings);
        let offered = Endpoint {
            project: config.project.clone(),
            selection: config.selection.clone().without_local_files(),
        };

        let store = http.shared_store.clone().map(RedisStore::new);
        let configured = Dispatcher::new(Ok(tools));
        let configured = match &store {
            Some(store) => configured.with_shared_store(Arc::clone(store) as Arc<dyn SharedStore>),
            None => configured,
        };
        let anonymous =
            if settings.has_key() { configured.clone() } else { Dispatcher::new(Err(credential_required())) };
        let tenants = Tenants::new(anonymous, configured, config, http.clone(), stopping.clone());

        let authorization = http.oauth.clone().map(Authorization::new).transpose();
        let authorization =
            authorization.map_err(|error| Failure::new(Code::NotConfigured, error.to_string()))?;

        Ok(Self(Arc::new(Shared {
            origins: KnownOrigins::from_settings(&http),
            offered,
            tenants,
            authorization,
            bodies: BodyReader::new(http.max_body),
            places: semaphore(http.max_calls),
            connections: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            metrics: Arc::new(Metrics::new(store.as_deref().map(RedisStore::health))),
            #[cfg(feature = "otlp")]
            traces: http.traces.as_ref().map(Traces::new).transpose()?,
            store,
            peer: DetachedPeer::new(),
            other_service,
            is_draining: AtomicBool::new(false),
            stopping,
            settings: http,
        })))
    }

    /// Returns the configuration of the HTTP server.
    pub fn settings(&self) -> &HttpSettings {
        &self.0.settings
    }

    /// Returns the service that answers the requests of `tenant` to an endpoint.
    pub(super) fn open_service(&self, tenant: &Tenant, endpoint: &Endpoint) -> OpenedService {
        match &self.0.other_service {
            Some(factory) => factory.open(),
            None => OpenedService::Server(self.0.tenants.server(tenant, endpoint)),
        }
    }

    /// Returns the address of the client of a request from `peer`.
    pub(super) fn client_address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        client_address(peer, headers, &self.0.settings.trusted_proxies)
    }

    /// Reports in the log if the store that several processes share is not available.
    pub(super) async fn check_store(&self) {
        if let Some(store) = &self.0.store {
            store.check().await;
        }
    }

    /// Starts to stop: clients are asked to close their connections, and the process reports that it is not ready.
    pub(super) fn drain(&self) {
        self.0.is_draining.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.0.is_draining.load(Ordering::Relaxed)
    }

    /// Ends waits with an intermediate answer.
    pub(super) fn end_waits(&self) {
        self.0.stopping.waits.cancel();
    }

    /// Ends every call in progress.
    pub(super) fn cancel_calls(&self) {
        self.0.stopping.calls.cancel();
    }
}

/// Returns the failure of calls without a credential.
fn credential_required() -> Failure {
    Failure::new(Code::Unauthenticated, "the request has no API key").hint(
        "the person must add the header `X-Api-Key` with an API key to the configuration of this server in the host",
    )
}
