//! Requests to presigned addresses of the storage host. They carry no API key: the address itself is the permission.

use std::{path::PathBuf, time::Duration};

use http::header;
use reqwest::{Body, Client, Response};

use super::{
    AddressPolicy, DownloadResponse, ResumeFrom, StorageError, http_clients::HttpClients,
    http_date::retry_after, http_response::header_text, redirect::follow_redirects, response_body::read_body,
    transport_error::TransportError,
};

/// Time limit that the limit of opening a connection is derived from.
const CONNECT_LIMIT: Duration = Duration::from_secs(15);

/// Time limit of reading the body of an error.
const ERROR_BODY_LIMIT: Duration = Duration::from_secs(120);

/// Time limit of opening a file, including redirects.
const OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Writes and reads objects at presigned addresses.
#[derive(Debug)]
pub struct StorageClient {
    http_clients: HttpClients,
}

impl StorageClient {
    /// Creates a client that trusts the certificates of `ca_file` in addition to the system's. `policy` decides which
    /// addresses are used.
    pub fn new(ca_file: Option<PathBuf>, policy: AddressPolicy) -> Self {
        Self { http_clients: HttpClients::new(ca_file, CONNECT_LIMIT, policy) }
    }

    /// Checks an address that the service names.
    ///
    /// # Errors
    /// Describes why the address is not used. The description shows no part of the address.
    pub fn check_address(&self, address: &str) -> Result<(), &'static str> {
        self.http_clients.policy().parse(address).map(drop)
    }

    /// Stores `body` at `address` and returns the `ETag` of the stored object, without quotes.
    pub async fn put(&self, address: &str, body: Body) -> Result<String, StorageError> {
        let request = self.http_client(address)?.put(address);
        let request = request.header(header::CONTENT_TYPE, "application/octet-stream").body(body);
        let response = require_success(request.send().await).await?;

        match header_text(response.headers(), header::ETAG).map(strip_quotes) {
            Some(etag) if !etag.is_empty() => Ok(etag.to_owned()),
            _ => Err(StorageError::NoEtag(response.status())),
        }
    }

    /// Opens the file at `address`, or where redirects lead, from the position in `resume_from`.
    pub async fn get(
        &self,
        address: &str,
        resume_from: &ResumeFrom,
    ) -> Result<DownloadResponse, StorageError> {
        let headers = resume_from.headers();
        let opening = async {
            let sent = self.http_client(address)?.get(address).headers(headers.clone()).send().await;
            let response = sent.map_err(TransportError::from)?;
            let response = follow_redirects(response, &headers, &self.http_clients).await?;
            Ok(DownloadResponse::from_final_response(response).await?)
        };

        let timed_out = || TransportError::Timeout(OPEN_LIMIT).into();

        tokio::time::timeout(OPEN_LIMIT, opening).await.unwrap_or_else(|_| Err(timed_out()))
    }

    fn http_client(&self, address: &str) -> Result<&Client, StorageError> {
        let url = self.http_clients.policy().parse(address).map_err(StorageError::Address)?;
        let client = self.http_clients.for_named_address(&url);
        client.map_err(|error| StorageError::Final(error.to_string()))
    }
}

/// Returns the text of an `ETag` without the quotes that surround it.
fn strip_quotes(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')
}

async fn require_success(sent: Result<Response, reqwest::Error>) -> Result<Response, StorageError> {
    let response = sent.map_err(TransportError::from)?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }

    let retry_after = retry_after(response.headers());
    // If the body does not arrive, the error has no explanation. The status alone classifies the error.
    let body = tokio::time::timeout(ERROR_BODY_LIMIT, read_body(response)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();

    Err(StorageError::from_response(status, &body, retry_after))
}
