//! One session on standard input and output.

use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::{
    ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
};

use super::{
    transport::{Input, StdioTransport},
    writer::{MessageWriter, Output},
};
use crate::mcp::{panic_guard::PanicGuard, server::Server};

/// How long the last answers may take to be written after a shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(300);

/// Serves MCP on these streams until the input ends or [`Server::shutdown_token`] is cancelled.
///
/// # Errors
/// The error that has ended the session. The end of the input is no error.
pub fn serve_stdio(server: Server, input: Input, output: Output) -> BoxFuture<'static, anyhow::Result<()>> {
    Box::pin(serve_streams(server, input, output))
}

async fn serve_streams(server: Server, input: Input, output: Output) -> anyhow::Result<()> {
    let shutdown = server.shutdown_token().clone();
    let shutdown_limit = async {
        shutdown.cancelled().await;
        tokio::time::sleep(SHUTDOWN_LIMIT).await;
    };

    let writer = MessageWriter::new(output, server.message_encoder());
    let transport = StdioTransport::new(input, writer.clone(), shutdown.clone());

    let outcome = tokio::select! {
        // The library waits for calls in progress, which must not delay the end of the process.
        outcome = run_session(server, transport) => outcome,
        () = shutdown_limit => Ok(()),
    };
    // The host gets complete lines only, even if it reads late.
    writer.finish().await;

    outcome
}

async fn run_session(server: Server, transport: StdioTransport) -> anyhow::Result<()> {
    let shutdown = server.shutdown_token().clone();
    let service = PanicGuard(server.clone());

    let session = match service.serve_with_ct(transport, shutdown).await {
        Ok(session) => session,
        // The host disconnected before its first request, which is no error of the server.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(anyhow::Error::new(error)),
    };

    let reason = session.waiting().await?;
    // A later process cannot resume an upload without a journal, so that its storage space is released now.
    drop(tokio::time::timeout(SHUTDOWN_LIMIT, server.cancel_unfinished_uploads()).await);

    match reason {
        QuitReason::JoinError(error) => Err(error.into()),
        _ => Ok(()),
    }
}
