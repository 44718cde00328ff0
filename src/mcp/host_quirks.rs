//! MCP on standard input and output: the transport of the library, and what real hosts do that it does not take.
//!
//! The library reads and writes the messages. These facts need own code:
//!
//! - Every invalid line is answered, with its id if the id can be read. The library skips a line that is not JSON, and answers
//!   other invalid lines without an id.
//! - A line above [`MAX_LINE_BYTES`] is answered. The last line needs no line feed. A byte order mark is skipped.
//! - A host that sends requests and reads no answers must not exhaust the memory: beyond [`MAX_UNREAD_BYTES`] of unread answers,
//!   no further input is read.
//! - Some hosts begin with a notification, after a discovery request has timed out. The library would end the session.
//! - A request with the id of an open request is refused. The library would answer only one of the two.
//! - The end of the input ends the process within a second, also during a call, and also if nobody reads the output.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use indexmap::IndexSet;
use rmcp::{
    RoleServer, ServiceExt as _,
    model::{ClientNotification, ClientRequest, ErrorData, JsonRpcMessage, RequestId},
    service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{
        AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
        BufReader, DuplexStream,
    },
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use super::{
    message::{InvalidMessage, check},
    panic_guard::PanicGuard,
    server::Server,
};

/// Longest line, in bytes. A line without an end must not exhaust the memory.
const MAX_LINE_BYTES: usize = 16 << 20;

/// Largest number of unread bytes with which further input is read.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Number of bytes between the reader of the lines and the library.
const CHECKED_BYTES: usize = 64 << 10;

/// How long calls may continue after the end of the input. A script such as `printf ... | tas-mcp` ends its input at once and
/// still expects answers.
const END_OF_INPUT_GRACE: Duration = Duration::from_millis(400);

/// How long the session may take to end after a shutdown, and then how long the host may take to read the last answers.
const SHUTDOWN_LIMIT: Duration = Duration::from_millis(250);

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
    let (output, written) = HostOutput::start(output);
    let (checked, library_input) = tokio::io::duplex(CHECKED_BYTES);
    let reading = tokio::spawn(read_lines(input, checked, output.clone(), shutdown.clone()));

    let transport = HostTransport::new(library_input, output);
    let shutdown_limit = async {
        shutdown.cancelled().await;
        tokio::time::sleep(SHUTDOWN_LIMIT).await;
    };
    let outcome = tokio::select! {
        // The library waits for calls in progress, which must not delay the end of the process.
        outcome = run_session(server, transport) => outcome,
        () = shutdown_limit => Ok(()),
    };

    reading.abort();
    drop(tokio::time::timeout(SHUTDOWN_LIMIT, written).await);

    outcome
}

async fn run_session(server: Server, transport: HostTransport) -> anyhow::Result<()> {
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

/// Passes the valid lines of the host on to the library, and answers the others.
async fn read_lines(
    input: impl AsyncRead + Send + Unpin,
    mut library: DuplexStream,
    output: HostOutput,
    shutdown: CancellationToken,
) {
    let mut input = BufReader::new(input);

    loop {
        output.wait_for_host().await;

        let line = match next_line(&mut input).await {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                tracing::error!("standard input cannot be read: {error}");
                break;
            }
        };

        let passed = match check_line(&line) {
            Ok(None) => Ok(()),
            Ok(Some(message)) => library.write_all(&message).await,
            Err(invalid) => output.answer(*invalid),
        };
        if passed.is_err() {
            break;
        }
    }

    // The library sees the end of its input now.
    drop(library);
    tokio::time::sleep(END_OF_INPUT_GRACE).await;
    shutdown.cancel();
}

/// Reads a line, of which at most [`MAX_LINE_BYTES`] and one byte more are kept. Returns `None` at the end of the input.
async fn next_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(MAX_LINE_BYTES + 1).unwrap_or(u64::MAX);
    (&mut *input).take(limit).read_until(b'\n', &mut line).await?;

    let mut is_complete = line.len() <= MAX_LINE_BYTES || line.ends_with(b"\n");
    while !is_complete {
        let mut skipped = Vec::new();
        let read = (&mut *input).take(limit).read_until(b'\n', &mut skipped).await?;
        is_complete = read == 0 || skipped.ends_with(b"\n");
    }

    Ok((!line.is_empty()).then_some(line))
}

/// Returns the line as the library gets it, `None` if it is empty.
fn check_line(line: &[u8]) -> Result<Option<Vec<u8>>, Box<InvalidMessage>> {
    if line.len() > MAX_LINE_BYTES {
        let message = format!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20);
        return Err(Box::new(InvalidMessage { id: None, error: ErrorData::invalid_request(message, None) }));
    }

    let line = line.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }

    let mut message = check(line)?.into_owned();
    message.push(b'\n');

    Ok(Some(message))
}

/// The output to the host. It takes every message at once, and writes the messages in their order. The clones share the
/// output, and each write is one or more complete lines.
#[derive(Clone)]
struct HostOutput {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unread_bytes: watch::Sender<usize>,
}

impl HostOutput {
    /// Starts to write to `output`. The returned task ends when everything is written and every clone is dropped.
    fn start(mut output: impl AsyncWrite + Send + Unpin + 'static) -> (Self, tokio::task::JoinHandle<()>) {
        let (lines, mut unwritten) = mpsc::unbounded_channel::<Vec<u8>>();
        let unread_bytes = watch::Sender::new(0);
        let unread = unread_bytes.clone();

        let writing = tokio::spawn(async move {
            while let Some(lines) = unwritten.recv().await {
                if output.write_all(&lines).await.is_err() || output.flush().await.is_err() {
                    // A host that has closed its end of the pipe reads nothing any more.
                    break;
                }
                unread.send_modify(|bytes| *bytes -= lines.len());
            }
            unread.send_replace(0);
        });

        (Self { lines, unread_bytes }, writing)
    }

