//! What all requests of the HTTP server share.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::{
    credentials::Credentials,
    endpoint::Endpoint,
    grants::GrantedCallers,
    limits::Places,
    metrics::Metrics,
    oauth::{Authorization, Resource},
};
use crate::{
    client::ServiceTraffic,
    failure::{Code, Failure},
    mcp::McpConfig,
    settings::{HttpSettings, Settings},
    tools::context::{CallerWithFiles, Stopping},
};

/// What helps if a call has no credential.
const KEY_HINT: &str = "the person must add the header `X-Api-Key` with an API key to the configuration of this server in the host";

pub(super) type SharedState = Arc<Shared>;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: HttpSettings,
    /// The origin under which clients reach the server: that of the settings, or else the address that is listened on. A request
    /// does not decide it: tokens for other servers would be accepted.
    pub(super) origin: OnceLock<String>,
    /// What the operator offers: the widest endpoint.
    pub(super) offered: Endpoint,
    pub(super) credentials: Credentials,
    pub(super) authorization: Option<Authorization>,
    /// The places of all clients.
    pub(super) places: Places,
    pub(super) metrics: Arc<Metrics>,
    pub(super) traffic: ServiceTraffic,
    pub(super) uses_sandbox: bool,
    /// Cancelled when the process is about to stop: clients are asked to close their connections, and it is not ready any more.
    pub(super) draining: CancellationToken,
    pub(super) stopping: Stopping,
}

impl Shared {
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, Failure> {
        let (http, tools) = settings.http_config()?;

        let stopping = Stopping::default();
        let config = McpConfig::from(settings);
        let offered = Endpoint {
            project: config.project.clone(),
            selection: (*config.selection).clone().without_local_files(),
        };

        let authorization = Authorization::from_settings(&http, tools.files.ca_file.clone())
            .map_err(|problem| Failure::new(Code::NotConfigured, problem))?;
        let configured = CallerWithFiles::new(tools);
        let traffic = configured.caller.client().traffic().clone();
        let keyless = Failure::new(Code::Unauthenticated, "the request has no API key").hint(KEY_HINT);
        let anonymous = if settings.has_key() { Ok(configured.caller.clone()) } else { Err(keyless) };
        let anonymous = GrantedCallers::one(anonymous);
        let credentials = Credentials::new(anonymous, configured, config, http.clone(), stopping.clone());
        let origin = http.public_url.as_ref().map(|url| url.origin().ascii_serialization().into());

        Ok(Self {
            origin: origin.unwrap_or_default(),
            offered,
            credentials,
            authorization,
            places: Places::of_all(&http),
            metrics: Arc::new(Metrics::new(&traffic)),
            traffic,
            uses_sandbox: settings.wants_sandbox(),
            draining: CancellationToken::new(),
            stopping,
            settings: http,
        })
    }

    pub(super) fn resource(&self, path: &str) -> Resource {
        Resource::new(self.origin.get().cloned().unwrap_or_default(), path)
    }
}
