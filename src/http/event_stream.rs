//! A response as a stream of events (server-sent events): notifications such as progress, and the answer at the end.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderName, HeaderValue, Response, header};
use rmcp::{RoleServer, model::ServerNotification, service::TxJsonRpcMessage};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use super::pending_answer::{Answer, PendingAnswer};

/// How often a comment is sent if there is no notification. Proxies close connections without traffic.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Media type of a stream of events.
pub(super) const MEDIA_TYPE: &str = "text/event-stream";

/// What the stream waits for.
struct Pending {
    answer: PendingAnswer,
    notifications: mpsc::Receiver<ServerNotification>,
    /// Cancels the call when the client closes the response.
    _cancellation: Option<DropGuard>,
}

/// Returns the response that sends `first`, further notifications, and the answer.
pub(super) fn response(
    first: ServerNotification,
    answer: PendingAnswer,
    notifications: mpsc::Receiver<ServerNotification>,
    cancellation: Option<DropGuard>,
) -> Response<Body> {
    let first = notification_event(first);
    let pending = Pending { answer, notifications, _cancellation: cancellation };
    let rest = stream::unfold(Some(pending), |pending| async move { next_event(pending?).await });
    let events = stream::once(std::future::ready(first)).chain(rest);

    let mut response = Response::new(Body::from_stream(events.map(Ok::<_, std::convert::Infallible>)));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    // Some proxies collect a response before they pass it on.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Waits for the next event. After the answer nothing is pending.
async fn next_event(mut pending: Pending) -> Option<(Bytes, Option<Pending>)> {
    tokio::select! {
        biased;
        Some(notification) = pending.notifications.recv() => {
            Some((notification_event(notification), Some(pending)))
        }
        answer = pending.answer.wait() => Some((event(&answer), None)),
        () = tokio::time::sleep(KEEP_ALIVE) => Some((Bytes::from_static(b": waiting\n\n"), Some(pending))),
    }
}

fn notification_event(notification: ServerNotification) -> Bytes {
    event(&TxJsonRpcMessage::<RoleServer>::notification(notification))
}

/// Returns a message as an event. JSON text contains no line break.
fn event(message: &Answer) -> Bytes {
    let json = serde_json::to_vec(message).unwrap_or_default();
    Bytes::from([b"event: message\ndata: ", json.as_slice(), b"\n\n"].concat())
}
