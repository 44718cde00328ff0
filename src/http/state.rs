//! What all requests of the HTTP server share.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::{HeaderMap, Uri};

#[cfg(feature = "otlp")]
use super::traces::Traces;
use super::{
    endpoint::Endpoint,
    front_page::HostGuides,
    grants::GrantedCallers,
    limits::Places,
    metrics::Metrics,
    oauth::{Authorization, Resource},
    origin::KnownOrigins,
    tenants::Tenants,
};
use crate::{
    client::{Outage, ServiceTraffic},
    failure::{Code, Failure},
    mcp::McpConfig,
    settings::{HttpSettings, Settings},
    tools::{call_options::Stopping, context::CallerWithFiles},
};

/// How long the service may not answer before this is reported.
const LEAST_OUTAGE: Duration = Duration::from_secs(60);

/// What all requests share.
pub(super) type SharedState = Arc<Shared>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: HttpSettings,
    pub(super) origins: Arc<KnownOrigins>,
    /// What the operator offers: the widest endpoint.
    pub(super) offered: Endpoint,
    pub(super) tenants: Tenants,
    /// Whether the service is asked to accept a credential before a long body is read.
    pub(super) confirms_credentials: bool,
    /// Signs in users, if there is an issuer.
    pub(super) authorization: Option<Authorization>,
    /// The places of the requests of all clients.
    pub(super) places: Places,
    pub(super) metrics: Arc<Metrics>,
    traffic: ServiceTraffic,
    /// Whether a sandbox of this process answers calls.
    pub(super) uses_sandbox: bool,
    /// How hosts connect, for the page.
    pub(super) host_guides: OnceLock<HostGuides>,
    /// Sends spans, if there is a collector.
    #[cfg(feature = "otlp")]
    pub(super) traces: Option<Traces>,
    /// Whether the process is about to stop.
    is_draining: AtomicBool,
    pub(super) stopping: Stopping,
}

impl Shared {
    /// Creates the state of a server with these settings.
    ///
    /// # Errors
    /// `not_configured` with every unusable setting.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let (http, tools) = settings.http_config()?;
        let stopping = Stopping::default();
        let config = McpConfig::from(settings);
        let offered = Endpoint {
            project: config.project.clone(),
            selection: (*config.selection).clone().without_local_files(),
        };

        let configured = CallerWithFiles::new(tools);
        let caller = &configured.caller;
        let traffic = caller.traffic().clone();
        let anonymous = if settings.has_key() { Ok(caller.clone()) } else { Err(credential_required()) };
        let anonymous = GrantedCallers::one(anonymous);
        let tenants = Tenants::new(anonymous, configured, config, http.clone(), stopping.clone());

        let authorization = http.oauth.clone().map(Authorization::new).transpose();
        let authorization =
            authorization.map_err(|error| Failure::new(Code::NotConfigured, error.to_string()))?;

        Ok(Self {
            origins: Arc::new(KnownOrigins::from_settings(
                &http,
                settings.has_key() && !settings.wants_sandbox(),
            )),
            offered,
            tenants,
            confirms_credentials: true,
            authorization,
            places: Places::new(http.max_calls),
            metrics: Arc::new(Metrics::new(&traffic)),
            traffic,
            uses_sandbox: settings.wants_sandbox(),
            host_guides: OnceLock::new(),
            #[cfg(feature = "otlp")]
            traces: http.traces.as_ref().map(Traces::new).transpose()?,
            is_draining: AtomicBool::new(false),
            stopping,
            settings: http,
        })
    }

    /// Returns the endpoint at `path` as a resource that clients sign in to.
    pub(super) fn resource(&self, uri: &Uri, headers: &HeaderMap, path: &str) -> Resource {
        Resource::new(self.settings.public_url.as_ref(), uri, headers, path)
    }

    /// Returns the hosts of the service that have not answered for a minute.
    pub(super) fn outages(&self) -> Vec<Outage> {
        let outages = self.traffic.outages().into_iter();
        outages.filter(|outage| outage.duration() >= LEAST_OUTAGE).collect()
    }

    /// Starts to stop: clients are asked to close their connections, and the process reports that it is not ready.
    pub(super) fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }
}

/// Returns the failure of calls without a credential.
fn credential_required() -> Failure {
    Failure::new(Code::Unauthenticated, "the request has no API key").hint(
        "the person must add the header `X-Api-Key` with an API key to the configuration of this server in the host",
    )
}
