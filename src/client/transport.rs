//! Sends single requests to one host of the service.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, header};
use reqwest::{Response, Url};
use tokio::time::Instant;

use super::{
    AddressPolicy, ApiKey, FileMetadata, HostUrl, HttpRequest, HttpResponse,
    byte_range::{part_headers, read_part},
    http_clients::HttpClients,
    redirect::{FinalResponse, follow_redirects},
    response_body::read_body,
    transport_error::TransportError,
};
use crate::service::request::FileRange;

/// Header that carries the API key.
const API_KEY: &str = "x-api-key";

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
                Some(part) => self.fetch_part(request, part, key).await,
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
        let response = self.request_own_host(request, None, key).await?;
        let head = ResponseHead::from_response(&response);

        Ok(head.with_body(read_body(response).await?))
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

        let head = ResponseHead::from_response(&response);
        let read = read_part(part, response).await?;
        let mut response = head.with_body(read.bytes);
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
                client.request(request.method.clone(), url.clone()).headers(range.clone()).send().await?
            }
            Some(url) => self.request_with_key(request, url.as_str(), Some(range), key).await?,
            None => self.request_own_host(request, Some(range), key).await?,
        };

        follow_redirects(response, range, &self.http_clients).await
    }

    /// Requests the address itself, without the key.
    pub(super) async fn request_root(&self) -> Result<Response, TransportError> {
        let client = self.http_clients.get(self.url.connection_kind())?;
        Ok(client.get(self.url.as_str()).send().await?)
    }

    async fn request_own_host(
        &self,
        request: &HttpRequest<'_>,
        range: Option<&HeaderMap>,
        key: &ApiKey,
    ) -> Result<Response, TransportError> {
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
    ) -> Result<Response, TransportError> {
        let client = self.http_clients.get(self.url.connection_kind())?;
        let mut builder = client.request(request.method.clone(), address);

        if request.has_key {
            builder = builder.header(API_KEY, key.header());
        }

        if let Some(body) = request.body {
            let body = Bytes::copy_from_slice(body);
            builder = builder.header(header::CONTENT_TYPE, "application/json").body(body);
        }

        if let Some(range) = range {
            builder = builder.headers(range.clone());
        }

        Ok(builder.send().await?)
    }
}

/// Status, address and headers of a response, which are kept while the body is read.
struct ResponseHead {
    status: u16,
    url: Url,
    headers: HeaderMap,
}

impl ResponseHead {
    fn from_response(response: &Response) -> Self {
        let status = response.status().as_u16();
        Self { status, url: response.url().clone(), headers: response.headers().clone() }
    }

    fn with_body(self, body: Bytes) -> HttpResponse {
        HttpResponse::new(self.status, &self.url, &self.headers, body)
    }
}

/// Waits for `exchange`, at most for `limit`.
pub(super) async fn limit_time<T>(
    limit: Duration,
    exchange: impl Future<Output = Result<T, TransportError>>,
) -> Result<T, TransportError> {
    tokio::time::timeout(limit, exchange).await.unwrap_or(Err(TransportError::Timeout(limit)))
}
