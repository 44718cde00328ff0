//! Files: parts of them in memory, and whole files as streams. A file may be behind redirects to the storage host,
//! which are followed without the API key, and only to addresses that requests may be sent to.

use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use tokio_util::bytes::Bytes;

use super::{
    Client, Hosts, MAX_RESPONSE_BYTES,
    address::{AddressPolicy, PresignedAddress},
    connection::Connections,
    key::ApiKey,
    limit_time,
    other_hosts::reports_expired_address,
    request_url,
    response::{
        FileMetadata, HttpResponse, header_text, next_chunk, parse_http_date, read_start, read_window,
    },
    retry::RequestKind,
    transport_error::TransportError,
};
use crate::{
    backoff::AttemptError,
    service::request::{FileRange, Request},
};

/// Maximum number of redirects that are followed for one file.
const MAX_REDIRECTS: usize = 3;

/// A download that receives no byte for this time has failed.
const STALL_LIMIT: Duration = Duration::from_secs(30);

/// The part that is requested to learn the address of a file: the service redirects every request for a file that the
/// storage host has.
const FIRST_BYTE: FileRange = FileRange { offset: 0, length: 1 };

/// Where an interrupted download continues, and of which version of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeFrom {
    /// Number of bytes that are present already.
    pub offset: u64,
    /// `ETag` of the version that these bytes belong to, unchanged.
    pub etag: Option<String>,
}

/// The response to a request for a file.
#[derive(Debug)]
pub enum DownloadResponse {
    /// The file, or the requested rest of it.
    Stream(DownloadStream),
    /// Any other response, with the beginning of its body.
    Other(HttpResponse),
}

/// The body of a file, while it is received.
#[derive(Debug)]
pub struct DownloadStream {
    response: Response,
    /// Position of the first byte in the file.
    pub offset: u64,
    /// Size of the whole file in bytes, if the response states it.
    pub total: Option<u64>,
    /// `ETag`, unchanged.
    pub etag: Option<String>,
    /// `Last-Modified`
    pub modified: Option<SystemTime>,
}

/// Why a file was not received to its end.
#[derive(Debug, thiserror::Error)]
#[error("the connection was lost: {0}")]
pub struct StreamError(String);

/// The response at the end of a chain of redirects.
pub(super) struct FinalResponse {
    response: Response,
    /// Position of the body in the file, if the response states it.
    start: Option<u64>,
    /// What the headers and the redirects tell about the file.
    file: FileMetadata,
}

impl ResumeFrom {
    /// Returns the headers that request the missing bytes. The host sends the whole file if it has changed.
    pub(super) fn headers(&self) -> HeaderMap {
        let etag = self.etag.as_deref().and_then(|etag| HeaderValue::from_str(etag).ok());
        // Without an `ETag`, the missing bytes could belong to another version: the whole file is requested.
        let Some(etag) = etag.filter(|_| self.offset > 0) else { return HeaderMap::new() };

        let mut headers = range_headers(&format!("bytes={}-", self.offset));
        headers.insert(header::IF_RANGE, etag);

        headers
    }
}

impl DownloadStream {
    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, StreamError> {
        match tokio::time::timeout(STALL_LIMIT, next_chunk(&mut self.response)).await {
            Ok(Ok(chunk)) => Ok(chunk),
            Ok(Err(TransportError::Truncated(reason))) => Err(StreamError(reason)),
            Ok(Err(error)) => Err(StreamError(error.to_string())),
            Err(_) => Err(StreamError(format!("no byte came for {} s", STALL_LIMIT.as_secs()))),
        }
    }
}

impl Client {
    /// Requests a file once, without retries. `listed_url` is the address that the service lists for the file; it is
    /// requested first, with the API key only if it belongs to the service's own host (service.md 12.2).
    pub async fn open(
        &self,
        request: &Request,
        listed_url: Option<&str>,
        resume_from: &ResumeFrom,
        key: &ApiKey,
    ) -> Result<DownloadResponse, AttemptError> {
        let host = self.hosts.find(request)?;
        let fail = |error: TransportError| {
            let is_transient = RequestKind::ServiceFile.is_transient_error(&error);
            AttemptError { failure: error.into_failure(request, key, 1), is_transient }
        };
        let own_url = request_url(host, request);

        let listed_url = listed_url.filter(|url| *url != own_url);
        if let Some(url) = listed_url.and_then(|url| self.address_policy().parse(url).ok()) {
            let is_own = host.has_origin_of(&url);
            let key = is_own.then_some(key);
            let outcome = self.hosts.open(request, url.as_str(), resume_from, key).await;
            if is_conclusive(is_own, &outcome) {
                return outcome.map_err(fail);
            }
        }

        self.hosts.open(request, &own_url, resume_from, Some(key)).await.map_err(fail)
    }

