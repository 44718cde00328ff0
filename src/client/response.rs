//! A response of the service with its body, before its content is interpreted.

use std::{sync::Arc, time::Duration};

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, header};
use jiff::Timestamp;
use reqwest::Response;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use url::Url;

use super::{
    MAX_RESPONSE_BYTES,
    address::PresignedAddress,
    transport_error::{TransportError, error_chain},
};

/// Bodies that are longer, in bytes, are few at a time.
const LONG_BODY_BYTES: usize = 256 * 1024;

/// How many long bodies are held. Without a limit, the calls of a few clients of a server would fill the memory of its process.
pub(super) const MAX_LONG_BODIES: usize = 4;

static LONG_BODIES: Semaphore = Semaphore::const_new(MAX_LONG_BODIES);

/// The places of one key among those that hold or wait for something scarce. With one place it alternates with other keys.
pub type KeyPlaces = Arc<Semaphore>;

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
    pub(super) async fn read(response: Response, places: &KeyPlaces) -> Result<Self, TransportError> {
        let head = Self::without_body(&response);
        let body = if head.is_success() {
            read_body(response, MAX_RESPONSE_BYTES, places).await?
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
        serde_json::from_slice(&self.body).or_else(|_| {
            let text = String::from_utf8_lossy(&self.body);
            serde_json::from_str(&text).or_else(|_| serde_json::from_str(&without_lone_surrogates(&text)))
        })
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

/// Reads a whole body.
///
/// # Errors
/// The body is longer than `limit`, or the connection was lost. A body that states a longer length is not read at all.
pub(super) async fn read_body(
    response: Response,
    limit: usize,
    places: &KeyPlaces,
) -> Result<Bytes, TransportError> {
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(TransportError::TooLong);
    }

    match read_window(response, 0, limit, places).await? {
        (body, Some(_)) => Ok(body),
        (_, None) => Err(TransportError::TooLong),
    }
}

/// A long body, whose place is free again when nothing refers to the body any more.
struct LongBody {
    body: Bytes,
    _place: (OwnedSemaphorePermit, SemaphorePermit<'static>),
}

impl AsRef<[u8]> for LongBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Reads the beginning of a body that explains an error.
pub(super) async fn read_start(response: Response) -> Result<Bytes, TransportError> {
    Ok(read_window(response, 0, MAX_ERROR_BYTES, &Arc::new(Semaphore::new(1))).await?.0)
}

/// Skips `skip` bytes of a body, and returns the next ones, at most `length`, and the size of the body if it was read to its
/// end.
pub(super) async fn read_window(
    mut response: Response,
    mut skip: u64,
    length: usize,
    places: &KeyPlaces,
) -> Result<(Bytes, Option<u64>), TransportError> {
    let stated = usize::try_from(response.content_length().unwrap_or_default()).unwrap_or(usize::MAX);
    let mut body = BytesMut::with_capacity(stated.min(length).min(LONG_BODY_BYTES));
    let (mut place, mut received, mut is_full) = (None, 0, false);

    while !is_full && let Some(mut chunk) = next_chunk(&mut response).await? {
        received += chunk.len() as u64;
        let skipped = chunk.len().min(usize::try_from(skip).unwrap_or(usize::MAX));
        chunk.advance(skipped);
        skip -= skipped as u64;

        is_full = chunk.len() > length - body.len();
        chunk.truncate(length - body.len());
        body.extend_from_slice(&chunk);
        // A body that becomes long waits until few others are held. The semaphores are never closed.
        if body.len() > LONG_BODY_BYTES && place.is_none() {
            let of_key = Arc::clone(places).acquire_owned().await.ok();
            place = of_key.zip(LONG_BODIES.acquire().await.ok());
        }
        // A body without a stated length is skipped up to the limit of an answer.
        if received > MAX_RESPONSE_BYTES as u64 && body.is_empty() {
            return Err(TransportError::TooLong);
        }
    }

    let body = body.freeze();
    let body = match place {
        Some(place) => Bytes::from_owner(LongBody { body, _place: place }),
        None => body,
    };
    Ok((body, (!is_full).then_some(received)))
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
    async fn few_long_bodies_are_held_at_a_time_and_one_of_each_key() {
        let read = async |places: &KeyPlaces| {
            let response = http::Response::new(vec![0; LONG_BODY_BYTES + 1]);
            read_body(response.into(), MAX_RESPONSE_BYTES, places).await.expect("a body")
        };
        let keys = [(); MAX_LONG_BODIES + 1].map(|()| KeyPlaces::new(Semaphore::new(1)));
        let [first, others @ .., last] = &keys;
        let of_first = read(first).await;
        let mut again = pin!(read(first));
        assert!(futures_util::poll!(&mut again).is_pending());

        let mut held = Vec::new();
        for key in others {
            held.push(read(key).await);
        }
        let mut of_last = pin!(read(last));
        assert!(futures_util::poll!(&mut of_last).is_pending());
        held.pop();
        of_last.await;
        drop(of_first);
        again.await;
    }
}
