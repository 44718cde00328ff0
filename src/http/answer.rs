//! Runs one request, and returns its answer as JSON or as a stream of events.

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use rmcp::{
    Peer, RoleServer, Service,
    model::{
        ClientRequest, ErrorCode, ErrorData, GetExtensions as _, GetMeta as _, JsonRpcMessage, RequestId,
        ServerResult,
    },
    service::RequestContext,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    event_stream,
    pending_answer::{Answer, PendingAnswer},
    revision_headers::Era,
};
use crate::mcp::{PanicGuard, RequestNotifications, WithoutSession};

/// Largest number of notifications that a client has not read. Further ones are dropped.
const MAX_UNREAD_NOTIFICATIONS: usize = 16;

/// A request that is to be answered.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) request: ClientRequest,
    pub(super) id: RequestId,
    pub(super) era: Era,
    /// Whether the client accepts a stream of events.
    pub(super) accepts_events: bool,
}

/// Answers a request through `service`. `on_end` is called with the outcome when the request
/// has ended, even if the client has closed the response.
pub(super) async fn answer<S: Service<RoleServer>>(
    service: S,
    pending: PendingRequest,
    peer: &Peer<RoleServer>,
    on_end: impl FnOnce(&Result<ServerResult, ErrorData>) + Send + 'static,
) -> Response<Body> {
    let PendingRequest { mut request, id, era, accepts_events } = pending;
    let (sender, mut notifications) = mpsc::channel(MAX_UNREAD_NOTIFICATIONS);
    let cancellation = CancellationToken::new();

    let mut context = RequestContext::new(id.clone(), peer.clone());
    context.ct = cancellation.clone();
    std::mem::swap(&mut context.meta, request.get_meta_mut());
    std::mem::swap(&mut context.extensions, request.extensions_mut());
    context.extensions.insert(WithoutSession);
    if accepts_events {
        context.extensions.insert(RequestNotifications(sender));
    } else {
        // A caller that sees no progress gets an answer before its patience ends.
        context.meta.remove(PROGRESS_TOKEN);
    }

    let task = tokio::spawn(async move {
        let outcome = PanicGuard(service).handle_request(request, context).await;
        on_end(&outcome);
        outcome
    });
    let mut answer = PendingAnswer::new(task, id);
    // A host with a session may close a response and still expect the effect of its call.
    let cancellation = (era == Era::Stateless).then(|| cancellation.drop_guard());

    tokio::select! {
        biased;
        Some(first) = notifications.recv() => event_stream::response(first, answer, notifications, cancellation),
        message = answer.wait() => json_response(&message, era),
    }
}

/// Member of the metadata of a request that asks for progress.
const PROGRESS_TOKEN: &str = "progressToken";

fn json_response(message: &Answer, era: Era) -> Response<Body> {
    let status = status(message, era);
    let body = serde_json::to_vec(message).unwrap_or_default();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Returns the HTTP status of a message. In revisions with sessions, every message has the status 200.
fn status(message: &Answer, era: Era) -> StatusCode {
    let JsonRpcMessage::Error(error) = message else { return StatusCode::OK };
    match error.error.code {
        _ if era == Era::Sessions => StatusCode::OK,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// Returns whether a client accepts a stream of events. A client that names no media types accepts all.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().peekable();
    let names_events = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
        [event_stream::MEDIA_TYPE, "text/*", "*/*"].iter().any(|name| text.contains(name))
    };
    accepted.peek().is_none() || accepted.any(names_events)
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
