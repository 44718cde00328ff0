//! The storage host: files behind presigned addresses, without keys (service.md 10.6, 14). Its errors are XML.

use std::sync::Arc;

use axum::{
    Router,
    body::Bytes,
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, put},
};
use http::{HeaderMap, Method, StatusCode, header};

use crate::sandbox::{
    answers::{
        caller::FileConditions,
        presigned_url::{self, STORAGE_PREFIX},
    },
    http::{
        injected_fault::{GET_FILE, PUT_PART},
        reply::ConnectionReset,
        state::SandboxState,
        storage_errors::{no_file, refuse, wrong_method},
        storage_faults::respond_with_fault,
        storage_upload::{put_file, put_part},
    },
};

/// Returns the routes of the storage host, below [`STORAGE_PREFIX`].
pub(super) fn router(state: &Arc<SandboxState>) -> Router {
    let signature_check = middleware::from_fn_with_state(Arc::clone(state), check_signature);
    let log_and_faults = middleware::from_fn_with_state(Arc::clone(state), log_and_inject);

    Router::new()
        .route("/minions/{file}", get(get_installer))
        .route("/artifacts/{player}/{*name}", get(get_artifact))
        .route("/builds/{build}/file", put(put_file))
        .route("/builds/{build}/parts/{upload}/{number}", put(put_part))
        // Only existing routes are checked. Other paths answer `NoSuchKey` without a signature.
        .route_layer(signature_check)
        .fallback(no_file)
        .method_not_allowed_fallback(wrong_method)
        .layer(log_and_faults)
        .with_state(Arc::clone(state))
}

/// Logs every request and injects the next fault into it.
async fn log_and_inject(State(state): State<Arc<SandboxState>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let operation = match head.method {
        Method::PUT => Some(PUT_PART),
        Method::GET => Some(GET_FILE),
        _ => None,
    };
    let number = state.log_request(STORAGE_PREFIX, operation, &head);
    let fault = operation.and_then(|operation| state.fault_queue().take(operation));

    let request = Request::from_parts(head, body);
    let response = match fault {
        None => next.run(request).await,
        Some(fault) => respond_with_fault(&fault, request, next).await,
    };

    if response.extensions().get::<ConnectionReset>().is_none() {
        state.request_log().set_status(number, response.status().as_u16());
    }

    response
}

/// Passes on a request whose address is signed and has not expired.
async fn check_signature(State(state): State<Arc<SandboxState>>, request: Request, next: Next) -> Response {
    let path = format!("{STORAGE_PREFIX}{}", request.uri().path());
    // The lock is released before the request is passed on, which locks the world again.
    let now = {
        let mut world = state.world();
        world.update_now();
        world.now
    };

    if presigned_url::is_valid(&path, request.uri().query().unwrap_or_default(), now) {
        next.run(request).await
    } else {
        refuse(request.into_body(), StatusCode::FORBIDDEN, "AccessDenied", "Request has expired").await
    }
}

/// Serves an empty ZIP archive as the installer.
async fn get_installer() -> impl IntoResponse {
    const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    ([(header::CONTENT_TYPE, "application/zip")], Bytes::from_static(EMPTY_ZIP))
}

/// Serves a large artifact in chunks.
async fn get_artifact(
    State(state): State<Arc<SandboxState>>,
    Path((player, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let Some(file) = state.world().artifact_file(&player, &name) else { return no_file().await };
    let head = file.head(&FileConditions::from_headers(&headers));

    (head.status, HeaderMap::from_iter(head.headers.clone()), file.stream(&head)).into_response()
}
