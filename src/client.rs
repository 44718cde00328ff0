//! Sends requests to the service's hosts: key, limits, retries, TLS. Knows nothing of tools or projects.

use std::time::Duration;

use http::Method;
use tokio::time::Instant;

mod address;
mod answer;
mod arriving;
mod config;
mod expired;
mod key;
mod part;
mod pools;
mod reach;
mod redirect;
mod refusal;
mod retry;
mod storage;
mod transport;

pub use address::{HostUrl, is_loopback, is_safe};
pub use answer::{Answer, FileMetadata};
pub use arriving::{Broken, DownloadStream, OpenError, Opened, ResumeFrom};
pub use config::ClientConfig;
pub use expired::has_expired;
pub use key::{ApiKey, KeyKind, KeySource, Secret};
pub use pools::certificates;
pub use reach::{Reached, proxy_of};
pub use refusal::refused;
pub use retry::{RETRY, Repeat, RetryPolicy};
pub use storage::{Storage, StorageError};

use self::transport::Transport;
use crate::{
    failure::{Code, Failure},
    service::{operation::UrlBase, request::Part},
};

/// Longest JSON answer, in bytes.
pub const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// Limit of one call with all its requests and pauses: hosts give up after 60 s.
pub const CALL_LIMIT: Duration = Duration::from_secs(45);

/// Limit of asking whether a host is there.
const REACH_LIMIT: Duration = Duration::from_secs(10);

/// A host of the service that the key may be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The main API.
    Main,
    /// The host of knowledge files and run artifacts.
    Knowledge,
}

impl Host {
    /// Where paths of `place` are served.
    pub fn of(place: UrlBase) -> Self {
        if place == UrlBase::Knowledge { Self::Knowledge } else { Self::Main }
    }

    /// The setting that holds its address.
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Main => "TAS_BASE_URL",
            Self::Knowledge => "TAS_KNOWLEDGE_URL",
        }
    }
}

/// One request, ready to be sent as often as its [`Repeat`] allows.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Name of the operation, for messages and logs.
    pub operation: &'static str,
    /// Where its path begins.
    pub place: UrlBase,
    /// Whether it carries the key.
    pub has_key: bool,
    /// HTTP method.
    pub method: Method,
    /// Path and query below the address of the host.
    pub target: String,
    /// JSON body.
    pub body: Option<&'a [u8]>,
    /// The part that is wanted of a file. A file is followed to where it lies; anything else is not.
    pub part: Option<Part>,
    /// When it may be sent again.
    pub repeat: Repeat,
    /// What to do when nobody knows whether a writing request happened.
    pub in_doubt: Option<&'static str>,
}

/// A client of the service.
#[derive(Debug)]
pub struct Client {
    key: KeySource,
    main: Transport,
    knowledge: Option<Transport>,
    retry: RetryPolicy,
}

impl Client {
    /// A client with this configuration. Nothing is opened before the first request.
    pub fn new(config: ClientConfig) -> Self {
        let ClientConfig { base_url, knowledge_url, key, ca_file, timeout } = config;
        let transport = |url| Transport::new(url, ca_file.clone(), timeout);
        Self { key, main: transport(base_url), knowledge: knowledge_url.map(transport), retry: RETRY }
    }

    /// The key as it is now.
    pub fn key(&self) -> Result<ApiKey, Failure> {
        self.key.key().map_err(|problem| {
            Failure::new(
                Code::NotConfigured,
                format!("the API key cannot be used: TAS_API_KEY_FILE {problem}"),
            )
            .hint("ask the person to put a valid key there; the next call reads it again")
        })
    }

    /// Sends a request until it is answered, its retries are used up or `deadline` passes.
    pub async fn send(
        &self,
        request: &Request<'_>,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<Answer, Failure> {
        let transport = self.transport(request)?;
        let mut attempt = 1;

        loop {
            let outcome = transport.send(request, key, deadline).await;
            let Some(pause) = self.retry.pause(request.repeat, &outcome, attempt, deadline) else {
                let answer = outcome.map_err(|error| error.into_failure(request, Some(key), attempt));
                return answer.map(|answer| answer.after(attempt));
            };
            tracing::debug!(operation = request.operation, attempt, pause_ms = pause.as_millis(), "retrying");
            tokio::time::sleep(pause).await;
            attempt += 1;
        }
    }

    /// Asks whether a host is there, without a key; `None` when it is not set.
    pub async fn reach(&self, place: UrlBase) -> Option<Result<Reached, Failure>> {
        let transport = match Host::of(place) {
            Host::Main => &self.main,
            Host::Knowledge => self.knowledge.as_ref()?,
        };
        Some(transport.reach(place, REACH_LIMIT).await)
    }

    fn transport(&self, request: &Request<'_>) -> Result<&Transport, Failure> {
        let host = Host::of(request.place);
        let found = match host {
            Host::Main => Some(&self.main),
            Host::Knowledge => self.knowledge.as_ref(),
        };

        found.ok_or_else(|| {
            let setting = host.setting();
            Failure::new(
                Code::NotConfigured,
                format!("{}: the setting {setting} is not set", request.operation),
            )
            .hint("ask the person for the address of the knowledge host, and to restart the server with it")
        })
    }
}
