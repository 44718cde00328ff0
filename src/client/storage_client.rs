//! Requests to presigned addresses of the storage host. They carry no API key: the address itself is the permission.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{Request, header};
use http_body::Body;
use url::Url;

use super::{
    AddressPolicy, DownloadResponse, HttpClient, ResumeFrom, StorageError,
    http_client::{IncomingResponse, streamed_body},
    http_clients::HttpClients,
    http_date::retry_after,
    redirect::follow_redirects,
    response_head::ResponseHead,
    transport_error::{BoxError, TransportError},
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
    pub async fn put(
        &self,
        address: &str,
        body: impl Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    ) -> Result<String, StorageError> {
        let (client, url) = self.http_client(address)?;
        let request = Request::put(url.as_str()).header(header::CONTENT_TYPE, "application/octet-stream");
        let request = request.body(streamed_body(body)).map_err(TransportError::from)?;

        let head = require_success(client.send(request).await?).await?;
        match head.text(header::ETAG).map(strip_quotes) {
            Some(etag) if !etag.is_empty() => Ok(etag.to_owned()),
            _ => Err(StorageError::NoEtag(head.status)),
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
            let (client, url) = self.http_client(address)?;
            let response = client.get(url.as_str(), headers.clone()).await?;
            let response = follow_redirects(response, &headers, &self.http_clients).await?;
            Ok(DownloadResponse::from_final_response(response).await?)
        };

        let timed_out = || TransportError::Timeout(OPEN_LIMIT).into();

        tokio::time::timeout(OPEN_LIMIT, opening).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Returns the address as a URL, and the client for it.
    fn http_client(&self, address: &str) -> Result<(&HttpClient, Url), StorageError> {
        let url = self.http_clients.policy().parse(address).map_err(StorageError::Address)?;
        let client = self.http_clients.for_named_address(&url);
        let client = client.map_err(|error| StorageError::Final(error.to_string()))?;

        Ok((client, url))
    }
}

/// Returns the text of an `ETag` without the quotes that surround it.
fn strip_quotes(etag: &str) -> &str {
    etag.strip_prefix("W/").unwrap_or(etag).trim_matches('"')
}

async fn require_success(response: IncomingResponse) -> Result<ResponseHead, StorageError> {
    let IncomingResponse { head, body } = response;
    if head.status.is_success() {
        return Ok(head);
    }

    let retry_after = retry_after(&head.headers);
    // If the body does not arrive, the error has no explanation. The status alone classifies the error.
    let body = tokio::time::timeout(ERROR_BODY_LIMIT, body.read()).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();

    Err(StorageError::from_response(head.status, &body, retry_after))
}
