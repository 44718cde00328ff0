//! What all requests of the HTTP server share.

use std::{sync::Arc, time::Duration};

use http::{HeaderMap, Uri};
use tokio_util::sync::CancellationToken;

use super::{
    credentials::Credentials,
    endpoint::Endpoint,
    grants::GrantedCallers,
    limits::places,
    metrics::Metrics,
    oauth::{Authorization, Resource},
    origin::Origins,
    refusal::Refusal,
};
use crate::{
    client::{Outage, ServiceTraffic},
    failure::{Code, Failure},
    mcp::McpConfig,
    settings::{HttpSettings, Settings},
    tools::context::{CallerWithFiles, Stopping},
};

/// How long the service may not answer before this is reported.
const LEAST_OUTAGE: Duration = Duration::from_secs(60);

/// What all requests share.
pub(super) type SharedState = Arc<Shared>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: HttpSettings,
    pub(super) origins: Origins,
    /// What the operator offers: the widest endpoint.
    pub(super) offered: Endpoint,
    pub(super) credentials: Credentials,
    /// Signs in users, if there is an issuer.
    pub(super) authorization: Option<Authorization>,
    /// The places of the requests of all clients.
    pub(super) places: Arc<tokio::sync::Semaphore>,
    pub(super) metrics: Arc<Metrics>,
    traffic: ServiceTraffic,
    /// Whether a sandbox of this process answers calls.
    pub(super) uses_sandbox: bool,
    /// Cancelled when the process is about to stop: clients are asked to close their connections, and it is not ready any more.
    pub(super) draining: CancellationToken,
    pub(super) stopping: Stopping,
}

impl Shared {
    /// Creates the state of a server with these settings.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let (http, tools) = settings.http_config()?;
        let stopping = Stopping::default();
        let config = McpConfig::from(settings);
        let offered = Endpoint {
            project: config.project.clone(),
            selection: (*config.selection).clone().without_local_files(),
        };

        let configured = CallerWithFiles::new(tools);
        let traffic = configured.caller.traffic().clone();
        let anonymous =
            if settings.has_key() { Ok(configured.caller.clone()) } else { Err(credential_required()) };
        let credentials = Credentials::new(
            GrantedCallers::one(anonymous),
            configured,
            config,
            http.clone(),
            stopping.clone(),
        );

        let authorization = http.oauth.clone().map(Authorization::new).transpose();
        let authorization = authorization.map_err(|problem| Failure::new(Code::NotConfigured, problem))?;

        Ok(Self {
            origins: Origins::from_settings(&http, settings.has_key() && !settings.wants_sandbox()),
            offered,
            credentials,
            authorization,
            places: places(http.max_calls),
            metrics: Arc::new(Metrics::new(&traffic)),
            traffic,
            uses_sandbox: settings.wants_sandbox(),
            draining: CancellationToken::new(),
            stopping,
            settings: http,
        })
    }

    /// Returns the endpoint at `path` as a resource that clients sign in to. Without a public URL it has the host of the request.
    pub(super) fn resource(&self, uri: &Uri, headers: &HeaderMap, path: &str) -> Result<Resource, Refusal> {
        let origin = match &self.settings.public_url {
            Some(url) => url.origin().ascii_serialization(),
            None => format!("http://{}", self.origins.requested_host(uri, headers)?),
        };
        Ok(Resource::new(origin, path))
    }

    /// Returns the hosts of the service that have not answered for a minute.
    pub(super) fn outages(&self) -> Vec<Outage> {
        let outages = self.traffic.outages().into_iter();
        outages.filter(|outage| outage.duration() >= LEAST_OUTAGE).collect()
    }
}

/// Returns the failure of calls without a credential.
fn credential_required() -> Failure {
    Failure::new(Code::Unauthenticated, "the request has no API key").hint(
        "the person must add the header `X-Api-Key` with an API key to the configuration of this server in the host",
    )
}
