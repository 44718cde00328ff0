//! The message in the body of a request, before the library reads it: limits of size and time. What
//! the library answers as plain text becomes a JSON-RPC error here.

use std::time::Duration;

use axum::{
    body::{BodyDataStream, Bytes, to_bytes},
    extract::{Extension, Request, State},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use rmcp::model::{ErrorData, JsonRpcError, ProtocolVersion, RequestId};
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    auth::Requester,
    long_work::{MAX_INLINE_BYTES, work_on},
    refusal::{Exceeded, Reason, Refusal},
    state::{Shared, SharedState},
};
use crate::failure::Failure;

/// Time limit of reading a body.
const READ_LIMIT: Duration = Duration::from_secs(30);

/// How long a body may take before the least rate applies.
const GRACE: Duration = Duration::from_secs(2);

/// Least rate of a body, in bytes per second.
const LEAST_RATE: usize = 32 * 1024;

/// Number of pieces in which any body may arrive, and the least mean length of the pieces of one with more, in bytes. A chunk of one
/// byte costs as much as a long one.
const FREE_PIECES: usize = 128;
const LEAST_MEAN: usize = 64;

/// Longest body of a credential that the service has not accepted, in bytes.
const MAX_UNCONFIRMED_BYTES: usize = 64 * 1024;

/// Longest message of a client that sends too much which is decoded, so that its method refuses it, in bytes. A call of
/// 64 KiB takes milliseconds.
const MAX_DECODED_REFUSED_BYTES: usize = 4 * 1024;

/// Longest body that is read although it is refused, in bytes.
const MAX_DISCARDED_BYTES: usize = 64 * 1024 * 1024;

/// Time limit of reading a body that is refused.
const DISCARD_LIMIT: Duration = Duration::from_secs(2);

/// Longest plain text of the library that becomes a message, in bytes.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// Header with the revision of the protocol.
const VERSION: &str = "mcp-protocol-version";

/// The media types that the library asks a client to accept.
const ACCEPTED: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Reads a body.
async fn read(
    app: &Shared,
    headers: &HeaderMap,
    chunks: &mut BodyDataStream,
    requester: &Requester,
) -> Result<Bytes, Refusal> {
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let mut is_confirmed = !app.confirms_credentials;
    check_length(stated.unwrap_or_default(), app, requester, &mut is_confirmed).await?;

    let mut start = Instant::now();
    let mut bytes = BytesMut::new();
    for pieces in 1.. {
        let deadline = start + time_for(bytes.len());
        let Some(chunk) = timeout_at(deadline, chunks.next()).await.map_err(|_| too_slow())? else {
            return Ok(bytes.freeze());
        };
        let chunk = chunk.map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "the body is incomplete"))?;

        let length = bytes.len() + chunk.len();
        if are_too_small(pieces, length) {
            break;
        }
        // The time of a question to the service is not the client's.
        start += check_length(length, app, requester, &mut is_confirmed).await?;
        bytes.extend_from_slice(&chunk);
    }

    Err(Refusal::new(StatusCode::BAD_REQUEST, "the body arrives in too many small pieces"))
}

/// Returns whether this number of pieces is too large for a body of `length` bytes.
fn are_too_small(pieces: usize, length: usize) -> bool {
    pieces > FREE_PIECES && length / pieces < LEAST_MEAN
}

/// Checks that a body of this length may be read, and returns how long the service was asked for the credential of a long one,
/// unless it `is_confirmed` already.
async fn check_length(
    length: usize,
    app: &Shared,
    requester: &Requester,
    is_confirmed: &mut bool,
) -> Result<Duration, Refusal> {
    if length > app.settings.max_body {
        return Err(too_large(app.settings.max_body, ""));
    }
    if length <= MAX_UNCONFIRMED_BYTES || *is_confirmed {
        return Ok(Duration::ZERO);
    }
    // Work for a client that sends too much ends here.
    requester.rate.map_err(Exceeded::refusal)?;

    let start = Instant::now();
    let confirmed = requester.tenant.confirm(&requester.endpoint).await;
    confirmed.map_err(|failure| too_large(MAX_UNCONFIRMED_BYTES, &unconfirmed(&failure)))?;
    *is_confirmed = true;

    Ok(start.elapsed())
}

/// Says why a longer body is not read.
fn unconfirmed(failure: &Failure) -> String {
    format!(", and the service has not accepted the credential of the request: {}", failure.message)
}

fn too_large(max_bytes: usize, reason: &str) -> Refusal {
    let message = format!("the body is longer than {max_bytes} bytes{reason}");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message)
}

