//! A response of the service with its complete body, before its content is interpreted.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, header};
use jiff::Timestamp;
use reqwest::Response;
use url::Url;

use super::{
    MAX_RESPONSE_BYTES,
    address::PresignedAddress,
    transport_error::{TransportError, error_chain},
};

/// How much of the body of an error is kept, in bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// A response of the service with its body.
#[derive(Clone, Debug)]
pub struct HttpResponse {
    /// HTTP status.
    pub status: u16,
    /// Body, at most [`MAX_RESPONSE_BYTES`] bytes. The body of an error is cut.
    pub body: Bytes,
    /// The header `Location` of a redirect, as an absolute address.
    pub location: Option<String>,
    /// How long the service asks to wait before the next request.
    pub retry_after: Option<Duration>,
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
    /// Reads the whole body of a success, or the beginning of that of an error.
    pub(super) async fn read(response: Response) -> Result<Self, TransportError> {
        let answer = Self::without_body(&response);
        if !answer.is_success() {
            return Self::read_error(response).await;
        }
        Ok(Self { body: read_body(response, MAX_RESPONSE_BYTES).await?, ..answer })
    }

    /// Reads the body of an error, whose beginning says enough.
    pub(super) async fn read_error(response: Response) -> Result<Self, TransportError> {
        let answer = Self::without_body(&response);
        Ok(Self { body: read_start(response).await?, ..answer })
    }

    /// Reads status and headers.
    pub(super) fn without_body(response: &Response) -> Self {
        let text = |name| header_text(response.headers(), name);
        // An absolute address stays as it is written, because its signature can be about this text.
        let absolute = |location: &str| match (Url::parse(location), response.url().join(location)) {
            (Err(_), Ok(joined)) => joined.into(),
            _ => location.to_owned(),
        };

        Self {
            status: response.status().as_u16(),
            body: Bytes::new(),
            location: text(header::LOCATION).map(absolute),
            retry_after: retry_after(response.headers()),
            attempts: 1,
            file: FileMetadata {
                content_type: text(header::CONTENT_TYPE).map(str::to_owned),
                etag: text(header::ETAG).map(str::to_owned),
                ..FileMetadata::default()
            },
        }
    }

    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Reads a whole body.
///
/// # Errors
/// The body is longer than `limit`, or the connection was lost. A body that states a longer length is not read at all.
pub(super) async fn read_body(mut response: Response, limit: usize) -> Result<Bytes, TransportError> {
    check_length(response.content_length().unwrap_or_default(), limit)?;

    let mut body = BytesMut::new();
    while let Some(chunk) = next_chunk(&mut response).await? {
        check_length((body.len() + chunk.len()) as u64, limit)?;
        body.extend_from_slice(&chunk);
    }

    Ok(body.freeze())
}

/// Reads a body that explains an error, and returns its first [`MAX_ERROR_BYTES`].
pub(super) async fn read_start(mut response: Response) -> Result<Bytes, TransportError> {
    check_length(response.content_length().unwrap_or_default(), MAX_RESPONSE_BYTES)?;

    let (mut body, mut received) = (BytesMut::new(), 0);
    while let Some(mut chunk) = next_chunk(&mut response).await? {
        received += chunk.len() as u64;
        check_length(received, MAX_RESPONSE_BYTES)?;
        chunk.truncate(MAX_ERROR_BYTES - body.len());
        body.extend_from_slice(&chunk);
    }

    Ok(body.freeze())
}

fn check_length(length: u64, limit: usize) -> Result<(), TransportError> {
    if length > limit as u64 { Err(TransportError::TooLong) } else { Ok(()) }
}

/// Returns the next bytes of a body, or `None` at its end.
pub(super) async fn next_chunk(response: &mut Response) -> Result<Option<Bytes>, TransportError> {
    let chunk = response.chunk().await;
    chunk.map_err(|error| TransportError::Truncated(error_chain(&error.without_url())))
}

/// Returns the value of a header, if it is text.
pub(super) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    header_text(headers, header::DATE).and_then(parse_http_date)
}

/// Reads the header `Retry-After`: a number of seconds, or a date. A date in the past means no wait.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    parse_retry_after(header_text(headers, header::RETRY_AFTER)?, Timestamp::now())
}

/// Reads an HTTP date such as `Thu, 31 Dec 2099 23:59:59 GMT`.
pub(super) fn parse_http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
}

fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }

    let wait = parse_http_date(text)?.duration_since(now);

    Some(Duration::try_from(wait).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_or_a_date() {
        let now = parse_http_date("Thu, 31 Dec 2099 23:59:00 GMT").expect("a date");

        for (text, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("18446744073709551615", Some(u64::MAX)),
            ("Thu, 31 Dec 2099 23:59:59 GMT", Some(59)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(0)),
            ("-5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse_retry_after(text, now), seconds.map(Duration::from_secs), "{text:?}");
        }
    }
}
