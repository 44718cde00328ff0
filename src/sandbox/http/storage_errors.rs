//! Errors of the storage host, in XML (service.md 10.6).

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures_util::StreamExt as _;
use http::{StatusCode, header};

/// Creates the error for an upload that does not exist.
pub(super) fn no_upload() -> Response {
    let message = "The specified upload does not exist. The upload ID may be invalid, or the upload may have been aborted or completed.";
    error(StatusCode::NOT_FOUND, "NoSuchUpload", message)
}

/// Answers a request for a file that does not exist.
pub(super) async fn no_file() -> Response {
    error(StatusCode::NOT_FOUND, "NoSuchKey", "The specified key does not exist.")
}

/// Answers a request whose method the route does not have.
pub(super) async fn wrong_method() -> Response {
    let message = "The specified method is not allowed against this resource.";
    error(StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed", message)
}

/// Reads and drops the body of a request, and answers with an error.
pub(super) async fn refuse(body: Body, status: StatusCode, code: &str, message: &str) -> Response {
    drain(body).await;
    error(status, code, message)
}

/// Reads a body to its end. A client that is still sending when the connection closes may not receive the answer.
pub(super) async fn drain(body: Body) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(_)) = chunks.next().await {}
}

pub(super) fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "application/xml")], xml(code, message)).into_response()
}

/// Returns the body of an error response.
pub(super) fn xml(code: &str, message: &str) -> String {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>")
}
