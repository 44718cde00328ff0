//! The storage host: files behind presigned addresses, without keys (supplement 10.6, 14). Its errors are XML.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderMap, StatusCode, header};

use super::{Conditions, presigned, service::Service};

/// Where the storage host begins.
pub(super) const PREFIX: &str = "/storage";

/// Routes of the storage host, below [`PREFIX`].
pub(super) fn router(service: &Arc<Service>) -> Router {
    let signed = middleware::from_fn_with_state(Arc::clone(service), admit);
    Router::new()
        .route("/minions/{file}", get(installer))
        .route("/artifacts/{player}/{*name}", get(artifact))
        .route_layer(signed)
        .fallback(missing)
        .with_state(Arc::clone(service))
}

/// Lets a request pass whose address was signed for it and has not expired.
async fn admit(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let number = service.arrived_below(PREFIX, None, &head);
    let response = admitted(&service, Request::from_parts(head, body), next).await;
    service.journal().answered(number, response.status().as_u16());
    response
}

async fn admitted(service: &Service, request: Request, next: Next) -> Response {
    let path = format!("{PREFIX}{}", request.uri().path());
    let now = {
        let mut world = service.world();
        world.look_at_clock();
        world.now
    };
    if presigned::admits(&path, request.uri().query().unwrap_or_default(), now) {
        next.run(request).await
    } else {
        error(StatusCode::FORBIDDEN, "AccessDenied", "Request has expired")
    }
}

/// Stands for an installer: an empty archive.
async fn installer() -> impl IntoResponse {
    const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    ([(header::CONTENT_TYPE, "application/zip")], Bytes::from_static(EMPTY_ZIP))
}

/// A large artifact, in pieces.
async fn artifact(
    State(service): State<Arc<Service>>,
    Path((player, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let Some(file) = service.world().file(&player, &name) else { return missing().await };
    let head = file.head(&Conditions::of(&headers));
    (head.status, HeaderMap::from_iter(head.headers.clone()), file.stream(&head)).into_response()
}

async fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
}

/// An error as storage hosts write it.
fn error(status: StatusCode, code: &str, message: &str) -> Response {
    let body =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>");
    (status, [(header::CONTENT_TYPE, "application/xml")], body).into_response()
}
