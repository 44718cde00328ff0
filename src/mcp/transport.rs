//! MCP on standard input and output. The transport of the library reads the messages; this module adds what it lacks:
//!
//! - Some hosts begin with a notification, after a discovery request has timed out. The library would end the session.
//! - The end of the input ends the process within a second, also during a call. The library would wait for the call.
//! - A process whose parent is gone ends, also if another process keeps its standard input open.
//! - A result of a call has the same JSON as text and as structure. It is serialized once; the library would do it twice.

use std::{io, sync::Arc, time::Duration};

use futures_util::SinkExt as _;
use rmcp::{
    RoleServer, ServiceExt as _,
    model::{CallToolResult, ClientRequest, JsonRpcMessage, ServerResult},
    service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, BufReader, DuplexStream, Lines, duplex},
    sync::Mutex,
    task::JoinSet,
    time::sleep,
};
use tokio_util::{
    codec::{FramedWrite, LinesCodec, LinesCodecError},
    sync::CancellationToken,
};

use super::server::Server;

/// How long calls may continue after the end of the input. A script such as `printf ... | tas-mcp` ends its input at once and
/// still expects answers.
const END_OF_INPUT_GRACE: Duration = Duration::from_millis(400);

/// How long the session may take to end after a shutdown.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(250);

/// Time between looks at the parent process.
#[cfg(unix)]
const PARENT_INTERVAL: Duration = Duration::from_secs(5);

/// Size of the pipe through which the error responses of the library pass, in bytes.
const REFUSALS_BYTES: usize = 1_024;

/// Serves MCP on these streams until the input ends or [`Server::shutdown_token`] is cancelled.
///
/// # Errors
/// The error that has ended the session. The end of the input is no error.
pub async fn serve_stdio(
    server: Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> anyhow::Result<()> {
    let shutdown = server.shutdown_token().clone();
    let (refused, refusals) = duplex(REFUSALS_BYTES);
    let transport = HostTransport {
        library: AsyncRwTransport::new_server(input, refused),
        refusals: BufReader::new(refusals).lines(),
        output: Arc::new(Mutex::new(FramedWrite::new(output, LinesCodec::new()))),
        answering: JoinSet::new(),
        is_session_open: false,
        has_input_ended: false,
        shutdown: shutdown.clone(),
    };

    tokio::select! {
        outcome = run_session(server, transport) => outcome,
        () = shutdown_limit(shutdown) => Ok(()),
    }
}

async fn run_session<T: Transport<RoleServer> + 'static>(server: Server, transport: T) -> anyhow::Result<()> {
    let shutdown = server.shutdown_token().clone();

    let session = match server.serve_with_ct(transport, shutdown).await {
        Ok(session) => session,
        // The host disconnected before its first request, which is no error of the server.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(anyhow::Error::new(error)),
    };

    match session.waiting().await? {
        QuitReason::JoinError(error) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Waits until the session must have ended. The library waits for calls in progress, which must not delay the end of the process.
async fn shutdown_limit(shutdown: CancellationToken) {
    shutdown.cancelled().await;
    sleep(SHUTDOWN_LIMIT).await;
}

/// Waits until the process that has started this one is gone. Which one that is, the call finds out at once.
#[cfg(unix)]
pub fn parent_exit() -> impl Future<Output = ()> {
    let parent = std::os::unix::process::parent_id();
    async move {
        while std::os::unix::process::parent_id() == parent {
            sleep(PARENT_INTERVAL).await;
        }
    }
}

/// Never ends: the end of the input tells that the host is gone.
#[cfg(not(unix))]
pub async fn parent_exit() {
    std::future::pending().await
}

/// The transport of the library without the messages that it would not survive.
struct HostTransport<R: AsyncRead, W> {
    library: AsyncRwTransport<RoleServer, R, DuplexStream>,
    /// Error responses of the library, a line each. It writes them for JSON that is not a message.
    refusals: Lines<BufReader<DuplexStream>>,
    /// The task that writes such a response to the output.
    answering: JoinSet<Result<(), LinesCodecError>>,
    output: Arc<Output<W>>,
    /// Whether the host has begun a session. Before that, only requests are passed on.
    is_session_open: bool,
    has_input_ended: bool,
    /// Cancelled soon after the end of the input.
    shutdown: CancellationToken,
}

impl<R: AsyncRead, W> HostTransport<R, W> {
    fn accept(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        let JsonRpcMessage::Request(request) = message else { return self.is_session_open };

        // Discovery and ping do not begin a session.
        let is_probe =
            matches!(request.request, ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_));
        self.is_session_open |= !is_probe;
        true
    }
}

impl<R, W> Transport<RoleServer> for HostTransport<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = LinesCodecError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), LinesCodecError>> + Send + 'static {
        let output = self.output.clone();
        async move { write(&output, message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // The response is written before the next message is read, by a task because this future can be dropped.
            while self.answering.join_next().await.is_some() {}

            let message = tokio::select! {
                biased;
                Ok(Some(refusal)) = self.refusals.next_line() => {
                    let output = self.output.clone();
                    self.answering.spawn(async move { output.lock().await.send(refusal).await });
                    continue;
                }
                message = self.library.receive(), if !self.has_input_ended => message,
                else => break,
            };
            match message {
                Some(message) if self.accept(&message) => return Some(message),
                Some(_) => {}
                None => {
                    // Closes the pipe. Responses that are still in it are written before the loop ends.
                    drop(self.library.close().await);
                    self.has_input_ended = true;
                }
            }
        }

        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            sleep(END_OF_INPUT_GRACE).await;
            shutdown.cancel();
        });
        None
    }

    async fn close(&mut self) -> Result<(), LinesCodecError> {
        Ok(self.library.close().await?)
    }
}

type Output<W> = Mutex<FramedWrite<W, LinesCodec>>;

/// Writes a message as one line. The text of a call's result is the JSON of its structure (`tool_result`), so that the text is
/// copied in place of serializing the structure. The host does not wait until the memory of the structure is freed.
async fn write(
    output: &Output<impl AsyncWrite + Unpin>,
    mut message: TxJsonRpcMessage<RoleServer>,
) -> Result<(), LinesCodecError> {
    let structure = call_result(&mut message).and_then(|result| result.structured_content.take());
    let mut json = serde_json::to_string(&message).map_err(io::Error::from)?;

    // The object `result` is the last field of the message, so that the JSON ends with the brackets of both objects.
    if structure.is_some()
        && let Some(text) = call_result(&mut message).and_then(|result| result.content.first()?.as_text())
    {
        json.truncate(json.len().saturating_sub("}}".len()));
        json += r#","structuredContent":"#;
        json += &text.text;
        json += "}}";
    }

    output.lock().await.send(json).await
}

fn call_result(message: &mut TxJsonRpcMessage<RoleServer>) -> Option<&mut CallToolResult> {
    let JsonRpcMessage::Response(response) = message else { return None };
    let ServerResult::CallToolResult(result) = &mut response.result else { return None };
    Some(result)
}
