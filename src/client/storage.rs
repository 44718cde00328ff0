//! Requests to presigned addresses of the storage host. It knows no key: the address is all the permission there is.

use std::{path::PathBuf, time::Duration};

use http::{StatusCode, header};
use reqwest::{Body, Response, Url};

use super::{
    Opened, ResumeFrom,
    answer::retry_after,
    expired::{has_expired, words},
    pools::Pools,
    redirect::followed,
    transport::{TransportError, bounded},
};
use crate::client::{is_loopback, is_safe};

/// Limit of opening a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// How long the words of a refusal may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Limit of opening a file, redirects included.
const OPENING: Duration = Duration::from_secs(60);

/// Sends to and reads from presigned addresses.
#[derive(Debug)]
pub struct Storage {
    pools: Pools,
}

/// Why the storage host did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Nothing may be sent there.
    #[error("the address {0}")]
    Address(&'static str),
    /// The address has expired, or was never good: another one is needed.
    #[error("the storage host refused the address: {said}")]
    Refused {
        /// Status of the answer.
        status: u16,
        /// Its words.
        said: String,
    },
    /// It may work the next time.
    #[error("{said}")]
    Passing {
        /// What happened.
        said: String,
        /// How long to wait before that, where the storage host says so.
        wait: Option<Duration>,
    },
    /// It took the bytes, and does not say as what.
    #[error("the storage host answered {0} without an ETag")]
    NoTag(StatusCode),
    /// It will not work the next time either.
    #[error("the storage host answered {0}")]
    Final(String),
}

impl StorageError {
    /// It may work the next time, and nobody says when.
    pub fn passing(said: impl Into<String>) -> Self {
        Self::Passing { said: said.into(), wait: None }
    }
}

impl From<TransportError> for StorageError {
    fn from(error: TransportError) -> Self {
        Self::passing(error.to_string())
    }
}

impl Storage {
    /// Trusts the certificates of `ca_file` in addition to the system's.
    pub fn new(ca_file: Option<PathBuf>) -> Self {
        Self { pools: Pools::new(ca_file, CONNECT_LIMIT) }
    }

    /// Puts `body` there; gives the `ETag` of what was stored, without quotes.
    pub async fn put(&self, address: &str, body: Body) -> Result<String, StorageError> {
        let request = self.client(address)?;
        let request = request.put(address).header(header::CONTENT_TYPE, "application/octet-stream");
        let answer = success(request.body(body).send().await).await?;
        let tag = answer.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(unquoted);

        match tag {
            Some(tag) if !tag.is_empty() => Ok(tag.to_owned()),
            _ => Err(StorageError::NoTag(answer.status())),
        }
    }

    /// Opens the file that lies there or where redirects lead, from where `rest` begins.
    pub async fn get(&self, address: &str, rest: &ResumeFrom) -> Result<Opened, StorageError> {
        let headers = rest.headers();
        let opening = async {
            let sent = self.client(address)?.get(address).headers(headers.clone()).send().await;
            let response = sent.map_err(TransportError::from)?;
            let found = followed(response, &headers, &self.pools).await?;
            Ok(Opened::of(found).await?)
        };

        let late = || StorageError::passing(format!("no answer came within {} s", OPENING.as_secs()));

        tokio::time::timeout(OPENING, opening).await.unwrap_or_else(|_| Err(late()))
    }

    fn client(&self, address: &str) -> Result<&reqwest::Client, StorageError> {
        let url = Url::parse(address).map_err(|_| StorageError::Address("is not an address"))?;
        if !is_safe(&url) {
            return Err(StorageError::Address("must use https (http is for loopback addresses only)"));
        }
        let pool = self.pools.of(url.scheme() == "http", is_loopback(&url));
        pool.map_err(|error| StorageError::Final(error.to_string()))
    }
}

/// The text of an `ETag` without the quotes that surround it.
fn unquoted(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"')
}

async fn success(sent: Result<Response, reqwest::Error>) -> Result<Response, StorageError> {
    let answer = sent.map_err(TransportError::from)?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }

    let wait = retry_after(answer.headers());
    let body =
        tokio::time::timeout(PATIENCE, bounded(answer)).await.ok().and_then(Result::ok).unwrap_or_default();
    let said = format!("{status}: {}", words(&body));
    let is_busy = status.is_server_error()
        || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
        || said.contains("RequestTimeout");

    Err(match status.as_u16() {
        status if has_expired(status, &body) => StorageError::Refused { status, said },
        _ if is_busy => StorageError::Passing { said, wait },
        _ => StorageError::Final(said),
    })
}