/// Returns the time within which the next bytes of a body must arrive, of which `length` bytes have arrived.
fn time_for(length: usize) -> Duration {
    let seconds = u64::try_from(length / LEAST_RATE).unwrap_or(u64::MAX);
    (GRACE + Duration::from_secs(seconds)).min(READ_LIMIT)
}

fn too_slow() -> Refusal {
    let rate = LEAST_RATE / 1024;
    let message = format!(
        "the body arrives too slowly: the least rate is {rate} KiB/s after {} s, and the limit {} s",
        GRACE.as_secs(),
        READ_LIMIT.as_secs()
    );
    Refusal::new(StatusCode::REQUEST_TIMEOUT, message)
}

/// Reads the body once, and passes the request on with the whole body.
///
/// # Errors
/// Status 415 for another media type than JSON, 413 for a long body, 429 if the client sends too much,
/// 408 for a slow body, and 400 if the body ends early, arrives in many small pieces, or comes with an
/// unusable version.
pub(super) async fn read_message(
    State(app): State<SharedState>,
    Extension(mut requester): Extension<Requester>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    check_media_type(request.headers())?;
    let (parts, body) = request.into_parts();
    let mut chunks = body.into_data_stream();
    let bytes = match read(&app, &parts.headers, &mut chunks, &requester).await {
        Ok(body) => body,
        Err(refusal) => {
            discard(chunks).await;
            return Err(refusal);
        }
    };

    requester.rate = requester.rate.and_then(|()| requester.limits.count_body(bytes.len()));
    // Nothing is decoded for a client that sends too much, except a short request, which its method refuses.
    let refused = requester.rate.err().map(Exceeded::refusal);
    if let Some(refusal) = refused
        && (bytes.len() > MAX_DECODED_REFUSED_BYTES || message_id(&bytes).is_none())
    {
        return Err(refusal);
    }

    requester.has_long_message = bytes.len() > MAX_INLINE_BYTES;
    work_on(requester.has_long_message, answer(parts, requester, bytes, next)).await
}

/// Returns the response to a message.
async fn answer(
    mut parts: Parts,
    requester: Requester,
    body: Bytes,
    next: Next,
) -> Result<Response, Refusal> {
    let message = body;
    let version =
        single_version(&parts.headers).map_err(|refusal| refusal.of_message(message_id(&message)))?;

    parts.extensions.insert(requester);
    parts.headers.insert(header::ACCEPT, ACCEPTED);
    let response = next.run(Request::from_parts(parts, message.clone().into())).await;

    Ok(as_json_rpc(response, &message, version.as_ref()).await)
}

/// Reads a body and drops it, within limits. Many clients read no response before they have sent their body.
async fn discard(mut chunks: BodyDataStream) {
    let reading = async {
        let (mut length, mut pieces) = (0, 0);
        while let Some(Ok(chunk)) = chunks.next().await {
            length += chunk.len();
            pieces += 1;
            if length > MAX_DISCARDED_BYTES || are_too_small(pieces, length) {
                break;
            }
        }
    };

    // A body that does not end in time is left unread.
    timeout(DISCARD_LIMIT, reading).await.unwrap_or_default();
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
    if !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    if is_json {
        return with_reason(response).await;
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

/// Adds the message of an error of the library to its response, for the log.
async fn with_reason(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let text = to_bytes(body, MAX_TEXT_BYTES).await.unwrap_or_default();
    if let Ok(JsonRpcError { error, .. }) = serde_json::from_slice(&text) {
        parts.extensions.insert(Reason(error.message));
    }
    Response::from_parts(parts, text.into())
}

/// Returns the id of a message that is refused.
fn message_id(message: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Envelope {
        id: Option<RequestId>,
    }

    serde_json::from_slice::<Envelope>(message).ok()?.id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_a_least_rate_and_a_time_limit() {
        for (arrived, seconds) in
            [(0, 2), (LEAST_RATE - 1, 2), (LEAST_RATE, 3), (10 * LEAST_RATE, 12), (usize::MAX, 30)]
        {
            assert_eq!(time_for(arrived).as_secs(), seconds, "{arrived}");
        }
    }

    #[test]
    fn a_body_of_many_pieces_has_no_small_ones() {
        for (pieces, length, is_refused) in [
            (FREE_PIECES, FREE_PIECES, false),
            (FREE_PIECES + 1, FREE_PIECES + 1, true),
            (10 * FREE_PIECES, 10 * FREE_PIECES * LEAST_MEAN, false),
            (10 * FREE_PIECES, 10 * FREE_PIECES * LEAST_MEAN - 1, true),
        ] {
            assert_eq!(are_too_small(pieces, length), is_refused, "{pieces} {length}");
        }
    }
}
