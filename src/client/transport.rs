//! Sends single requests to one host of the service.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, header};
use tokio::time::Instant;
use url::Url;

use super::{
    AddressPolicy, ApiKey, FileMetadata, HostUrl, HttpRequest, HttpResponse,
    byte_range::{part_headers, read_part},
    http_client::{IncomingResponse, bytes_body},
    http_clients::HttpClients,
    redirect::{FinalResponse, follow_redirects},
    transport_error::TransportError,
};
use crate::service::request::FileRange;

/// Header that carries the API key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Sends single requests to one host of the service.
#[derive(Debug)]
pub(super) struct Transport {
    url: HostUrl,
    timeout: Duration,
    http_clients: HttpClients,
}

impl Transport {
    /// Creates a transport to the host at `url`. `timeout` is the time limit of one request. `policy` decides which
    /// addresses that the host names are followed.
    pub(super) fn new(
        url: HostUrl,
        ca_file: Option<PathBuf>,
        timeout: Duration,
        policy: AddressPolicy,
    ) -> Self {
        Self { url, timeout, http_clients: HttpClients::new(ca_file, timeout, policy) }
    }

    /// Returns the policy for addresses that the host names.
    pub(super) fn policy(&self) -> AddressPolicy {
        self.http_clients.policy()
    }

    /// Returns the address of the host.
    pub(super) fn url(&self) -> &HostUrl {
        &self.url
    }

    /// Returns the time limit of one request.
    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Sends the request once and reads the response, before `deadline`.
    pub(super) async fn send(
        &self,
        request: &HttpRequest<'_>,
        key: &ApiKey,
        deadline: Instant,
    ) -> Result<HttpResponse, TransportError> {
        let limit = self.timeout.min(deadline.saturating_duration_since(Instant::now()));

        limit_time(limit, async {
            match request.part {
                // Boxed, because the request of a record needs no memory for parts of files.
                Some(part) => Box::pin(self.fetch_part(request, part, key)).await,
                None => self.fetch_record(request, key).await,
            }
        })
        .await
    }

    async fn fetch_record(
        &self,
        request: &HttpRequest<'_>,
        key: &ApiKey,
    ) -> Result<HttpResponse, TransportError> {
        let IncomingResponse { head, body } = self.request_own_host(request, None, key).await?;
        Ok(HttpResponse::new(&head, body.read().await?))
    }

    async fn fetch_part(
        &self,
        request: &HttpRequest<'_>,
        part: FileRange,
        key: &ApiKey,
    ) -> Result<HttpResponse, TransportError> {
        let headers = part_headers(part);
        let FinalResponse { response, redirected_to, redirect_error } =
            self.request_file(request, None, &headers, key).await?;

        let IncomingResponse { head, body } = response;
        let read = read_part(part, &head, body).await?;
        let mut response = HttpResponse::new(&head, read.bytes);
        response.file = FileMetadata {
            total: read.total,
            offset: read.offset,
            redirected_to,
            redirect_error,
            ..response.file
        };

        Ok(response)
    }

    /// Requests a file and returns the response before its body is read, after all redirects. The file is requested from
    /// `address`, or else from the host of this transport. `range` holds the headers that request a part of the file.
    pub(super) async fn request_file(
        &self,
        request: &HttpRequest<'_>,
        address: Option<&Url>,
        range: &HeaderMap,
        key: &ApiKey,
    ) -> Result<FinalResponse, TransportError> {
        let response = match address {
            // Only the host of this transport receives the key.
            Some(url) if !self.url.has_origin_of(url) => {
                let client = self.http_clients.for_named_address(url)?;
                client.get(url.as_str(), range.clone()).await?
            }
            Some(url) => self.request_with_key(request, url.as_str(), Some(range), key).await?,
            None => self.request_own_host(request, Some(range), key).await?,
        };

        follow_redirects(response, range, &self.http_clients).await
    }

    /// Requests the address itself, without the key.
    pub(super) async fn request_root(&self) -> Result<IncomingResponse, TransportError> {
        let client = self.http_clients.get(self.url.connection_kind())?;
        client.get(self.url.as_str(), HeaderMap::new()).await
    }

    async fn request_own_host(
        &self,
        request: &HttpRequest<'_>,
        range: Option<&HeaderMap>,
        key: &ApiKey,
    ) -> Result<IncomingResponse, TransportError> {
        let address = format!("{}{}", self.url.as_str(), request.path_and_query);
        self.request_with_key(request, &address, range, key).await
    }

    /// Sends the request to an address of the host of this transport.
    pub(super) async fn request_with_key(
        &self,
        request: &HttpRequest<'_>,
        address: &str,
        range: Option<&HeaderMap>,
        key: &ApiKey,
    ) -> Result<IncomingResponse, TransportError> {
        let client = self.http_clients.get(self.url.connection_kind())?;
        let mut builder = Request::builder().method(request.method.clone()).uri(address);
        if request.has_key {
            builder = builder.header(API_KEY, key.header());
        }
        if request.body.is_some() {
            builder = builder.header(header::CONTENT_TYPE, "application/json");
        }

        let body = request.body.map(Bytes::copy_from_slice).unwrap_or_default();
        let mut request = builder.body(bytes_body(body))?;
        request.headers_mut().extend(range.cloned().unwrap_or_default());

        client.send(request).await
    }
}

/// Waits for `exchange`, at most for `limit`.
pub(super) async fn limit_time<T>(
    limit: Duration,
    exchange: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    tokio::time::timeout(limit, exchange).await.unwrap_or(Err(TransportError::Timeout(limit)))
}
