//! Requests to presigned addresses of the storage host. It knows no key: the address is all the permission there is.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{StatusCode, header};
use reqwest::{Body, Response, Url};

use super::{
    Opened, Rest,
    pools::Pools,
    redirect::followed,
    transport::{TransportError, bounded},
};
use crate::{
    config::{is_loopback, is_safe},
    failure::quotation,
};

/// Limit of opening a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// How long the storage host may think about a part that it has got.
const PATIENCE: Duration = Duration::from_secs(120);

/// Limit of opening a file.
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
    #[error("the storage host refused the address: {0}")]
    Refused(String),
    /// It may work the next time.
    #[error("{0}")]
    Passing(String),
    /// It took the bytes, and does not say as what.
    #[error("the storage host answered {0} without an ETag")]
    NoTag(StatusCode),
    /// It will not work the next time either.
    #[error("the storage host answered {0}")]
    Final(String),
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
    pub async fn get(&self, address: &str, rest: &Rest) -> Result<Opened, StorageError> {
        let passing = |error: TransportError| StorageError::Passing(error.to_string());
        let headers = rest.headers();
        let opening = async {
            let sent = self.client(address)?.get(address).headers(headers.clone()).send().await;
            let response = sent.map_err(|error| passing(error.into()))?;
            let found = followed(response, &headers, &self.pools).await.map_err(passing)?;
            Opened::of(found).await.map_err(passing)
        };
        let late = || StorageError::Passing(format!("no answer came within {} s", OPENING.as_secs()));
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
    let answer = sent.map_err(|error| StorageError::Passing(TransportError::from(error).to_string()))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let body =
        tokio::time::timeout(PATIENCE, bounded(answer)).await.ok().and_then(Result::ok).unwrap_or_default();
    let said = format!("{status}: {}", words(&body));
    Err(match status {
        StatusCode::FORBIDDEN => StorageError::Refused(said),
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => StorageError::Passing(said),
        _ if status.is_server_error() => StorageError::Passing(said),
        _ if said.contains("RequestTimeout") => StorageError::Passing(said),
        _ => StorageError::Final(said),
    })
}

/// The code and message of an XML error, else the text itself (supplement 10.6).
fn words(body: &Bytes) -> String {
    let text = String::from_utf8_lossy(body);
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    };
    match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => quotation(&format!("{code} ({message})")),
        (Some(code), None) => quotation(code),
        _ => quotation(text.trim()),
    }
}
