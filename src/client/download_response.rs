//! Opens files of the service as streams.

use std::time::SystemTime;

use http::{HeaderMap, StatusCode, header};
use url::Url;

use super::{
    ApiKey, DownloadStream, FileMetadata, HttpRequest, HttpResponse, RequestKind, ResumeFrom, ServiceClient,
    byte_range::content_range,
    http_client::IncomingResponse,
    http_date::parse_http_date,
    redirect::FinalResponse,
    storage_xml::reports_expired_address,
    transport::{Transport, limit_time},
    transport_error::TransportError,
};
use crate::failure::Failure;

/// The response to a request for a file.
#[derive(Debug)]
pub enum DownloadResponse {
    /// The file, or the requested rest of it.
    Stream(DownloadStream),
    /// Any other response, with its complete body.
    Other(HttpResponse),
}

/// Why a request for a file has no response.
#[derive(Debug)]
pub struct OpenError {
    /// The failure for the caller.
    pub failure: Failure,
    /// Whether an equal request may succeed later.
    pub is_transient: bool,
}

impl DownloadResponse {
    pub(super) async fn from_final_response(found: FinalResponse) -> Result<Self, TransportError> {
        let FinalResponse { response, redirected_to, redirect_error } = found;
        let IncomingResponse { head, body } = response;
        let (start, total) = content_range(&head.headers);

        let is_file = matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT);
        if !is_file || redirect_error.is_some() {
            let mut answer = HttpResponse::new(&head, body.read().await?);
            answer.file = FileMetadata { total, redirected_to, redirect_error, ..answer.file };
            return Ok(Self::Other(answer));
        }

        let (offset, total) = match head.status {
            StatusCode::OK => (0, body.stated_length()),
            // A part without a position cannot be the requested one: no file has this offset.
            _ => (start.unwrap_or(u64::MAX), total),
        };
        let etag = head.text(header::ETAG).map(str::to_owned);
        let modified = head.text(header::LAST_MODIFIED).and_then(parse_http_date);
        let modified = modified.and_then(|modified| SystemTime::try_from(modified).ok());

        Ok(Self::Stream(DownloadStream { body, offset, total, etag, modified }))
    }
}

impl ServiceClient {
    /// Requests a file once, without retries. `listed_url` is the address that the service lists for the file; it is
    /// requested first, with the API key only if it belongs to the service's own host (supplement 12.2).
    pub async fn open(
        &self,
        request: &HttpRequest<'_>,
        listed_url: Option<&str>,
        resume_from: &ResumeFrom,
        key: &ApiKey,
    ) -> Result<DownloadResponse, OpenError> {
        let transport =
            self.transport(request).map_err(|failure| OpenError { failure, is_transient: false })?;
        let headers = resume_from.headers();

        if let Some(url) = distinct_url(transport, request, listed_url) {
            let outcome = transport.open(request, Some(&url), &headers, key).await;
            if is_conclusive(transport, &url, &outcome) {
                return outcome.map_err(|error| open_error(error, request, key));
            }
        }

        transport.open(request, None, &headers, key).await.map_err(|error| open_error(error, request, key))
    }
}

/// Returns the listed address, if requests may be sent to it and it differs from the address that the request is sent to
/// otherwise.
fn distinct_url(transport: &Transport, request: &HttpRequest<'_>, listed_url: Option<&str>) -> Option<Url> {
    let own_url = format!("{}{}", transport.url().as_str(), request.path_and_query);
    let listed_url = listed_url.filter(|url| *url != own_url)?;

    transport.policy().parse(listed_url).ok()
}

/// Returns whether the outcome at a listed address decides the request. It does not if the file may have moved since it
/// was listed, or if another host does not respond.
fn is_conclusive(
    transport: &Transport,
    url: &Url,
    outcome: &Result<DownloadResponse, TransportError>,
) -> bool {
    match outcome {
        Ok(DownloadResponse::Stream(_)) => true,
        Ok(DownloadResponse::Other(response)) => {
            response.status != 404 && !reports_expired_address(response.status, &response.body)
        }
        Err(_) => transport.url().has_origin_of(url),
    }
}

fn open_error(error: TransportError, request: &HttpRequest<'_>, key: &ApiKey) -> OpenError {
    let is_transient = RequestKind::ServiceFile.is_transient_error(&error);
    OpenError { failure: error.into_failure(request, Some(key), 1), is_transient }
}

impl Transport {
    async fn open(
        &self,
        request: &HttpRequest<'_>,
        address: Option<&Url>,
        range: &HeaderMap,
        key: &ApiKey,
    ) -> Result<DownloadResponse, TransportError> {
        let opening = async {
            let response = self.request_file(request, address, range, key).await?;
            DownloadResponse::from_final_response(response).await
        };

        limit_time(self.timeout(), opening).await
    }
}
