//! A request that is being answered.

use rmcp::{
    RoleServer,
    model::{ErrorData, JsonRpcMessage, RequestId, ServerResult},
    service::TxJsonRpcMessage,
};
use tokio::task::JoinHandle;

/// The message that a request ends with.
pub(super) type Answer = TxJsonRpcMessage<RoleServer>;

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct PendingAnswer {
    task: JoinHandle<Result<ServerResult, ErrorData>>,
    id: RequestId,
}

impl PendingAnswer {
    /// Creates the answer to the request `id`, which `task` makes.
    pub(super) fn new(task: JoinHandle<Result<ServerResult, ErrorData>>, id: RequestId) -> Self {
        Self { task, id }
    }

    /// Waits for the end of the request. Dropping the future loses nothing.
    pub(super) async fn wait(&mut self) -> Answer {
        let outcome = (&mut self.task).await;
        let outcome = outcome.unwrap_or_else(|_| Err(ErrorData::internal_error("internal error", None)));
        match outcome {
            Ok(result) => JsonRpcMessage::response(result, self.id.clone()),
            Err(error) => JsonRpcMessage::error(error, Some(self.id.clone())),
        }
    }
}
