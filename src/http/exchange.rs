//! One request of a client and its response.

use std::{net::IpAddr, sync::Arc};

use axum::body::Body;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use rmcp::model::{ClientRequest, JsonRpcMessage, JsonRpcRequest};

use super::{
    access_log::AccessEntry,
    answer::{self, PendingRequest},
    application::Application,
    endpoint::Endpoint,
    limits::Admission,
    opened_service::OpenedService,
    origin::{add_common_headers, method_not_allowed, preflight_response},
    overload::overload_response,
    refusal::Refusal,
    revision_headers,
    tenants::Tenant,
};
use crate::mcp::message::{InvalidMessage, check};

/// Answers a request of the client at `address`.
pub(super) async fn respond(app: &Application, address: IpAddr, request: Request<Body>) -> Response<Body> {
    let client = app.client_address(address, request.headers());
    let mut entry = AccessEntry::new(Arc::clone(&app.0.metrics), client);

    let (mut response, origin) = match app.0.origins.check(&request) {
        Ok(origin) if request.method() == Method::OPTIONS => (preflight_response(), origin),
        Ok(origin) => {
            let step = prepare(app, &mut entry, request).await;
            (finish(app, entry, step).await, origin)
        }
        Err(refusal) => (refuse(entry, refusal), None),
    };

    add_common_headers(&mut response, origin);
    if app.is_draining() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }

    response
}

/// What a message of a client leads to.
enum Step {
    /// The message is a request.
    Run(Box<Admitted>),
    /// The message is a notification, which needs no answer.
    Accepted,
    /// Nothing ran, but the response is no refusal of HTTP.
    Answered(Response<Body>),
}

/// A request that may run.
struct Admitted {
    request: PendingRequest,
    service: OpenedService,
    tenant: Arc<Tenant>,
    admission: Admission,
}

/// Checks a request, up to the point where a method runs.
async fn prepare(
    app: &Application,
    entry: &mut AccessEntry,
    request: Request<Body>,
) -> Result<Step, Refusal> {
    let (parts, body) = request.into_parts();
    if let Some(response) = app.metadata_response(&parts) {
        return Ok(Step::Answered(response));
    }

    let endpoint = Endpoint::read(parts.uri.path(), &parts.headers, &app.0.offered)?;
    if parts.method != Method::POST {
        return Err(method_not_allowed(&parts.method));
    }

    let tenant = app.identify(&parts, entry.client).await?;
    entry.identify(&tenant, endpoint.project.as_deref());

    let body = app.0.bodies.read(&parts.headers, body).await?;
    let message = check(&body.bytes).and_then(|message| {
        let undecodable = |_| InvalidMessage {
            id: None,
            error: rmcp::ErrorData::invalid_request("the message is not JSON-RPC 2.0", None),
        };
        serde_json::from_slice::<rmcp::service::RxJsonRpcMessage<rmcp::RoleServer>>(&message)
            .map_err(|error| Box::new(undecodable(error)))
    });
    let message = message.map_err(|invalid| {
        Refusal::with_error(StatusCode::BAD_REQUEST, invalid.error).of_message(invalid.id)
    })?;
    drop(body);

    let request = match message {
        JsonRpcMessage::Request(request) => request,
        JsonRpcMessage::Notification(_) => return Ok(Step::Accepted),
        _ => {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the server asks nothing, so that no response is expected",
            ));
        }
    };
    entry.describe(&request.request);
    #[cfg(feature = "otlp")]
    entry.begin_span(app.0.traces.as_ref(), &parts, &request);
    let request = check_headers(&parts.headers, request)?;

    let limits = app.0.tenants.limits(&tenant, entry.client);
    let admission = match limits.admit(&app.0.places) {
        Ok(admission) => admission,
        Err(exceeded) => return overload_response(&request, exceeded).map(Step::Answered),
    };

    let service = app.open_service(&tenant, &endpoint);
    Ok(Step::Run(Box::new(Admitted { request, service, tenant, admission })))
}

fn check_headers(
    headers: &HeaderMap,
    message: JsonRpcRequest<ClientRequest>,
) -> Result<PendingRequest, Refusal> {
    let JsonRpcRequest { id, request, .. } = message;
    let era =
        revision_headers::check(headers, &request).map_err(|refusal| refusal.of_message(Some(id.clone())))?;

    Ok(PendingRequest { request, id, era, accepts_events: answer::accepts_events(headers) })
}

/// Runs a request that may run, and returns the response.
async fn finish(app: &Application, entry: AccessEntry, step: Result<Step, Refusal>) -> Response<Body> {
    let Admitted { request, service, tenant, admission } = match step {
        Ok(Step::Run(admitted)) => *admitted,
        Ok(Step::Accepted) => {
            entry.log_refusal(StatusCode::ACCEPTED);
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::ACCEPTED;
            return response;
        }
        Ok(Step::Answered(response)) => {
            entry.log_refusal(response.status());
            return response;
        }
        Err(refusal) => return refuse(entry, refusal),
    };

    let shared = app.clone();
    let on_end = move |outcome: &_| {
        shared.0.tenants.remember(&tenant);
        entry.log_end(outcome);
        drop(admission);
    };

    let peer = app.0.peer.peer();
    match service {
        OpenedService::Server(server) => answer::answer(server, request, peer, on_end).await,
        OpenedService::Other(service) => answer::answer(service, request, peer, on_end).await,
    }
}

fn refuse(entry: AccessEntry, refusal: Refusal) -> Response<Body> {
    entry.log_refusal(refusal.status);
    refusal.into_response()
}
