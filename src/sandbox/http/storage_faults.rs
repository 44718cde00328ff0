//! Injected faults on the storage host.

use axum::{
    body::{Bytes, to_bytes},
    extract::Request,
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, StatusCode, header};

use crate::sandbox::http::{
    injected_fault::InjectedFault,
    reply::BufferedReply,
    storage_errors::{drain, xml},
};

/// Longest answer that an injected fault changes, in bytes.
const MAX_RESPONSE_BYTES: usize = 16 * 1024 * 1024;

/// Returns the response to a request into which `fault` is injected.
pub(super) async fn respond_with_fault(fault: &InjectedFault, request: Request, next: Next) -> Response {
    if fault.replaces() && !fault.after {
        // A reset does not wait for the body, so that the connection closes while the client sends.
        if !fault.resets() {
            drain(request.into_body()).await;
        }
        fault.wait().await;
        return fault.apply(Some(default_reply(fault)));
    }

    if !fault.after {
        fault.wait().await;
    }

    let reply = buffer(next.run(request).await).await;
    if fault.after {
        fault.wait().await;
    }

    fault.apply(Some(reply))
}

/// Returns the reply in place of a request that is not carried out.
fn default_reply(fault: &InjectedFault) -> BufferedReply {
    let status = fault.status().unwrap_or(StatusCode::OK);
    if !status.is_client_error() && !status.is_server_error() {
        return BufferedReply { status, headers: Vec::new(), body: Bytes::new() };
    }

    let code = match status {
        StatusCode::SERVICE_UNAVAILABLE => "SlowDown",
        StatusCode::INTERNAL_SERVER_ERROR => "InternalError",
        _ => "InjectedFault",
    };
    let content_type = HeaderValue::from_static("application/xml");
    let body = xml(code, status.canonical_reason().unwrap_or("injected fault"));

    BufferedReply { status, headers: vec![(header::CONTENT_TYPE, content_type)], body: body.into() }
}

/// Reads a response to its end.
async fn buffer(response: Response) -> BufferedReply {
    let (head, body) = response.into_parts();
    let body = to_bytes(body, MAX_RESPONSE_BYTES).await.unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();

    BufferedReply { status: head.status, headers, body }
}