    /// Returns the presigned address of a file, in one attempt. Returns `None` if the file is read with the API key
    /// only, or if the service does not respond. `listed_url` is the address that the service lists for the file.
    pub async fn presigned_address(
        &self,
        request: &Request,
        listed_url: Option<&str>,
        key: &ApiKey,
    ) -> Option<PresignedAddress> {
        let host = self.hosts.find(request).ok()?;
        let listed_url = listed_url.and_then(|url| self.address_policy().parse(url).ok());
        // The key is not for other hosts, so that their addresses work without it.
        if let Some(url) = listed_url.as_ref().filter(|url| !host.has_origin_of(url)) {
            return Some(PresignedAddress::new(url.clone()));
        }

        let url = listed_url.map_or_else(|| request_url(host, request), String::from);
        let range = part_headers(FIRST_BYTE);
        let exchange =
            async { Ok(self.hosts.request_with_key(request, &url, key)?.headers(range).send().await?) };
        let response = limit_time(self.hosts.timeout, exchange).await.ok()?;

        followed_address(&response, self.address_policy())
    }
}

impl Hosts {
    /// Opens a file at an address: without a key, at one that the service names.
    async fn open(
        &self,
        request: &Request,
        url: &str,
        resume_from: &ResumeFrom,
        key: Option<&ApiKey>,
    ) -> Result<DownloadResponse, TransportError> {
        let sending = if let Some(key) = key {
            self.request_with_key(request, url, key)?
        } else {
            let url = Url::parse(url).map_err(|error| TransportError::Setup(error.to_string()))?;
            self.connections.client_for_named(&url)?.get(url)
        };

        open_file(sending, resume_from.headers(), &self.connections, self.timeout).await
    }
}

/// Returns whether the outcome at a listed address decides the request. It does not if the file may have moved since it
/// was listed, or if another host does not respond.
fn is_conclusive(is_own: bool, outcome: &Result<DownloadResponse, TransportError>) -> bool {
    match outcome {
        Ok(DownloadResponse::Stream(_)) => true,
        Ok(DownloadResponse::Other(response)) => {
            response.status != 404 && !reports_expired_address(response.status, &response.body)
        }
        Err(_) => is_own,
    }
}

/// Sends a request for a file, follows redirects, and returns the body as a stream. `headers` request the wanted part.
pub(super) async fn open_file(
    request: RequestBuilder,
    headers: HeaderMap,
    connections: &Connections,
    limit: Duration,
) -> Result<DownloadResponse, TransportError> {
    let opening = async {
        let response = request.headers(headers.clone()).send().await?;
        FinalResponse::follow(response, &headers, connections).await?.into_download().await
    };
    limit_time(limit, opening).await
}

impl FinalResponse {
    /// Follows redirects to a file. `headers` request the wanted part of the file.
    pub(super) async fn follow(
        mut response: Response,
        headers: &HeaderMap,
        connections: &Connections,
    ) -> Result<Self, TransportError> {
        let (mut redirects, mut redirected_to, mut redirect_error) = (0, None, None);

        while is_redirect(response.status()) {
            let target = match redirect_target(&response, connections.policy) {
                Ok(target) if redirects < MAX_REDIRECTS => target,
                Ok(_) => {
                    redirect_error =
                        Some(format!("leads to another redirect after {MAX_REDIRECTS} redirects"));
                    break;
                }
                Err(reason) => {
                    redirect_error = Some(reason);
                    break;
                }
            };

            let client = connections.client_for_named(&target)?;
            response = client.get(target.clone()).headers(headers.clone()).send().await?;
            redirected_to = Some(PresignedAddress::new(target));
            redirects += 1;
        }

        let text = |name| header_text(response.headers(), name).map(str::to_owned);
        let (content_type, etag) = (text(header::CONTENT_TYPE), text(header::ETAG));
        let (start, total) = content_range(response.headers());
        let file = FileMetadata { content_type, etag, total, offset: 0, redirected_to, redirect_error };
        Ok(Self { response, start, file })
    }

