//! The answer to a request that is not served.

use axum::{Json, body::Body, response::IntoResponse as _};
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

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
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self::with_error(status, ErrorData::invalid_request(message.into(), None))
    }

    /// Creates a refusal with an error of the protocol.
    pub(super) fn with_error(status: StatusCode, error: ErrorData) -> Self {
        Self { status, content: Box::new(Content { error, id: None, header: None }) }
    }

    /// Creates a refusal of a request whose headers do not match its body (SEP-2243).
    pub(super) fn header_mismatch(message: impl Into<String>) -> Self {
        let error = ErrorData::new(ErrorCode::HEADER_MISMATCH, message.into(), None);
        Self::with_error(StatusCode::BAD_REQUEST, error)
    }

    /// Creates a refusal of a request that can be repeated after this number of seconds.
    pub(super) fn retry_after(status: StatusCode, message: &str, seconds: u64) -> Self {
        Self::new(status, message).header(header::RETRY_AFTER, HeaderValue::from(seconds))
    }

    /// Adds a header.
    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.content.header = Some((name, value));
        self
    }

    /// Adds the id of the message that is refused.
    pub(super) fn of_message(mut self, id: Option<RequestId>) -> Self {
        self.content.id = id;
        self
    }

    /// Returns the response.
    pub(super) fn into_response(self) -> Response<Body> {
        let Content { error, id, header } = *self.content;
        let mut response = (self.status, Json(JsonRpcError::new(id, error))).into_response();
        if let Some((name, value)) = header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
