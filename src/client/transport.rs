//! One HTTP request and its answer.

use std::{
    error::Error,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::header;
use reqwest::{Certificate, Response, redirect};
use tokio::time::Instant;

use super::{Answer, Host, LONGEST_ANSWER, Repeat, Request};
use crate::{
    config::{ApiKey, HostUrl},
    failure::{Code, Failure, quotation},
};

/// Limit of opening a connection; with a short limit of the whole request, [`CONNECT_SHARE`] of that.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Opening a connection ends before the request as a whole does: then it is sure that nothing was sent.
const CONNECT_SHARE: f64 = 0.8;

/// How long an idle connection is kept: shorter than servers usually do, so that a request seldom meets a
/// connection that is just being closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// Header that carries the key.
const API_KEY: &str = "x-api-key";

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    #[error("the HTTP client could not be set up: {0}")]
    Setup(String),
    #[error("the connection could not be opened: {0}")]
    Connect(String),
    #[error("the secure connection could not be made: {0}")]
    Tls(String),
    #[error("no answer came within {} s", .0.as_secs())]
    Timeout(Duration),
    #[error("the connection broke before an answer came: {0}")]
    Broken(String),
    #[error("the connection broke before the answer was complete: {0}")]
    Truncated(String),
    #[error("the answer is longer than {} MiB", LONGEST_ANSWER / 1024 / 1024)]
    TooLong,
}

/// Sends single requests. The connection pool is made by the first one: making it reads the system's certificates.
#[derive(Debug)]
pub(super) struct Transport {
    url: HostUrl,
    ca_file: Option<PathBuf>,
    timeout: Duration,
    http: OnceLock<reqwest::Client>,
}

impl Transport {
    pub(super) fn new(url: HostUrl, ca_file: Option<PathBuf>, timeout: Duration) -> Self {
        Self { url, ca_file, timeout, http: OnceLock::new() }
    }

    pub(super) async fn send(
        &self,
        request: &Request<'_>,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<Answer, TransportError> {
        let limit = self.timeout.min(deadline.saturating_duration_since(Instant::now()));
        let exchange = async {
            let url = format!("{}{}", self.url.as_str(), request.target);
            let mut sending = self.http()?.request(request.method.clone(), url);
            if request.has_key {
                sending = sending.header(API_KEY, key.header());
            }
            if let Some(body) = request.body {
                let body = Bytes::copy_from_slice(body);
                sending = sending.header(header::CONTENT_TYPE, "application/json").body(body);
            }
            let response = sending.send().await.map_err(TransportError::from)?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            Ok(Answer::new(status, &headers, bounded(response).await?))
        };
        tokio::time::timeout(limit, exchange).await.unwrap_or(Err(TransportError::Timeout(limit)))
    }

    pub(super) fn url(&self) -> &str {
        self.url.as_str()
    }

    pub(super) fn too_late(limit: Duration) -> TransportError {
        TransportError::Timeout(limit)
    }

    pub(super) fn http(&self) -> Result<&reqwest::Client, TransportError> {
        if let Some(http) = self.http.get() {
            return Ok(http);
        }
        let http = self.build()?;
        Ok(self.http.get_or_init(|| http))
    }

    fn build(&self) -> Result<reqwest::Client, TransportError> {
        let connect = CONNECT_TIMEOUT.min(self.timeout.mul_f64(CONNECT_SHARE));
        build(self.url.is_plain(), self.url.is_loopback(), self.ca_file.as_deref(), connect)
    }
}

/// A client for hosts of one kind: over TLS or not, on this machine or not. It follows no redirect.
pub(super) fn build(
    is_plain: bool,
    is_loopback: bool,
    ca_file: Option<&Path>,
    connect_timeout: Duration,
) -> Result<reqwest::Client, TransportError> {
    // Fails only when a provider is there already, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("tas-mcp/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(connect_timeout)
        .pool_idle_timeout(IDLE_TIMEOUT)
        .tcp_nodelay(true);
    if is_loopback {
        builder = builder.no_proxy();
    }
    if is_plain {
        // The system's certificates take their time to read, and would verify nothing.
        builder = builder.tls_certs_only([]);
    } else if let Some(path) = ca_file {
        builder = builder.tls_certs_merge(certificates(path).map_err(TransportError::Setup)?);
    }
    builder.build().map_err(|error| TransportError::Setup(chain(&error)))
}

