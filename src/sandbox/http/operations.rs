//! The one handler of all operation routes.

use std::sync::Arc;

use axum::{
    body::to_bytes,
    extract::{RawPathParams, Request, rejection::RawPathParamsRejection},
    response::{IntoResponse, Response},
};
use http::header;
use serde_json::Value;

use crate::{
    fields::Fields,
    sandbox::{
        answers::endpoints::Endpoint,
        http::{
            execution::ReceivedRequest,
            injected_fault::InjectedFault,
            reply::ConnectionReset,
            state::{API_PREFIX, SandboxState},
        },
    },
    service::{catalog::OperationEntry, tool::PROJECT_ID},
};

/// Largest body that is read, in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Handles a request for an operation, including the fault that is injected into it.
pub(super) async fn handle(
    state: Arc<SandboxState>,
    endpoint: Endpoint,
    path: Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let number = state.log_request("", Some(endpoint.name), &head);
    let path = match &path {
        Ok(path) => path.iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect(),
        Err(_) => undecodable_path(&endpoint, head.uri.path()),
    };
    let body = to_bytes(body, MAX_BODY_BYTES).await.ok();
    let request = ReceivedRequest { endpoint, path, head, body };

    let fault = state.fault_queue().take(endpoint.name);
    let mut response = match fault {
        None => state.observe(&request, state.execute(&request)).into_response(),
        Some(fault) => respond_with_fault(&state, &request, &fault).await,
    };

    // Clients compare the time of the service with their own. An injected `Date` has precedence.
    response.headers_mut().entry(header::DATE).or_insert(state.date());
    // A closed connection has no status.
    if response.extensions().get::<ConnectionReset>().is_none() {
        state.request_log().set_status(number, response.status().as_u16());
    }

    response
}

/// Returns the response to a request into which `fault` is injected.
async fn respond_with_fault(
    state: &SandboxState,
    request: &ReceivedRequest,
    fault: &InjectedFault,
) -> Response {
    // With `after`, the service carries out the operation and the answer is lost.
    let early_reply = fault.after.then(|| state.execute(request));
    fault.wait().await;
    if fault.replaces() {
        return fault.apply(early_reply);
    }

    let reply = early_reply.unwrap_or_else(|| state.execute(request));

    fault.apply(Some(state.observe(request, reply)))
}

/// Returns path fields with the replacement character for a path that is not UTF-8. No record has such an id.
fn undecodable_path(entry: &OperationEntry, path: &str) -> Fields {
    let project = path.starts_with(&format!("{API_PREFIX}/project/")).then_some(PROJECT_ID);
    entry
        .request
        .path_fields()
        .chain(project)
        .map(|name| (name.to_owned(), Value::from("\u{fffd}")))
        .collect()
}
