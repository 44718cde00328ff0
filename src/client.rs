//! The client of the service: API key, addresses, limits, retries and TLS. It does not know tools or projects.
//!
//! - [`Client`] sends a [`Request`] to a [`ServiceHost`] and returns a [`HttpResponse`], or opens a file as a
//!   [`DownloadStream`].
//! - [`KeySource`] gets the key: from a setting, a file, a command, or the [`KeyStore`] of the user.
//! - [`StorageClient`] sends to presigned addresses, without the key.
//! - [`RequestKind`] states which failures are transient; [`RETRY_POLICY`] states how often a request is repeated.

mod address;
mod connection;
mod download;
mod key;
mod key_source;
mod key_store;
mod other_hosts;
mod refusal;
mod response;
mod retry;
mod traffic;
mod transport_error;

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant as SystemInstant},
};

use jiff::Timestamp;
use reqwest::header::{self, HeaderName};
use reqwest::{RequestBuilder, Url};
use serde::Serialize;
use tokio::time::Instant;

pub(crate) use self::key_store::unusable_keychain;
pub use self::{
    address::{AddressPolicy, HostUrl, MAIN_PATH, PresignedAddress},
    connection::read_certificates,
    download::{DownloadResponse, DownloadStream, ResumeFrom, StreamError},
    key::{ApiKey, KEY_PREFIX, KeyKind},
    key_source::{KeySource, StoredKey},
    key_store::{KeyPlace, KeyStore, StoredRecord},
    other_hosts::{Document, DocumentClient, StorageClient, StorageError, reports_expired_address},
    refusal::refusal_failure,
    response::{FileMetadata, HttpResponse},
    retry::{RETRY_POLICY, RequestKind},
    traffic::{Outage, ServiceTraffic},
};
use self::{
    connection::Connections,
    download::{FinalResponse, part_headers},
    response::{header_text, parse_http_date},
    transport_error::TransportError,
};
use crate::{
    failure::{Code, Failure},
    service::{operation::UrlBase, request::Request, tool::Access},
};

/// Maximum size of a response body that is read into memory, in bytes.
pub const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Time limit of one call with all its requests and pauses. MCP hosts give up after 60 s.
pub const CALL_LIMIT: Duration = Duration::from_secs(45);

/// Header that carries the API key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Time limit of [`Client::probe`].
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// The hosts, the key and the limits of a [`Client`].
#[derive(Debug)]
pub struct ClientConfig {
    /// Address of the main API.
    pub base_url: HostUrl,
    /// Address of the host of knowledge files and artifacts, if it is set; or the failure of the calls that need it.
    pub knowledge_url: Result<Option<HostUrl>, Failure>,
    /// Source of the API key.
    pub key: KeySource,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Time limit of one request.
    pub timeout: Duration,
}

/// Sends requests to the hosts of the service.
#[derive(Debug)]
pub struct Client {
    key: KeySource,
    /// The clients of all keys share the connections.
    hosts: Arc<Hosts>,
    is_key_accepted: AtomicBool,
}

/// The hosts of the service, and the connections to them.
#[derive(Debug)]
struct Hosts {
    main: HostUrl,
    /// The failure says why the host cannot be used.
    knowledge: Result<Option<HostUrl>, Failure>,
    /// Time limit of one request.
    timeout: Duration,
    connections: Connections,
    traffic: ServiceTraffic,
}

/// A host of the service that receives the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceHost {
    /// The main API.
    Main,
    /// The host of knowledge files and run artifacts.
    Knowledge,
}

impl ServiceHost {
    /// Returns the host that receives a request.
    pub fn of(request: &Request) -> Self {
        Self::for_url_base(request.operation.request.url_base)
    }

    fn for_url_base(url_base: UrlBase) -> Self {
        if url_base == UrlBase::Knowledge { Self::Knowledge } else { Self::Main }
    }

    /// Name of the setting that holds the address of the host.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Main => "TAS_BASE_URL",
            Self::Knowledge => "TAS_KNOWLEDGE_URL",
        }
    }
}

/// The response of a host to a request without a key.
#[derive(Clone, Debug, Serialize)]
pub struct HostProbe {
    /// HTTP status. Any status proves that the host responds.
    pub status: u16,
    /// Time from the request to the head of the response.
    pub milliseconds: u128,
    /// How far the host's clock is ahead of the local clock, in seconds. Negative if it is behind.
    pub clock_ahead_s: Option<i64>,
}

impl Client {
    /// Creates a client. It opens no connection before the first request.
    pub fn new(config: ClientConfig) -> Self {
        let ClientConfig { base_url, knowledge_url, key, ca_file, timeout } = config;
        let connections = Connections::new(ca_file, timeout, AddressPolicy::for_service(&base_url));
        let traffic = ServiceTraffic::default();
        let hosts = Hosts { main: base_url, knowledge: knowledge_url, timeout, connections, traffic };

        Self { key, hosts: Arc::new(hosts), is_key_accepted: AtomicBool::new(false) }
    }

    /// Returns a client with another key that shares the connections of this client.
    #[must_use]
    pub fn with_key(&self, key: ApiKey) -> Self {
        Self {
            key: KeySource::Fixed(key),
            hosts: Arc::clone(&self.hosts),
            is_key_accepted: AtomicBool::new(false),
        }
    }

    /// The numbers about the requests to the service with any key.
    pub fn traffic(&self) -> &ServiceTraffic {
        &self.hosts.traffic
    }

    /// Returns whether the service has answered a request of this client successfully.
    pub fn is_key_accepted(&self) -> bool {
        self.is_key_accepted.load(Ordering::Relaxed)
    }