/// Reads the certificates (PEM) of a file; the problem if there are none.
pub fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let pem = std::fs::read(path).map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
    let certificates = Certificate::from_pem_bundle(&pem)
        .map_err(|error| format!("`{}` has no usable certificate: {}", path.display(), chain(&error)))?;
    if certificates.is_empty() {
        return Err(format!("`{}` has no certificate in PEM form", path.display()));
    }
    Ok(certificates)
}

/// Reads a body, and gives up as soon as it is too long.
pub(super) async fn bounded(mut response: Response) -> Result<Bytes, TransportError> {
    if response.content_length().is_some_and(|length| length > LONGEST_ANSWER as u64) {
        return Err(TransportError::TooLong);
    }
    let truncated = |error: reqwest::Error| TransportError::Truncated(chain(&error.without_url()));
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(truncated)? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            return Err(TransportError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        // The address is in our message already, and its query may hold what people typed.
        let error = error.without_url();
        let text = chain(&error);
        if is_tls(&error) {
            Self::Tls(text)
        } else if error.is_connect() {
            Self::Connect(text)
        } else if error.is_builder() {
            Self::Setup(text)
        } else {
            Self::Broken(text)
        }
    }
}

/// The error and its sources in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        source = error.source();
    }
    text
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    // An I/O error hides the error that it was made of from `source`; the connector makes one of another.
    let hidden = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>()
        || hidden.is_some_and(|hidden| is_tls(hidden))
        || error.source().is_some_and(is_tls)
}

impl TransportError {
    pub(super) fn is_worth_repeating(&self, repeat: Repeat) -> bool {
        match self {
            Self::Connect(_) => true,
            Self::Broken(_) | Self::Truncated(_) => repeat == Repeat::Safe,
            Self::Setup(_) | Self::Tls(_) | Self::Timeout(_) | Self::TooLong => false,
        }
    }

    /// Whether the service may have got the request.
    fn may_have_been_sent(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Broken(_) | Self::Truncated(_) | Self::TooLong)
    }

    pub(super) fn into_failure(self, request: &Request<'_>, key: Option<&ApiKey>, attempts: u32) -> Failure {
        let tries = if attempts > 1 { format!(" ({attempts} attempts)") } else { String::new() };
        let message = format!("{}: {self}{tries}", request.operation);
        let message = quotation(&key.map_or(message.clone(), |key| key.masked(message)));
        if request.repeat == Repeat::OnlyIfNotSent && self.may_have_been_sent() {
            let advice = request.in_doubt.unwrap_or("look before you call again");
            return Failure::new(Code::OutcomeUnknown, message)
                .hint(format!("it may have happened: {advice}"));
        }
        match self {
            Self::Timeout(_) => Failure::new(Code::Timeout, message)
                .hint("call again later, or ask for less; the limit is the setting TAS_TIMEOUT_S"),
            Self::Truncated(_) => Failure::new(Code::BadResponse, message).hint(
                "call again later; if it stays so, something between here and the service cuts its answers",
            ),
            Self::TooLong => {
                Failure::new(Code::BadResponse, message).hint("ask for less, such as a smaller `page_size`")
            }
            Self::Setup(_) => {
                Failure::new(Code::NotConfigured, message).hint("check TAS_CA_FILE and the proxy variables")
            }
            Self::Tls(_) => Failure::new(Code::ServiceUnavailable, message)
                .hint("check the address; a private certificate authority is trusted with TAS_CA_FILE"),
            Self::Connect(_) | Self::Broken(_) => {
                Failure::new(Code::ServiceUnavailable, message).hint(format!(
                    "check that the service is up and {} and the proxy variables are right, then call again",
                    Host::of(request.place).setting()
                ))
            }
        }
    }
}
