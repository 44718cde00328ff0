//! MCP over standard input and output, one JSON-RPC message a line.

use std::{
    io::{Error, ErrorKind},
    sync::{Arc, Mutex, PoisonError},
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
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    Server,
    line::{LONGEST_LINE, Line, LineBuffer, Unreadable, decode},
};

/// How long calls may go on after the host has closed the input: enough for `printf ... | tas-mcp`.
const GRACE: Duration = Duration::from_millis(500);

/// How long the last answers may take to be written once calls have been told to stop.
const FAREWELL: Duration = Duration::from_millis(300);

/// Answers that wait to be written, at most.
const WAITING_ANSWERS: usize = 256;

/// Serves MCP on these streams until the input ends or [`Server::stopping`] is cancelled.
pub async fn serve<R, W>(server: Server, input: R, output: W) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let stopping = server.stopping().clone();
    let stopped = stopping.clone();
    let session = async move {
        let transport = Stdio::new(input, output, stopping.clone());
        let running = match server.serve_with_ct(transport, stopping).await {
            Ok(running) => running,
            // The host has gone before it said anything: nothing is wrong with us.
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                return Ok(());
            }
            Err(error) => return Err(anyhow::Error::new(error)),
        };
        match running.waiting().await? {
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
struct Stdio<R> {
    reader: BufReader<R>,
    buffer: LineBuffer,
    /// Whether the host has chosen a lifecycle; what comes before and is no request is passed over.
    is_open: bool,
    output: Output,
    stopping: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> Stdio<R> {
    fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, stopping: CancellationToken) -> Self {
        const READ_AT_ONCE: usize = 32 * 1024;
        Self {
            reader: BufReader::with_capacity(READ_AT_ONCE, input),
            buffer: LineBuffer::default(),
            is_open: false,
            output: Output::new(output),
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

    /// Calls under way get a little time to be answered, then they are stopped.
    fn end(&self) {
        let stopping = self.stopping.clone();
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            stopping.cancel();
        });
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Stdio<R> {
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
                Err(unreadable) => {
                    let answer = TxJsonRpcMessage::<RoleServer>::error(unreadable.error, unreadable.id);
                    // A host that no longer reads cannot be told anything.
                    drop(self.output.clone().write(&answer).await);
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.output.close().await;
        Ok(())
    }
}

/// Writes whole messages in turn. Those that wait are written together.
#[derive(Clone)]
struct Output {
    queue: Arc<Mutex<Option<mpsc::Sender<Vec<u8>>>>>,
    writer: Arc<Mutex<Option<JoinHandle<()>>>>,
}

impl Output {
    fn new(output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (queue, messages) = mpsc::channel(WAITING_ANSWERS);
        let writer = tokio::spawn(write_all(output, messages));
        Self { queue: Arc::new(Mutex::new(Some(queue))), writer: Arc::new(Mutex::new(Some(writer))) }
    }

    async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let queue = queue.ok_or_else(|| Error::from(ErrorKind::NotConnected))?;
        queue.send(line).await.map_err(|_| Error::from(ErrorKind::BrokenPipe))
    }

    /// Waits until everything is written.
    async fn close(&self) {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            drop(writer.await);
        }
    }
}

async fn write_all(mut output: impl AsyncWrite + Unpin, mut messages: mpsc::Receiver<Vec<u8>>) {
    const WRITTEN_AT_ONCE: usize = 64 * 1024;
    while let Some(mut lines) = messages.recv().await {
        while lines.len() < WRITTEN_AT_ONCE
            && let Ok(line) = messages.try_recv()
        {
            lines.extend_from_slice(&line);
        }
        let written = async {
            output.write_all(&lines).await?;
            output.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!("standard output cannot be written: {error}");
            return;
        }
    }
}
