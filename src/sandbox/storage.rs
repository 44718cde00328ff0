//! The storage host: files behind presigned addresses, without keys (supplement 10.6, 14). Its errors are XML.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes, to_bytes},
    extract::{Path, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, put},
};
use futures_util::StreamExt as _;
use http::{HeaderMap, Method, StatusCode, header};

use super::{
    Conditions, World, build_storage::Upload, depot::Piece, faults::Order, presigned, server::Reset,
    service::Reply, service::Service,
};

/// Where the storage host begins.
pub(super) const PREFIX: &str = "/storage";

/// What orders of faults and the list of requests call a PUT of a part or of a whole file.
pub(super) const PUT_PART: &str = "put_part";

/// What orders of faults and the list of requests call a GET of a file.
pub(super) const GET_FILE: &str = "get_file";

/// What parts are (specification, Multipart build upload).
const BYTES: &str = "application/octet-stream";

/// Longest answer that an ordered fault changes.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// Routes of the storage host, below [`PREFIX`].
pub(super) fn router(service: &Arc<Service>) -> Router {
    let signed = middleware::from_fn_with_state(Arc::clone(service), admit);
    let watched = middleware::from_fn_with_state(Arc::clone(service), watch);

    Router::new()
        .route("/minions/{file}", get(installer))
        .route("/artifacts/{player}/{*name}", get(artifact))
        .route("/builds/{build}/file", put(file))
        .route("/builds/{build}/parts/{upload}/{number}", put(part))
        .route_layer(signed)
        .fallback(missing)
        .method_not_allowed_fallback(wrong_method)
        .layer(watched)
        .with_state(Arc::clone(service))
}

/// Notes every request, and does to it what has been ordered.
async fn watch(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let operation = match head.method {
        Method::PUT => Some(PUT_PART),
        Method::GET => Some(GET_FILE),
        _ => None,
    };
    let number = service.arrived_below(PREFIX, operation, &head);
    let order = operation.and_then(|operation| service.faults().take(operation));
    let request = Request::from_parts(head, body);
    let response = match order {
        None => next.run(request).await,
        Some(order) => under_order(&order, request, next).await,
    };

    if response.extensions().get::<Reset>().is_none() {
        service.journal().answered(number, response.status().as_u16());
    }

    response
}

async fn under_order(order: &Order, request: Request, next: Next) -> Response {
    if order.replaces() && !order.after {
        if !order.resets() {
            read_off(request.into_body()).await;
        }
        order.wait().await;
        return order.apply(Some(stand_in(order)));
    }

    if !order.after {
        order.wait().await;
    }

    let reply = reply_of(next.run(request).await).await;
    if order.after {
        order.wait().await;
    }

    order.apply(Some(reply))
}

/// The answer of a request that is not carried out.
fn stand_in(order: &Order) -> Reply {
    let status = order.status().unwrap_or(StatusCode::OK);
    if !status.is_client_error() && !status.is_server_error() {
        return Reply { status, headers: Vec::new(), body: Bytes::new() };
    }

    let code = match status {
        StatusCode::SERVICE_UNAVAILABLE => "SlowDown",
        StatusCode::INTERNAL_SERVER_ERROR => "InternalError",
        _ => "OrderedFault",
    };
    let kind = header::HeaderValue::from_static("application/xml");
    let body = xml(code, status.canonical_reason().unwrap_or("ordered fault"));

    Reply { status, headers: vec![(header::CONTENT_TYPE, kind)], body: body.into() }
}

async fn reply_of(response: Response) -> Reply {
    let (head, body) = response.into_parts();
    let body = to_bytes(body, LONGEST_ANSWER).await.unwrap_or_default();
    let headers = head.headers.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
    Reply { status: head.status, headers, body }
}

/// Lets a request pass whose address was signed for it and has not expired.
async fn admit(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let path = format!("{PREFIX}{}", request.uri().path());
    let now = {
        let mut world = service.world();
        world.look_at_clock();
        world.now
    };

    if presigned::admits(&path, request.uri().query().unwrap_or_default(), now) {
        next.run(request).await
    } else {
        refuse(request.into_body(), StatusCode::FORBIDDEN, "AccessDenied", "Request has expired").await
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

async fn part(
    State(service): State<Arc<Service>>,
    Path((build, upload, number)): Path<(String, String, u64)>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = Target { build: &build, upload: Some(&upload), number };
    target.receive(&service, &headers, body).await
}

async fn file(
    State(service): State<Arc<Service>>,
    Path(build): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let target = Target { build: &build, upload: None, number: 1 };
    target.receive(&service, &headers, body).await
}

/// What the bytes of a PUT are.
struct Target<'a> {
    build: &'a str,
    /// Of a multipart upload.
    upload: Option<&'a str>,
    number: u64,
}

impl Target<'_> {
    async fn receive(&self, service: &Service, headers: &HeaderMap, body: Body) -> Response {
        if !headers.contains_key(header::CONTENT_LENGTH) {
            let message = "You must provide the Content-Length HTTP header.";
            return refuse(body, StatusCode::LENGTH_REQUIRED, "MissingContentLength", message).await;
        }
        if headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != BYTES) {
            let message = "The Content-Type header must be application/octet-stream.";
            return refuse(body, StatusCode::BAD_REQUEST, "InvalidArgument", message).await;
        }
        if self.upload_in(&mut service.world()).is_none() {
            read_off(body).await;
            return no_upload();
        }

        let piece = match service.depot.receive(body).await {
            Ok(piece) => piece,
            Err(problem) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", &problem.to_string());
            }
        };

        self.keep(&mut service.world(), piece)
    }

    /// The upload may have ended while the bytes came.
    fn keep(&self, world: &mut World, piece: Piece) -> Response {
        world.look_at_clock();
        let etag = format!("\"{}\"", piece.etag);
        let Some(upload) = self.upload_in(world) else { return no_upload() };
        upload.pieces.insert(self.number, Arc::new(piece));
        (StatusCode::OK, [(header::ETAG, etag)]).into_response()
    }

    fn upload_in<'w>(&self, world: &'w mut World) -> Option<&'w mut Upload> {
        world.upload(self.build).filter(|upload| upload.is(None, self.upload))
    }
}

fn no_upload() -> Response {
    let message = "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.";
    error(StatusCode::NOT_FOUND, "NoSuchUpload", message)
}

async fn missing() -> Response {
    error(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
}

async fn wrong_method() -> Response {
    let message = "The specified method is not allowed against this resource.";
    error(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

/// Refuses a request whose body nobody wants.
async fn refuse(body: Body, status: StatusCode, code: &str, message: &str) -> Response {
    read_off(body).await;
    error(status, code, message)
}

/// A client that still writes when the connection closes may never see the answer.
async fn read_off(body: Body) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(_)) = chunks.next().await {}
}

/// An error as storage hosts write it.
fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "application/xml")], xml(code, message)).into_response()
}

fn xml(code: &str, message: &str) -> String {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>")
}
