//! One HTTP request and its answer.

use std::{error::Error, path::PathBuf, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use reqwest::{Response, Url};
use tokio::time::Instant;

use super::{
    Answer, FileMetadata, Host, LONGEST_ANSWER, Repeat, Request,
    pools::Pools,
    redirect::{Followed, followed},
};
use crate::{
    client::{ApiKey, HostUrl},
    failure::{Code, Failure, quotation},
    service::request::Part,
};

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

/// Sends single requests.
#[derive(Debug)]
pub(super) struct Transport {
    url: HostUrl,
    timeout: Duration,
    pools: Pools,
}

impl Transport {
    pub(super) fn new(url: HostUrl, ca_file: Option<PathBuf>, timeout: Duration) -> Self {
        Self { url, timeout, pools: Pools::new(ca_file, timeout) }
    }

    pub(super) async fn send(
        &self,
        request: &Request<'_>,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<Answer, TransportError> {
        let limit = self.timeout.min(deadline.saturating_duration_since(Instant::now()));
        let exchange = async {
            let wanted = request.part.map(Part::headers);
            let begun = self.begin(request, None, wanted.as_ref(), key).await?;
            let Followed { response, is_elsewhere, obstacle } = begun;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let url = response.url().clone();
            let Some(part) = request.part else {
                return Ok(Answer::new(status, &url, &headers, bounded(response).await?));
            };
            let read = part.read(response).await?;
            let mut answer = Answer::new(status, &url, &headers, read.bytes);
            answer.file = FileMetadata {
                total: read.total,
                offset: read.offset,
                is_elsewhere,
                obstacle,
                ..answer.file
            };
            Ok(answer)
        };

        tokio::time::timeout(limit, exchange).await.unwrap_or(Err(TransportError::Timeout(limit)))
    }

    pub(super) fn url(&self) -> &HostUrl {
        &self.url
    }

    pub(super) fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Sends the request and gives the answer before its body; that of a file, of which `wanted` is asked for, comes from
    /// where it lies. Nobody but the host of this transport gets the key.
    pub(super) async fn begin(
        &self,
        request: &Request<'_>,
        elsewhere: Option<&Url>,
        wanted: Option<&HeaderMap>,
        key: &ApiKey,
    ) -> Result<Followed, TransportError> {
        let own = || format!("{}{}", self.url.as_str(), request.target);
        let address = elsewhere.map_or_else(own, ToString::to_string);
        let (is_plain, is_loopback, is_own) = match elsewhere {
            None => (self.url.is_plain(), self.url.is_loopback(), true),
            Some(url) => (url.scheme() == "http", super::is_loopback(url), self.is_own(url)),
        };
        let mut sending = self.pools.of(is_plain, is_loopback)?.request(request.method.clone(), address);

        if request.has_key && is_own {
            sending = sending.header(API_KEY, key.header());
        }

        if let Some(body) = request.body {
            let body = Bytes::copy_from_slice(body);
            sending = sending.header(header::CONTENT_TYPE, "application/json").body(body);
        }

        if let Some(wanted) = wanted {
            sending = sending.headers(wanted.clone());
        }

        let response = sending.send().await?;
        match wanted {
            Some(wanted) => followed(response, wanted, &self.pools).await,
            None => Ok(Followed { response, is_elsewhere: false, obstacle: None }),
        }
    }

    /// Whether an address is one of the host of this transport.
    pub(super) fn is_own(&self, url: &Url) -> bool {
        Url::parse(self.url.as_str()).is_ok_and(|own| own.origin() == url.origin())
    }

    /// Limit of one request.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }
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
pub(super) fn chain(error: &dyn Error) -> String {
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

    /// Whether a reading request may succeed the next time.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Timeout(_)) || self.is_worth_repeating(Repeat::Safe)
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
                .in_doubt(format!("it may have happened: {advice}"));
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
