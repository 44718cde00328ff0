//! Replies that are complete in memory, so that they can be observed or changed before they are sent.

use std::{future::ready, io, sync::Arc};

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde_json::{Value, json};

use crate::sandbox::answers::answer::HeaderList;

/// Marks a response in place of which the connection is closed (an extension of the response).
#[derive(Clone, Copy, Debug)]
pub(super) struct ConnectionReset;

impl ConnectionReset {
    /// Returns a response whose body fails before anything is sent, so that the server closes the connection.
    pub(super) fn response() -> Response {
        let failure = stream::once(ready(Err::<Bytes, _>(io::Error::from(io::ErrorKind::ConnectionReset))));
        let mut response = Response::new(Body::from_stream(failure));
        response.extensions_mut().insert(Self);

        response
    }
}

#[derive(Debug)]
pub(super) struct BufferedReply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderList,
    pub(super) body: Bytes,
}

impl BufferedReply {
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        let content_type = HeaderValue::from_static("application/json");
        Self { status, headers: vec![(header::CONTENT_TYPE, content_type)], body: body.to_string().into() }
    }

    /// Creates a reply with the general error body.
    pub(super) fn error(status: StatusCode, error: &str) -> Self {
        Self::json(status, &json!({"error": error}))
    }

    pub(super) fn content_type(&self) -> Option<String> {
        let (_, content_type) = self.headers.iter().find(|(name, _)| name == header::CONTENT_TYPE)?;
        content_type.to_str().ok().map(str::to_owned)
    }
}

impl IntoResponse for BufferedReply {
    fn into_response(self) -> Response {
        (self.status, HeaderMap::from_iter(self.headers), Body::from(self.body)).into_response()
    }
}

/// Receives every answer of an operation, except answers that an injected fault replaced.
pub type Observer = Arc<dyn Fn(&Exchange) + Send + Sync>;

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Method of the request.
    pub method: Method,
    /// Path and query of the request.
    pub path: String,
    /// Status of the answer.
    pub status: u16,
    /// `Content-Type` of the answer.
    pub content_type: Option<String>,
    /// Body of the answer.
    pub body: Bytes,
}