    async fn into_download(self) -> Result<DownloadResponse, TransportError> {
        let Self { response, start, file } = self;
        let is_file = matches!(response.status(), StatusCode::OK | StatusCode::PARTIAL_CONTENT);
        if !is_file || file.redirect_error.is_some() {
            let head = HttpResponse::without_body(&response);
            let body = read_start(response).await?;
            return Ok(DownloadResponse::Other(HttpResponse { body, file, ..head }));
        }

        let (offset, total) = match response.status() {
            StatusCode::OK => (0, response.content_length()),
            // A part without a position cannot be the requested one: no file has this offset.
            _ => (start.unwrap_or(u64::MAX), file.total),
        };
        let modified = header_text(response.headers(), header::LAST_MODIFIED).and_then(parse_http_date);
        let modified = modified.and_then(|modified| SystemTime::try_from(modified).ok());

        Ok(DownloadResponse::Stream(DownloadStream { response, offset, total, etag: file.etag, modified }))
    }

    /// Reads `part` of the file. A host may ignore the header `Range` and send the whole file; then the part is cut out
    /// of it.
    pub(super) async fn read_part(self, part: FileRange) -> Result<HttpResponse, TransportError> {
        let Self { response, start, mut file } = self;
        let mut answer = HttpResponse::without_body(&response);
        file.offset = part.offset;
        let stated = response.content_length();
        let length = usize::try_from(part.length).unwrap_or(usize::MAX).min(MAX_RESPONSE_BYTES);

        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                file.offset = start.unwrap_or(part.offset);
                (answer.body, _) = read_window(response, 0, length).await?;
            }
            StatusCode::OK => {
                file.total = stated;
                // The size of a longer file is reported, so that the caller can explain why it is not read.
                if file.total.is_none_or(|total| total <= MAX_RESPONSE_BYTES as u64) {
                    let counted;
                    (answer.body, counted) = read_window(response, part.offset, length).await?;
                    file.total = file.total.or(counted);
                }
            }
            // The file ends before the requested position. The header still states its size.
            StatusCode::RANGE_NOT_SATISFIABLE => {}
            // The body explains why there is no file.
            _ => {
                file.total = None;
                answer.body = read_start(response).await?;
            }
        }

        Ok(HttpResponse { file, ..answer })
    }
}

/// Returns the address that a response redirects to, if it is a redirect that is followed.
pub(super) fn followed_address(response: &Response, policy: AddressPolicy) -> Option<PresignedAddress> {
    let target = is_redirect(response.status()).then(|| redirect_target(response, policy).ok())??;
    Some(PresignedAddress::new(target))
}

fn is_redirect(status: StatusCode) -> bool {
    // 304 is a 3xx status without a target.
    status.is_redirection() && status != StatusCode::NOT_MODIFIED
}

/// Returns the address that a redirect leads to.
///
/// # Errors
/// Describes why the redirect is not followed. The description leaves out the query, which may be a credential.
fn redirect_target(response: &Response, policy: AddressPolicy) -> Result<Url, String> {
    let location =
        header_text(response.headers(), header::LOCATION).ok_or("names no address in `Location`")?;
    let target = response.url().join(location).map_err(|_| "names no usable address in `Location`")?;
    let Err(rule) = policy.check(&target) else { return Ok(target) };

    let (scheme, host) = (target.scheme(), target.host_str().unwrap_or_default());
    Err(format!("leads to `{scheme}://{host}`, and is not followed: the address {rule}"))
}

pub(super) fn part_headers(part: FileRange) -> HeaderMap {
    let last = part.offset.saturating_add(part.length.saturating_sub(1));
    range_headers(&format!("bytes={}-{last}", part.offset))
}

fn range_headers(range: &str) -> HeaderMap {
    HeaderValue::from_str(range).map(|range| (header::RANGE, range)).into_iter().collect()
}

/// Reads the header `Content-Range`: position of the part, and size of the whole file.
fn content_range(headers: &HeaderMap) -> (Option<u64>, Option<u64>) {
    let range =
        header_text(headers, header::CONTENT_RANGE).and_then(|text| text.trim().strip_prefix("bytes "));
    let Some((span, total)) = range.and_then(|range| range.split_once('/')) else { return (None, None) };
    let start = span.split_once('-').and_then(|(start, _)| start.trim().parse().ok());

    (start, total.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_version_is_continued() {
        for (offset, etag, expected) in [
            (0, None, None),
            (0, Some("\"v1\""), None),
            (10, None, None),
            (10, Some("line\nbreak"), None),
            (10, Some("\"v1\""), Some(("bytes=10-", "\"v1\""))),
        ] {
            let headers = ResumeFrom { offset, etag: etag.map(str::to_owned) }.headers();
            let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            let requested = text(header::RANGE).zip(text(header::IF_RANGE));
            assert_eq!(requested, expected, "{offset} {etag:?}");
        }
    }
}