    /// The policy for addresses that the service names.
    pub fn address_policy(&self) -> AddressPolicy {
        self.hosts.connections.policy
    }

    /// Returns the current API key. A key in a file is read anew, and a key elsewhere is looked up when it is first
    /// needed.
    ///
    /// # Errors
    /// `not_configured` if there is no usable key.
    pub async fn key(&self) -> Result<ApiKey, Failure> {
        self.key.key().await
    }

    /// Notes that the service has refused the key, so that a later call may get another one.
    pub fn note_refused_key(&self) {
        self.key.note_refusal();
    }

    /// Sends a request, and repeats it as [`RETRY_POLICY`] allows. Any status is a success here.
    ///
    /// # Errors
    /// No response came within the allowed attempts and before `deadline`, or the host is not configured.
    pub async fn send(
        &self,
        request: &Request,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<HttpResponse, Failure> {
        let host = self.hosts.find(request)?;
        let (kind, operation) = (RequestKind::of(request), request.operation.name);
        let time_left = || deadline.saturating_duration_since(Instant::now());
        let mut attempts = RETRY_POLICY.start();

        loop {
            let outcome = self.hosts.attempt(request, host, key, time_left()).await;
            let (is_transient, retry_after) = match &outcome {
                Ok(response) => (kind.is_transient_status(response.status), response.retry_after),
                Err(error) => (kind.is_transient_error(error), None),
            };

            let made = attempts.number;
            let pause = if is_transient { attempts.next_pause(retry_after) } else { None };
            let Some(pause) = pause.filter(|pause| *pause < time_left()) else {
                let response = outcome.map_err(|error| error.into_failure(request, key, made))?;
                self.is_key_accepted.fetch_or(response.is_success(), Ordering::Relaxed);
                return Ok(HttpResponse { attempts: made, ..response });
            };

            tracing::debug!(operation, made, pause_ms = pause.as_millis(), "retrying");
            tokio::time::sleep(pause).await;
        }
    }

    /// Requests the address of a host without the key, to find out whether the host responds and whether its clock
    /// agrees with the local clock. Returns `None` if the host is not configured.
    pub async fn probe(&self, url_base: UrlBase) -> Option<Result<HostProbe, Failure>> {
        let service_host = ServiceHost::for_url_base(url_base);
        let host = match service_host {
            ServiceHost::Main => &self.hosts.main,
            ServiceHost::Knowledge => self.hosts.knowledge.as_ref().ok()?.as_ref()?,
        };
        let started = SystemInstant::now();
        let exchange =
            async { Ok(self.hosts.connections.client(host.url())?.get(host.as_str()).send().await?) };

        Some(match limit_time(PROBE_LIMIT, exchange).await {
            Ok(response) => Ok(HostProbe {
                status: response.status().as_u16(),
                milliseconds: started.elapsed().as_millis(),
                clock_ahead_s: header_text(response.headers(), header::DATE)
                    .and_then(parse_http_date)
                    .map(|date| (date - Timestamp::now()).as_secs()),
            }),
            Err(error) => Err(error.failure(format!("status: {error}"), service_host)),
        })
    }
}

impl Hosts {
    fn find(&self, request: &Request) -> Result<&HostUrl, Failure> {
        let host = ServiceHost::of(request);
        if host == ServiceHost::Main {
            return Ok(&self.main);
        }

        self.knowledge.as_ref().map_err(Failure::clone)?.as_ref().ok_or_else(|| {
            let message = format!("{}: the setting {} is not set", request.operation.name, host.setting());
            Failure::new(Code::NotConfigured, message)
                .hint("`tas-mcp login --knowledge-url URL` stores the address of the host that has files of runs and knowledge files; or set it, and restart the server")
        })
    }

    /// Sends a request once, within `time_left`, and reads the response.
    async fn attempt(
        &self,
        request: &Request,
        host: &HostUrl,
        key: &ApiKey,
        time_left: Duration,
    ) -> Result<HttpResponse, TransportError> {
        let exchange = async {
            let sending = self.request_with_key(request, &request_url(host, request), key)?;
            let Some(part) = request.range else { return HttpResponse::read(sending.send().await?).await };

            let range = part_headers(part);
            let response = sending.headers(range.clone()).send().await?;
            FinalResponse::follow(response, &range, &self.connections).await?.read_part(part).await
        };

        let started = Instant::now();
        let outcome = limit_time(self.timeout.min(time_left), exchange).await;
        let status = outcome.as_ref().map(|response| response.status);
        self.traffic.record(ServiceHost::of(request), status, started.elapsed());
        tracing::debug!(operation = request.operation.name, status = status.ok(), "request");

        outcome
    }

    /// Returns the request to an address of the service's own host.
    fn request_with_key(
        &self,
        request: &Request,
        url: &str,
        key: &ApiKey,
    ) -> Result<RequestBuilder, TransportError> {
        let url = Url::parse(url).map_err(|error| TransportError::Setup(error.to_string()))?;
        let client = self.connections.client(&url)?;
        let mut sending = client.request(request.operation.request.method.clone(), url);
        if request.operation.access != Access::NoKey {
            sending = sending.header(API_KEY, key.header());
        }
        if let Some(body) = &request.body {
            sending = sending.header(header::CONTENT_TYPE, "application/json").body(body.clone());
        }

        Ok(sending)
    }
}

fn request_url(host: &HostUrl, request: &Request) -> String {
    format!("{}{}", host.as_str(), request.target)
}

/// Waits for `exchange`, at most for `limit`.
async fn limit_time<T>(
    limit: Duration,
    exchange: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    tokio::time::timeout(limit, exchange).await.unwrap_or(Err(TransportError::Timeout(limit)))
}
