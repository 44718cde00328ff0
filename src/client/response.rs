//! A response of the service with its body, before its content is interpreted.

use std::{borrow::Cow, time::Duration};

use jiff::Timestamp;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::bytes::{Buf as _, Bytes, BytesMut};

use super::{
    MAX_RESPONSE_BYTES,
    address::PresignedAddress,
    transport_error::{TransportError, error_chain},
};

/// Bodies that are longer, in bytes, are few at a time.
const LONG_BODY_BYTES: usize = 256 * 1024;

/// How many long bodies are held. Without a limit, the calls of a few clients of a server would fill the memory of its process.
const MAX_LONG_BODIES: usize = 4;

static LONG_BODIES: Semaphore = Semaphore::const_new(MAX_LONG_BODIES);

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
        let head = Self::without_body(&response);
        let body = if head.is_success() {
            read_body(response, MAX_RESPONSE_BYTES).await?
        } else {
            read_start(response).await?
        };

        Ok(Self { body, ..head })
    }

    pub(super) fn without_body(response: &Response) -> Self {
        // An absolute address stays as it is written, because its signature can be about this text.
        let absolute = |location: &str| match (Url::parse(location), response.url().join(location)) {
            (Err(_), Ok(joined)) => joined.into(),
            _ => location.to_owned(),
        };

        Self {
            status: response.status().as_u16(),
            body: Bytes::new(),
            location: header_text(response.headers(), header::LOCATION).map(absolute),
            retry_after: retry_after(response.headers()),
            attempts: 1,
            file: FileMetadata::default(),
        }
    }

    /// Parses the body. Bytes that are not UTF-8 and halves of a surrogate pair become U+FFFD, and spoil nothing else.
    pub fn json(&self) -> serde_json::Result<Value> {
        // The parser checks each string of a slice for UTF-8, but no string of a `str`.
        let text = str::from_utf8(&self.body).map_or_else(|_| String::from_utf8_lossy(&self.body), Cow::from);
        serde_json::from_str(&text).or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)))
    }

    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Replaces the escapes of halves of a surrogate pair, which a service writes that cuts texts after a number of UTF-16 units.
fn without_lone_surrogates(text: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut result = String::with_capacity(text.len());
    let mut rest = text;

    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        let (is_kept, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (true, 12),
            (Some(0xd800..=0xdfff), _) => (false, 6),
            _ => (true, 2),
        };
        let Some((escape, after)) = escape.split_at_checked(length) else { break };
        result += before;
        result += if is_kept { escape } else { "\u{FFFD}" };
        rest = after;
    }

    result + rest
}

/// Reads a whole body. A long one waits until few others are held.
///
/// # Errors
/// The body is longer than `limit`, or the connection was lost. A body that states a longer length is not read at all.
pub(super) async fn read_body(mut response: Response, limit: usize) -> Result<Bytes, TransportError> {
    let stated = usize::try_from(response.content_length().unwrap_or_default()).unwrap_or(usize::MAX);
    if stated > limit {
        return Err(TransportError::TooLong);
    }

    let (mut body, mut place) = (BytesMut::with_capacity(stated.min(LONG_BODY_BYTES)), None);
    while let Some(chunk) = next_chunk(&mut response).await? {
        if chunk.len() > limit - body.len() {
            return Err(TransportError::TooLong);
        }
        body.extend_from_slice(&chunk);
        if body.len() > LONG_BODY_BYTES && place.is_none() {
            place = LONG_BODIES.acquire().await.ok();
        }
    }

    let body = body.freeze();
    Ok(match place {
        Some(place) => Bytes::from_owner(LongBody { body, _place: place }),
        None => body,
    })
}

/// A long body, whose place is free again when nothing refers to the body any more.
struct LongBody {
    body: Bytes,
    _place: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for LongBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Reads the beginning of a body that explains an error.
pub(super) async fn read_start(response: Response) -> Result<Bytes, TransportError> {
    Ok(read_window(response, 0, MAX_ERROR_BYTES).await?.0)
}

/// Skips `skip` bytes of a body, and returns the next ones, at most `length`, and the size of the body if it was read to its
/// end.
pub(super) async fn read_window(
    mut response: Response,
    mut skip: u64,
    length: usize,
) -> Result<(Bytes, Option<u64>), TransportError> {
    let (mut body, mut received, mut is_full) = (BytesMut::new(), 0, false);

    while !is_full && let Some(mut chunk) = next_chunk(&mut response).await? {
        received += chunk.len() as u64;
        let skipped = chunk.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
        chunk.advance(skipped);
        skip -= skipped as u64;

        is_full = chunk.len() > length - body.len();
        chunk.truncate(length - body.len());
        body.extend_from_slice(&chunk);
        // A body without a stated length is skipped up to the limit of an answer.
        if received > MAX_RESPONSE_BYTES as u64 && body.is_empty() {
            return Err(TransportError::TooLong);
        }
    }

    Ok((body.freeze(), (!is_full).then_some(received)))
}

pub(super) async fn next_chunk(response: &mut Response) -> Result<Option<Bytes>, TransportError> {
    let chunk = response.chunk().await;
    chunk.map_err(|error| TransportError::Truncated(error_chain(&error.without_url())))
}

pub(super) fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Reads the header `Retry-After`: a number of seconds, or a date. A date in the past means no wait.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = header_text(headers, header::RETRY_AFTER)?;
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }

    let wait = parse_http_date(text)?.duration_since(Timestamp::now());

    Some(Duration::try_from(wait).unwrap_or_default())
}

/// Reads an HTTP date such as `Thu, 31 Dec 2099 23:59:59 GMT`.
pub(super) fn parse_http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn few_long_bodies_are_held_at_a_time() {
        let read = || {
            let response = axum::http::Response::new(vec![0; LONG_BODY_BYTES + 1]);
            read_body(response.into(), MAX_RESPONSE_BYTES)
        };
        let mut held = Vec::new();
        for _ in 0..MAX_LONG_BODIES {
            held.push(read().await.expect("a body"));
        }

        let mut another = pin!(read());
        assert!(futures_util::poll!(&mut another).is_pending());
        held.pop();
        another.await.expect("a body, in the place of the one before");
    }
}
