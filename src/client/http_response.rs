//! A response of the service, before its content is interpreted.

use std::time::Duration;

use bytes::Bytes;
use http::header;
use jiff::Timestamp;

use super::{
    PresignedAddress,
    http_date::{parse_http_date, retry_after},
    response_head::ResponseHead,
};

/// A response of the service with its complete body.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// HTTP status.
    pub status: u16,
    /// Body, at most [`super::MAX_RESPONSE_BYTES`] bytes.
    pub body: Bytes,
    /// The header `Location` of a redirect, as an absolute address.
    pub location: Option<String>,
    /// How long the service asks to wait before the next request.
    pub retry_after: Option<Duration>,
    /// The header `Date`: the service's clock.
    pub date: Option<Timestamp>,
    /// Number of requests that were sent for this response.
    pub attempts: u32,
    /// Description of the file, if a file was requested.
    pub file: FileMetadata,
}

/// Description of a file in the headers of a response.
#[derive(Clone, Debug, Default)]
pub struct FileMetadata {
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `ETag`, unchanged.
    pub etag: Option<String>,
    /// Size of the whole file in bytes, if the response states it.
    pub total: Option<u64>,
    /// Position of the body in the file.
    pub offset: u64,
    /// The address that the response came from, if redirects led to it.
    pub redirected_to: Option<PresignedAddress>,
    /// Why a redirect was not followed, if one was not.
    pub redirect_error: Option<String>,
}

impl HttpResponse {
    pub(super) fn new(head: &ResponseHead, body: Bytes) -> Self {
        let file = FileMetadata {
            content_type: head.text(header::CONTENT_TYPE).map(str::to_owned),
            etag: head.text(header::ETAG).map(str::to_owned),
            ..FileMetadata::default()
        };
        let absolute =
            |location: &str| head.resolve(location).map_or_else(|| location.to_owned(), Into::into);

        Self {
            status: head.status.as_u16(),
            body,
            location: head.text(header::LOCATION).map(absolute),
            retry_after: retry_after(&head.headers),
            date: head.text(header::DATE).and_then(parse_http_date),
            attempts: 1,
            file,
        }
    }

    pub(super) fn with_attempts(self, attempts: u32) -> Self {
        Self { attempts, ..self }
    }

    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
