//! The message in the body of a request, before the library reads it: limits of size, time, memory and number of values. What
//! the library answers as plain text becomes a JSON-RPC error here.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{DefaultBodyLimit, FromRequest as _, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rmcp::model::{ErrorData, ProtocolVersion, RequestId};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::refusal::Refusal;
use crate::mcp::message::check;

/// Time limit of reading a body.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// Largest size of all bodies that are held, in KiB.
const MAX_BUFFERED_KIB: usize = 256 * 1024;

/// Longest body that is read although it is refused, in bytes.
const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;

/// Time limit of reading a body that is refused.
const DISCARD_LIMIT: Duration = Duration::from_secs(2);

/// How long a client waits before it sends a body again, in seconds.
const PAUSE_S: u64 = 1;

/// Longest plain text of the library that becomes a message, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Header with the revision of the protocol.
const VERSION: &str = "mcp-protocol-version";

/// The media types that the library asks a client to accept.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// The memory of all bodies.
#[derive(Debug)]
pub(super) struct BodyMemory {
    /// Largest body, in bytes.
    max_bytes: usize,
    free_kib: Arc<Semaphore>,
}

impl BodyMemory {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, free_kib: Arc::new(Semaphore::new(MAX_BUFFERED_KIB)) }
    }

    /// Reserves the memory of a body, as long as its header says, or of the longest body.
    fn reserve(&self, headers: &HeaderMap) -> Result<OwnedSemaphorePermit, Refusal> {
        let stated =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let bytes: usize = stated.unwrap_or(self.max_bytes);
        if bytes > self.max_bytes {
            return Err(self.too_large());
        }

        Arc::clone(&self.free_kib).try_acquire_many_owned(kib(bytes)).map_err(|_| {
            let message = "the server is busy: too many long requests at the same time";
            Refusal::retry_after(StatusCode::SERVICE_UNAVAILABLE, message, PAUSE_S)
        })
    }

    async fn read(&self, body: Body) -> Result<Bytes, Refusal> {
        let mut request = Request::new(body);
        DefaultBodyLimit::max(self.max_bytes).apply(&mut request);
        let read = tokio::time::timeout(READ_LIMIT, Bytes::from_request(request, &())).await;
        let read = read.map_err(|_| {
            let message = format!("no complete body within {} s", READ_LIMIT.as_secs());
            Refusal::new(StatusCode::REQUEST_TIMEOUT, message)
        })?;

        read.map_err(|rejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => self.too_large(),
            _ => Refusal::new(StatusCode::BAD_REQUEST, "the body is incomplete"),
        })
    }

    fn too_large(&self) -> Refusal {
        let message = format!("the body is longer than {} bytes", self.max_bytes);
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }
}

/// Reads the body once, and passes the request on with the whole body.
///
/// # Errors
/// Status 415 for another media type than JSON, 413 for a long body, 503 if the memory is used up, 408 after the time limit,
/// and 400 if the body ends early, has too many values, or comes with an unusable version.
pub(super) async fn read_message(
    State(bodies): State<Arc<BodyMemory>>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    check_media_type(request.headers())?;
    let mut memory = match bodies.reserve(request.headers()) {
        Ok(memory) => memory,
        Err(refusal) => {
            discard(request.into_body()).await;
            return Err(refusal);
        }
    };

    let (mut parts, body) = request.into_parts();
    let message = bodies.read(body).await?;
    // A body that states no length is shorter than the longest one.
    drop(memory.split(memory.num_permits().saturating_sub(usize::try_from(kib(message.len())).unwrap_or(0))));

    let checked = check(&message).map_err(|invalid| {
        Refusal::with_error(StatusCode::BAD_REQUEST, invalid.error).of_message(invalid.id)
    })?;
    let message = match checked {
        Cow::Borrowed(_) => message,
        Cow::Owned(repaired) => repaired.into(),
    };
    let version =
        single_version(&parts.headers).map_err(|refusal| refusal.of_message(message_id(&message)))?;

    parts.headers.insert(header::ACCEPT, ACCEPTED);
    let response = next.run(Request::from_parts(parts, message.clone().into())).await;
    Ok(as_json_rpc(response, &message, version.as_ref()).await)
}

/// Reads a body and drops it, within limits. Many clients read no response before they have sent their body.
async fn discard(body: Body) {
    let reading = async {
        let (mut chunks, mut length) = (body.into_data_stream(), 0);
        while let Some(Ok(chunk)) = chunks.next().await {
            length += chunk.len();
            if length > MAX_DISCARDED_BYTES {
                break;
            }
        }
    };

    // A body that does not end in time is left unread.
    tokio::time::timeout(DISCARD_LIMIT, reading).await.unwrap_or_default();
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (media_type, _) = value.split_once(';').unwrap_or((value, ""));
    if media_type.trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the header Content-Type must be application/json"))
}

/// Returns the value of the version header. The library would read the first one of several.
fn single_version(headers: &HeaderMap) -> Result<Option<HeaderValue>, Refusal> {
    let mut values = headers.get_all(VERSION).iter();
    let first = values.next();
    let problem = match first {
        _ if values.next().is_some() => "appears several times",
        Some(version) if version.to_str().is_err() => "is not ASCII text",
        _ => return Ok(first.cloned()),
    };

    let error = ErrorData::header_mismatch(format!("the header {VERSION} {problem}"), None);
    Err(Refusal::with_error(StatusCode::BAD_REQUEST, error))
}

/// Makes a JSON-RPC error of a refusal that the library writes as plain text.
async fn as_json_rpc(response: Response, message: &[u8], version: Option<&HeaderValue>) -> Response {
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    let status = response.status();
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
    let text = if version.is_some_and(|version| known.clone().all(|known| version != known)) {
        format!("unknown MCP-Protocol-Version; known are {}", known.collect::<Vec<_>>().join(", "))
    } else {
        let text = to_bytes(response.into_body(), MAX_TEXT_BYTES).await.unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    Refusal::new(status, text).of_message(message_id(message)).into_response()
}

/// Returns the id of a message that is refused.
fn message_id(message: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Envelope {
        id: Option<RequestId>,
    }

    serde_json::from_slice::<Envelope>(message).ok()?.id
}

/// Returns whether a client accepts a stream of events. A client that names no media types accepts all.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().peekable();
    let names_events = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
        ["text/event-stream", "text/*", "*/*"].iter().any(|name| text.contains(name))
    };
    accepted.peek().is_none() || accepted.any(names_events)
}

fn kib(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_accepts_events_unless_it_names_other_media_types_only() {
        let cases: [(&[&'static str], bool); 7] = [
            (&[], true),
            (&["application/json, text/event-stream"], true),
            (&["application/json", "Text/Event-Stream"], true),
            (&["*/*"], true),
            (&["text/*;q=0.5"], true),
            (&["application/json"], false),
            (&["text/html, application/json"], false),
        ];

        for (values, expected) in cases {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::ACCEPT, HeaderValue::from_static(value));
            }
            assert_eq!(accepts_events(&headers), expected, "{values:?}");
        }
    }
}
