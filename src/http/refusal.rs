//! Why a request is not served, and the answer to it.

use std::{borrow::Cow, time::Duration};

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::{
    Json,
    response::{IntoResponse, Response},
};
use rmcp::model::{CallToolResult, ContentBlock, ErrorData, JsonRpcError};

use crate::failure::{Code, Failure};

/// How long a client waits after a refusal because of too many simultaneous requests, in seconds.
const CONCURRENCY_PAUSE_S: u64 = 1;

/// Why a request is not served, with the response for it. The body is a JSON-RPC error: a client that gets another body
/// with status 400 takes the server for one of an older revision.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    message: Cow<'static, str>,
    pub(super) header: Option<(HeaderName, HeaderValue)>,
}

impl Refusal {
    /// Creates a refusal with a message for the operator of the client.
    pub(super) fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status, message: message.into(), header: None }
    }

    pub(super) fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        Self { header: Some((name, value)), ..self }
    }
}

/// The reason of a refusal, in the extensions of its response, for the log.
#[derive(Clone, Debug)]
pub(super) struct Reason(pub(super) Cow<'static, str>);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = ErrorData::invalid_request(self.message.clone(), None);
        let mut response = (self.status, Json(JsonRpcError::new(None, error))).into_response();
        response.headers_mut().extend(self.header);
        response.extensions_mut().insert(Reason(self.message));
        response
    }
}

/// A limit that a request exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exceeded {
    /// Too many requests per second of one client. Holds the number of seconds to wait.
    Rate(u64),
    /// Too many simultaneous requests of one client.
    Concurrency,
    /// Too many simultaneous requests of all clients.
    AllClients,
}

impl Exceeded {
    /// The status of a response that programs read.
    pub(super) fn status(self) -> StatusCode {
        if self == Self::AllClients { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::TOO_MANY_REQUESTS }
    }

    /// How long the client waits before it repeats the request, in seconds.
    pub(super) fn pause_seconds(self) -> u64 {
        if let Self::Rate(seconds) = self { seconds } else { CONCURRENCY_PAUSE_S }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Rate(_) => "too many requests per second with this credential or from this address",
            Self::Concurrency => "too many simultaneous requests with this credential or from this address",
            Self::AllClients => "the server is busy: too many simultaneous requests of all clients",
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        Refusal::new(self.status(), self.message()).header(header::RETRY_AFTER, self.pause_seconds().into())
    }

    pub(super) fn error(self) -> ErrorData {
        ErrorData::invalid_request(self.message(), None)
    }

    /// Returns the result of a call of a tool: an error that the model reads.
    pub(super) fn tool_result(self) -> CallToolResult {
        let failure = Failure::new(Code::RateLimited, self.message())
            .hint("wait as long as `details.retry_after_s` says, and call again; nothing was sent")
            .retry_after(Duration::from_secs(self.pause_seconds()));
        CallToolResult::error(vec![ContentBlock::text(failure.to_json())])
    }
}
