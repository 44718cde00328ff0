//! The storage host: files behind presigned addresses, without keys (service.md 10.6, 12.2, 14). Its errors are XML.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, put},
};
use futures_util::StreamExt as _;

use crate::sandbox::answers::answer::FileConditions;
use crate::sandbox::answers::files::STORAGE_PREFIX;
use crate::sandbox::http::faults::{GET_FILE, InjectedFault, PUT_PART};
use crate::sandbox::http::reply::BufferedReply;
use crate::sandbox::http::state::SandboxState;
use crate::sandbox::model::builds::{Blob, PendingUpload};
use crate::sandbox::model::world::World;

/// Content type of a part (service.md 10.6).
const CONTENT_TYPE: &str = "application/octet-stream";

pub(super) fn router(state: &Arc<SandboxState>) -> Router {
    let log_and_faults = middleware::from_fn_with_state(Arc::clone(state), log_and_inject);

    Router::new()
        .route("/minions/{file}", get(get_installer))
        .route("/artifacts/{player}/{*name}", get(get_artifact))
        .route("/builds/{build}/file", put(put_file))
        .route("/builds/{build}/parts/{upload}/{number}", put(put_part))
        .fallback(no_file)
        .method_not_allowed_fallback(wrong_method)
        .layer(log_and_faults)
        .with_state(Arc::clone(state))
}

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

    state.log_response(number, &response);
    response
}

async fn get_installer() -> impl IntoResponse {
    const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
    ([(header::CONTENT_TYPE, "application/zip")], Bytes::from_static(EMPTY_ZIP))
}

async fn get_artifact(
    State(state): State<Arc<SandboxState>>,
    Path((player, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let Some(file) = state.world().artifact_file(&player, &name) else { return no_file().await };
    let (status, headers, bytes) = file.read(&FileConditions::from_headers(&headers));

    (status, HeaderMap::from_iter(headers), bytes).into_response()
}

async fn respond_with_fault(fault: &InjectedFault, request: Request, next: Next) -> Response {
    if fault.replaces() && !fault.after {
        // A reset does not wait for the body, so that the connection closes while the client sends.
        if !fault.reset {
            drain(request.into_body()).await;
        }
        fault.wait().await;
        return fault.apply(Some(default_reply(fault)));
    }

    if !fault.after {
        fault.wait().await;
    }

    let (head, body) = next.run(request).await.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    if fault.after {
        fault.wait().await;
    }

    fault.apply(Some(BufferedReply { status: head.status, headers, body }))
}

/// Returns the reply in place of a request that is not carried out.
fn default_reply(fault: &InjectedFault) -> BufferedReply {
    let status = fault.status().unwrap_or(StatusCode::OK);
    if !status.is_client_error() && !status.is_server_error() {
        return BufferedReply { status, headers: Vec::new(), body: Bytes::new() };
    }

    let content_type = HeaderValue::from_static("application/xml");
    let body = xml("InjectedFault", status.canonical_reason().unwrap_or_default());

    BufferedReply { status, headers: vec![(header::CONTENT_TYPE, content_type)], body: body.into() }
}

async fn put_part(
    State(state): State<Arc<SandboxState>>,
    Path((build, upload, number)): Path<(String, String, u64)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = UploadTarget { build: &build, upload: Some(&upload), number };
    target.receive(&state, &headers, body).await
}

async fn put_file(
    State(state): State<Arc<SandboxState>>,
    Path(build): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = UploadTarget { build: &build, upload: None, number: 1 };
    target.receive(&state, &headers, body).await
}

/// The part of an upload to which the body of a PUT belongs.
struct UploadTarget<'a> {
    build: &'a str,
    /// Id of a multipart upload; `None` for a single-part upload.
    upload: Option<&'a str>,
    number: u64,
}

impl UploadTarget<'_> {
    async fn receive(&self, state: &SandboxState, headers: &HeaderMap, body: Body) -> Response {
        if !headers.contains_key(header::CONTENT_LENGTH) {
            let message = "You must provide the Content-Length HTTP header.";
            return refuse(body, StatusCode::LENGTH_REQUIRED, "MissingContentLength", message).await;
        }
        if headers.get(header::CONTENT_TYPE).is_none_or(|value| value != CONTENT_TYPE) {
            let message = "The Content-Type header must be application/octet-stream.";
            return refuse(body, StatusCode::BAD_REQUEST, "InvalidArgument", message).await;
        }
        if self.find_upload(&mut state.world()).is_none() {
            drain(body).await;
            return no_upload();
        }

        // The world is not locked while the bytes arrive, which may take long.
        let blob = match state.blob_store.receive(body).await {
            Ok(blob) => blob,
            Err(failure) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &failure.to_string());
            }
        };

        self.store(&mut state.world(), blob)
    }

    /// Adds the received bytes to the upload, which may have ended while the bytes arrived.
    fn store(&self, world: &mut World, blob: Blob) -> Response {
        let etag = format!("\"{}\"", blob.etag);
        let Some(upload) = self.find_upload(world) else { return no_upload() };
        upload.parts.insert(self.number, Arc::new(blob));

        (StatusCode::OK, [(header::ETAG, etag)]).into_response()
    }

    fn find_upload<'w>(&self, world: &'w mut World) -> Option<&'w mut PendingUpload> {
        world.upload(self.build).filter(|upload| upload.matches(None, self.upload))
    }
}

fn no_upload() -> Response {
    let message = "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.";
    error(StatusCode::NOT_FOUND, "NoSuchUpload", message)
}

async fn no_file() -> Response {
    error(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
}

async fn wrong_method() -> Response {
    let message = "The specified method is not allowed against this resource.";
    error(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

/// Reads and drops the body of a request, and answers with an error.
async fn refuse(body: Body, status: StatusCode, code: &str, message: &str) -> Response {
    drain(body).await;
    error(status, code, message)
}

/// Reads a body to its end. A client that is still sending when the connection closes may not receive the answer.
async fn drain(body: Body) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(_)) = chunks.next().await {}
}

fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "application/xml")], xml(code, message)).into_response()
}

fn xml(code: &str, message: &str) -> String {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>")
}
