//! Requests to other hosts than the service's, without the API key.
//!
//! - Presigned addresses of the storage host: the address itself is the permission, which is valid for a limited time
//!   (service.md 10.6). The error documents of storage hosts are XML.
//! - Small JSON documents: the metadata and the keys of an issuer.

use std::{fmt::Display, path::PathBuf, time::Duration};

use reqwest::header::{self, HeaderMap};
use reqwest::{Body, Client, Response, StatusCode, Url};
use tokio_util::bytes::Bytes;

use super::{
    address::{AddressPolicy, HostUrl},
    connection::Connections,
    download::{DownloadResponse, DownloadStream, ResumeFrom, open_file},
    response::{HttpResponse, header_text, read_body, read_start, retry_after},
    retry::RequestKind,
    transport_error::TransportError,
};
use crate::{
    backoff::AttemptError,
    failure::{Code, Failure, quote},
};

/// Time limit that the limit of opening a connection is derived from.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Time limit of reading the body of an error.
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(120);

/// Time limit of opening a file, including redirects.
const OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Error codes that report an expired address with the status 400.
const EXPIRED_CODES: [&str; 2] = ["ExpiredToken", "RequestExpired"];

/// Error code for a body that did not arrive in time. Its status is 400.
const REQUEST_TIMEOUT: &str = "RequestTimeout";

/// Time limit of reading one document.
const READ_LIMIT: Duration = Duration::from_secs(5);

/// Longest document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// Writes and reads objects at presigned addresses.
#[derive(Debug)]
pub struct StorageClient {
    connections: Connections,
}

impl StorageClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. `policy` decides which
    /// addresses are used.
    pub fn new(ca_file: Option<PathBuf>, policy: AddressPolicy) -> Self {
        Self { connections: Connections::new(ca_file, CONNECT_LIMIT, policy) }
    }

    /// Stores `body`, which has `size` bytes, at `address`. Returns the `ETag` of the stored object, without quotes.
    pub async fn put(&self, address: &str, body: Body, size: u64) -> Result<String, StorageError> {
        let (client, url) = self.http_client(address)?;
        let request = client.put(url).header(header::CONTENT_TYPE, "application/octet-stream");
        let request = request.header(header::CONTENT_LENGTH, size).body(body);
        let response = require_success(request.send().await.map_err(TransportError::from)?).await?;

        let etag = header_text(response.headers(), header::ETAG).unwrap_or_default();
        match etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"') {
            "" => {
                let status = response.status();
                Err(StorageError::bad_response(format!("the storage host answered {status} without an ETag")))
            }
            etag => Ok(etag.to_owned()),
        }
    }

    /// Opens the file at `address`, or where redirects lead, from the position in `resume_from`.
    pub async fn get(&self, address: &str, resume_from: &ResumeFrom) -> Result<DownloadStream, StorageError> {
        let (client, url) = self.http_client(address)?;
        let opening = open_file(client.get(url), resume_from.headers(), &self.connections, OPEN_LIMIT);

        match opening.await? {
            DownloadResponse::Stream(stream) => Ok(stream),
            DownloadResponse::Other(HttpResponse { status, body, retry_after, .. }) => {
                let status = StatusCode::from_u16(status).unwrap_or_default();
                Err(StorageError::from_response(status, &body, retry_after))
            }
        }
    }

    fn http_client(&self, address: &str) -> Result<(Client, Url), StorageError> {
        let unusable = |reason: &dyn Display| StorageError::bad_response(format!("the address {reason}"));
        let url = self.connections.policy.parse(address).map_err(|reason| unusable(&reason))?;
        let client = self.connections.client_for_named(&url).map_err(|error| unusable(&error))?;

        Ok((client, url))
    }
}

async fn require_success(response: Response) -> Result<Response, StorageError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }

    let retry_after = retry_after(response.headers());
    // If the body does not arrive, the error has no explanation. The status alone classifies the error.
    let body = tokio::time::timeout(ERROR_BODY_LIMIT, read_start(response)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();

    Err(StorageError::from_response(status, &body, retry_after))
}

/// Why a request to the storage host failed.
#[derive(Debug)]
pub struct StorageError {
    failure: Failure,
    is_transient: bool,
    /// Whether the address has expired or was never valid, so that another address may be accepted.
    pub is_expired: bool,
}

impl StorageError {
    /// Creates an error after which an equal request may succeed.
    pub fn transient(message: impl Into<String>) -> Self {
        let failure = Failure::new(Code::ServiceUnavailable, message);
        Self { failure, is_transient: true, is_expired: false }
    }

