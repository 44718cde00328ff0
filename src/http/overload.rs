//! The response to a request that exceeds a limit.

use std::time::Duration;

use axum::{Json, body::Body, response::IntoResponse as _};
use http::{Response, StatusCode};
use rmcp::{
    RoleServer,
    model::{CallToolResult, ClientRequest, ContentBlock, JsonRpcMessage, ServerResult},
    service::TxJsonRpcMessage,
};

use super::{answer::PendingRequest, limits::Exceeded, refusal::Refusal};
use crate::failure::{Code, Failure};

impl Exceeded {
    /// Returns the refusal of a request, which programs read.
    pub(super) fn refusal(self) -> Refusal {
        let status = match self {
            Self::AllClients => StatusCode::SERVICE_UNAVAILABLE,
            Self::Rate(_) | Self::Concurrency => StatusCode::TOO_MANY_REQUESTS,
        };
        Refusal::retry_after(status, self.message(), self.pause_seconds())
    }
}

/// Returns the response to a call of a tool: an error that the model reads.
///
/// # Errors
/// The refusal of any other request, which programs read.
pub(super) fn overload_response(
    request: &PendingRequest,
    exceeded: Exceeded,
) -> Result<Response<Body>, Refusal> {
    let pause = exceeded.pause_seconds();
    if !matches!(request.request, ClientRequest::CallToolRequest(_)) {
        return Err(exceeded.refusal().of_message(Some(request.id.clone())));
    }

    let failure = Failure::new(Code::RateLimited, exceeded.message())
        .hint("wait as long as `details.retry_after_s` says, and call again; nothing was sent")
        .retry_after(Duration::from_secs(pause));
    let result = CallToolResult::error(vec![ContentBlock::text(failure.to_json())]);
    let message: TxJsonRpcMessage<RoleServer> =
        JsonRpcMessage::response(ServerResult::CallToolResult(result), request.id.clone());

    Ok(Json(message).into_response())
}
