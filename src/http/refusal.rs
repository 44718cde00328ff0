//! The answer to a request that is not served.

use std::borrow::Cow;

use axum::{
    Json,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, header};
use rmcp::model::{ErrorData, JsonRpcError, RequestId};

/// Why a request is not served, with the response for it. The body is a JSON-RPC error: a client that gets another body
/// with status 400 takes the server for one of an older revision.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    content: Box<Content>,
}

#[derive(Debug)]
struct Content {
    error: ErrorData,
    id: Option<RequestId>,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// Creates a refusal with a message for the operator of the client.
    pub(super) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_error(status, ErrorData::invalid_request(message, None))
    }

    pub(super) fn with_error(status: StatusCode, error: ErrorData) -> Self {
        Self { status, content: Box::new(Content { error, id: None, header: None }) }
    }

    /// Creates a refusal of a request that can be repeated after this number of seconds.
    pub(super) fn retry_after(
        status: StatusCode,
        message: impl Into<Cow<'static, str>>,
        seconds: u64,
    ) -> Self {
        Self::new(status, message).header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.content.header = Some((name, value));
        self
    }

    /// Adds the id of the message that is refused.
    pub(super) fn of_message(mut self, id: Option<RequestId>) -> Self {
        self.content.id = id;
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Content { error, id, header } = *self.content;
        let mut response = (self.status, Json(JsonRpcError::new(id, error))).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