    /// Waits until at most [`MAX_UNREAD_BYTES`] are unread.
    async fn wait_for_host(&self) {
        // The sender exists as long as `self`, so that the wait cannot fail.
        drop(self.unread_bytes.subscribe().wait_for(|unread| *unread <= MAX_UNREAD_BYTES).await);
    }

    /// Answers an invalid message.
    fn answer(&self, invalid: InvalidMessage) -> io::Result<()> {
        let answer = TxJsonRpcMessage::<RoleServer>::error(invalid.error, invalid.id);
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');

        self.write_lines(line)
    }

    fn write_lines(&self, lines: Vec<u8>) -> io::Result<()> {
        // The length is added first, because the writing task may subtract it before this function returns.
        self.unread_bytes.send_modify(|unread| *unread += lines.len());

        self.lines.send(lines).map_err(|_| {
            // The host has closed the pipe. `wait_for_host` must not wait for lines that nobody will read.
            self.unread_bytes.send_replace(0);
            io::Error::from(io::ErrorKind::BrokenPipe)
        })
    }
}

impl AsyncWrite for HostOutput {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.write_lines(bytes.to_vec()).map(|()| bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The transport of the library without the messages that it would not survive.
struct HostTransport {
    library: AsyncRwTransport<RoleServer, DuplexStream, HostOutput>,
    output: HostOutput,
    /// Whether the host has begun a session. Before that, only requests are passed on.
    is_session_open: bool,
    /// Ids of the requests that are not answered yet.
    open_requests: IndexSet<RequestId>,
}

impl HostTransport {
    fn new(input: DuplexStream, output: HostOutput) -> Self {
        // The reader of the lines has checked their length.
        let library = AsyncRwTransport::new_server(input, output.clone()).with_max_line_length(usize::MAX);
        Self { library, output, is_session_open: false, open_requests: IndexSet::new() }
    }

    /// Returns whether the library gets the message. Answers a request whose id is in use.
    fn accept(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => {
                // Discovery and ping do not begin a session.
                let is_probe = matches!(
                    request.request,
                    ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_)
                );
                self.is_session_open |= !is_probe;

                self.open_requests.insert(request.id.clone()) || self.refuse(&request.id)
            }
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request may get no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification {
                    self.close(cancelled.params.request_id.as_ref());
                }

                self.is_session_open
            }
            _ => self.is_session_open,
        }
    }

    fn refuse(&self, id: &RequestId) -> bool {
        let message = "an earlier request with this id is not answered yet: use a new id for each request";
        let error = ErrorData::invalid_request(message, None);
        // A host that has closed its input cannot be answered.
        drop(self.output.answer(InvalidMessage { id: Some(id.clone()), error }));
        false
    }

    fn close(&mut self, id: Option<&RequestId>) {
        if let Some(id) = id {
            self.open_requests.swap_remove(id);
        }
    }
}

impl Transport<RoleServer> for HostTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Response(response) => self.close(Some(&response.id)),
            JsonRpcMessage::Error(error) => self.close(error.id.as_ref()),
            _ => {}
        }

        self.library.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.library.receive().await?;
            if self.accept(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.library.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_read_one_by_one_and_long_lines_are_skipped() {
        let long = "x".repeat(2 * MAX_LINE_BYTES + 7);
        let text = format!("one\n\n{long}\n two \r\nlast");
        let mut input = BufReader::new(text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut input).await.expect("input") {
            lines.push(line);
        }

        let lengths: Vec<_> = lines.iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 1, MAX_LINE_BYTES + 1, 7, 4]);
        assert!(check_line(&lines[2]).is_err());
        assert!(matches!(check_line(&lines[1]), Ok(None)));
    }

    #[tokio::test]
    async fn further_input_waits_until_the_host_has_read_the_answers() {
        let (pipe, mut host) = tokio::io::duplex(CHECKED_BYTES);
        let (output, written) = HostOutput::start(pipe);
        output.wait_for_host().await;

        output.write_lines(vec![b'x'; MAX_UNREAD_BYTES + 1]).expect("an output");
        let waiting = tokio::time::timeout(Duration::from_millis(10), output.wait_for_host()).await;
        assert!(waiting.is_err(), "the host has not read the line");

        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            host.read_to_end(&mut read).await.map(|_| read.len())
        });
        output.wait_for_host().await;
        drop(output);
        written.await.expect("no panic");
        assert_eq!(reading.await.expect("no panic").expect("a pipe"), MAX_UNREAD_BYTES + 1);
    }

    #[tokio::test]
    async fn a_host_that_has_closed_the_pipe_is_not_waited_for() {
        let (pipe, host) = tokio::io::duplex(16);
        let (output, written) = HostOutput::start(pipe);
        output.write_lines(vec![b'x'; MAX_UNREAD_BYTES + 1]).expect("an output");
        drop(host);
        output.wait_for_host().await;

        written.await.expect("no panic");
        output.write_lines(vec![b'x'; MAX_UNREAD_BYTES + 1]).expect_err("the pipe is closed");
        assert_eq!(*output.unread_bytes.borrow(), 0);
    }
}
