//! MCP over standard input and output, one JSON-RPC message a line.

use std::{
    io::{Error, ErrorKind},
    sync::Arc,
    time::Duration,
};

use rmcp::{
    RoleServer, ServiceExt,
    model::{ClientRequest, ErrorData, JsonRpcMessage},
    service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    Server,
    guarded::Guarded,
    line::{LONGEST_LINE, Line, LineBuffer, Unreadable, decode},
};

/// How long calls may go on after the host has closed the input: enough for `printf ... | tas-mcp`.
const GRACE: Duration = Duration::from_millis(500);

/// How long the last answers may take to be written once calls have been told to stop.
const FAREWELL: Duration = Duration::from_millis(300);

/// Serves MCP on these streams until the input ends or [`Server::shutdown_token`] is cancelled.
pub async fn serve<R, W>(server: Server, input: R, output: W) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stopping = server.shutdown_token().clone();
    let (stopped, leaver) = (stopping.clone(), server.clone());
    let session = async move {
        let transport = Stdio::new(input, output, stopping.clone());
        let running = match Guarded(server).serve_with_ct(transport, stopping).await {
            Ok(running) => running,
            // The host has gone before it said anything: nothing is wrong with us.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(anyhow::Error::new(error)),
        };
        let ended = running.waiting().await?;
        drop(tokio::time::timeout(FAREWELL, leaver.farewell()).await);
        match ended {
            QuitReason::JoinError(error) => Err(error.into()),
            _ => Ok(()),
        }
    };

    let too_late = async {
        stopped.cancelled().await;
        tokio::time::sleep(FAREWELL).await;
    };

    tokio::select! {
        outcome = session => outcome,
        () = too_late => Ok(()),
    }
}

/// The transport. Input that the library would fall over is dealt with here.
struct Stdio<R, W> {
    reader: BufReader<R>,
    buffer: LineBuffer,
    /// Whether the host has chosen a lifecycle; what comes before and is no request is passed over.
    is_open: bool,
    output: Output<W>,
    /// An answer to something unreadable that is being written. The library may drop a `receive` at any time; the
    /// answer must not be cut by that.
    refusal: Option<JoinHandle<()>>,
    stopping: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Stdio<R, W> {
    fn new(input: R, output: W, stopping: CancellationToken) -> Self {
        const READ_AT_ONCE: usize = 32 * 1024;
        Self {
            reader: BufReader::with_capacity(READ_AT_ONCE, input),
            buffer: LineBuffer::default(),
            is_open: false,
            output: Output::new(output),
            refusal: None,
            stopping,
        }
    }

    /// Whether the message reaches the library, which ends the session over anything but a request at its start:
    /// a client whose probe timed out begins with `notifications/cancelled`.
    fn admits(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                let probe = matches!(
                    request.request,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                );
                self.is_open |= !probe;
                true
            }
            _ => self.is_open,
        }
    }

    fn refuse(&mut self, unreadable: Unreadable) {
        let output = self.output.clone();
        self.refusal = Some(tokio::spawn(async move {
            let answer = TxJsonRpcMessage::<RoleServer>::error(unreadable.error, unreadable.id);
            // A host that no longer reads cannot be told anything.
            drop(output.write(&answer).await);
        }));
    }

    /// Calls under way get a little time to be answered, then they are stopped.
    fn end(&self) {
        let stopping = self.stopping.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            stopping.cancel();
        });
    }
}

impl<R, W> Transport<RoleServer> for Stdio<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        let output = self.output.clone();
        async move { output.write(&message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(refusal) = &mut self.refusal {
                drop(refusal.await);
                self.refusal = None;
            }

            let message = match self.buffer.read(&mut self.reader).await {
                Ok(Line::Whole) if self.buffer.line().is_empty() => {
                    self.buffer.clear();
                    continue;
                }
                Ok(Line::Whole) => decode(self.buffer.line()),
                Ok(Line::TooLong) => {
                    let text = format!("the line is longer than {} MiB", LONGEST_LINE / 1024 / 1024);
                    Err(Box::new(Unreadable { id: None, error: ErrorData::invalid_request(text, None) }))
                }
                Ok(Line::End) => {
                    self.end();
                    return None;
                }
                Err(error) => {
                    tracing::error!("standard input cannot be read: {error}");
                    self.end();
                    return None;
                }
            };
            self.buffer.clear();

            match message {
                Ok(message) if self.admits(&message) => return Some(message),
                Ok(_) => tracing::debug!("passed over a message before the session began"),
                Err(unreadable) => self.refuse(*unreadable),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.output.close().await;
        Ok(())
    }
}

/// Writes whole messages, one after the other.
struct Output<W>(Arc<Mutex<Option<W>>>);

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<W: AsyncWrite + Send + Unpin> Output<W> {
    fn new(output: W) -> Self {
        Self(Arc::new(Mutex::new(Some(output))))
    }

    async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut output = self.0.lock().await;
        let output = output.as_mut().ok_or_else(|| Error::from(ErrorKind::NotConnected))?;
        output.write_all(&line).await?;
        output.flush().await
    }

    /// Waits for what is being written.
    async fn close(&self) {
        drop(self.0.lock().await.take());
    }
}