    /// Creates the error of a request that the storage host cannot answer as it must.
    fn bad_response(message: String) -> Self {
        Self { is_transient: false, failure: Failure::new(Code::BadResponse, message), is_expired: false }
    }

    /// Classifies a response that is not 2xx.
    fn from_response(status: StatusCode, body: &[u8], retry_after: Option<Duration>) -> Self {
        let message = format!("{status}: {}", describe_error(body));
        let is_expired = reports_expired_address(status.as_u16(), body);
        let is_transient = RequestKind::StorageObject.is_transient_status(status.as_u16())
            || String::from_utf8_lossy(body).contains(REQUEST_TIMEOUT);

        if is_transient && !is_expired {
            let error = Self::transient(message);
            let Some(wait) = retry_after else { return error };
            return Self { failure: error.failure.retry_after(wait), ..error };
        }
        let message = format!("the storage host answered {message}");
        let failure = Failure::new(Code::Rejected, message).status(status.as_u16());
        Self { failure, is_transient: false, is_expired }
    }

    /// Returns the error of an attempt to do `what`.
    pub fn into_attempt_error(self, what: &str) -> AttemptError {
        let Self { mut failure, is_transient, .. } = self;
        failure.message = format!("{what}: {}", failure.message);
        AttemptError { failure, is_transient }
    }
}

impl From<TransportError> for StorageError {
    fn from(error: TransportError) -> Self {
        // Every error without a response is worth another attempt.
        Self::transient(error.to_string())
    }
}

/// Returns whether a response of a storage host refuses the address, so that a new address may be accepted.
pub fn reports_expired_address(status: u16, body: &[u8]) -> bool {
    match status {
        401 | 403 | 410 => true,
        400 => element_text(&String::from_utf8_lossy(body), "Code")
            .is_some_and(|code| EXPIRED_CODES.contains(&code)),
        _ => false,
    }
}

/// Returns the code and message of an error document. Any other body is returned as text.
fn describe_error(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);

    match (element_text(&text, "Code"), element_text(&text, "Message")) {
        (Some(code), Some(message)) => quote(&format!("{code} ({message})")),
        (Some(code), None) => quote(code),
        _ => quote(text.trim()),
    }
}

fn element_text<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once(&format!("</{name}>"))?;

    Some(content.trim())
}

/// A document with the facts that its response states.
#[derive(Debug)]
pub struct Document {
    /// The content.
    pub body: Bytes,
    /// How long the content is valid, if the response states it.
    pub max_age: Option<Duration>,
}

/// Reads documents of one host and of the addresses that it names. No redirect is followed.
#[derive(Debug)]
pub struct DocumentClient {
    connections: Connections,
}

impl DocumentClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. Only a `host` on this
    /// machine may name addresses of this machine.
    pub fn new(host: &HostUrl, ca_file: Option<PathBuf>) -> Self {
        let policy = AddressPolicy::for_service(host);
        Self { connections: Connections::new(ca_file, READ_LIMIT, policy) }
    }

    /// Reads the document at `address`; `None` if the host does not have it.
    pub async fn read(&self, address: &str) -> Result<Option<Document>, String> {
        let url = self.connections.policy.parse(address)?;
        let reading = async {
            let client = self.connections.client(&url).map_err(|error| error.to_string())?;
            let sent = client.get(url).header(header::ACCEPT, "application/json").send().await;
            read_response(sent.map_err(|error| TransportError::from(error).to_string())?).await
        };

        let outcome = tokio::time::timeout(READ_LIMIT, reading).await;
        outcome.unwrap_or_else(|_| Err(format!("no response came within {} s", READ_LIMIT.as_secs())))
    }
}

async fn read_response(response: Response) -> Result<Option<Document>, String> {
    let status = response.status();
    if matches!(status.as_u16(), 404 | 405 | 410) {
        return Ok(None);
    }
    if !status.is_success() {
        return Err(format!("the status is {}", status.as_u16()));
    }

    let max_age = max_age(response.headers());
    let body = read_body(response, MAX_DOCUMENT_BYTES).await.map_err(|error| match error {
        TransportError::TooLong => format!("the document is longer than {} KiB", MAX_DOCUMENT_BYTES / 1024),
        error => error.to_string(),
    })?;

    Ok(Some(Document { body, max_age }))
}

/// Reads `max-age` of the header `Cache-Control`.
fn max_age(headers: &HeaderMap) -> Option<Duration> {
    let directives = header_text(headers, header::CACHE_CONTROL)?.split(',');
    let seconds = directives.filter_map(|directive| directive.trim().strip_prefix("max-age="));
    seconds.filter_map(|seconds| seconds.parse().ok()).map(Duration::from_secs).next()
}
