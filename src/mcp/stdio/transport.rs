//! The transport on standard input and output. It answers or skips input that would end the session of the library.

use std::{io::Error, task::Poll, time::Duration};

use rmcp::{
    RoleServer,
    model::{ClientRequest, ErrorData, JsonRpcMessage, ServerResult},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncRead, BufReader},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{
    line_buffer::{LineBuffer, MAX_LINE_BYTES, ReadLine},
    open_requests::OpenRequests,
    writer::MessageWriter,
};
use crate::mcp::message::{InvalidMessage, decode};

/// How long calls may continue after the end of the input. A script such as `printf ... | tas-mcp` ends its input at
/// once and still expects answers.
const END_OF_INPUT_GRACE: Duration = Duration::from_millis(500);

/// Capacity of the input buffer, in bytes.
const INPUT_CAPACITY: usize = 32 * 1024;

/// The stream from which the messages of the host are read.
pub(super) type Input = Box<dyn AsyncRead + Send + Unpin>;

/// The transport on standard input and output.
pub(super) struct StdioTransport {
    reader: BufReader<Input>,
    buffer: LineBuffer,
    /// Whether the host has begun a session. Before that, only requests are passed on.
    is_session_open: bool,
    writer: MessageWriter,
    /// Ids of the requests that are not answered yet.
    open_requests: OpenRequests,
    /// The task that answers an invalid message. The answer is not a part of the future of `receive`, because the library
    /// may drop that future while the answer is being written.
    error_answer: Option<JoinHandle<()>>,
    shutdown: CancellationToken,
    /// Whether a message was read since other tasks ran.
    has_read_message: bool,
}

impl StdioTransport {
    pub(super) fn new(input: Input, writer: MessageWriter, shutdown: CancellationToken) -> Self {
        Self {
            reader: BufReader::with_capacity(INPUT_CAPACITY, input),
            buffer: LineBuffer::default(),
            is_session_open: false,
            writer,
            open_requests: OpenRequests::default(),
            error_answer: None,
            shutdown,
            has_read_message: false,
        }
    }

    /// Reads the next line that is not empty. Returns `None` at the end of the input.
    async fn read_message(&mut self) -> Option<Result<RxJsonRpcMessage<RoleServer>, Box<InvalidMessage>>> {
        loop {
            let read = self.buffer.read(&mut self.reader).await;
            let message = match read {
                Ok(ReadLine::Complete) if self.buffer.line().is_empty() => None,
                Ok(ReadLine::Complete) => Some(decode(self.buffer.line())),
                Ok(ReadLine::TooLong) => Some(Err(Box::new(line_too_long()))),
                Ok(ReadLine::EndOfInput) => return None,
                Err(error) => {
                    tracing::error!("standard input cannot be read: {error}");
                    return None;
                }
            };

            self.buffer.clear();
            if message.is_some() {
                return message;
            }
        }
    }

    /// Returns whether the library gets the message. The library ends the session if its first message is not a
    /// request, but some hosts begin with `notifications/cancelled` after a discovery request has timed out.
    fn accept(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        if let JsonRpcMessage::Request(request) = message {
            // Discovery and ping do not begin a session.
            let is_probe =
                matches!(request.request, ClientRequest::DiscoverRequest(_) | ClientRequest::PingRequest(_));
            self.is_session_open |= !is_probe;
            return true;
        }
        self.is_session_open
    }

    /// Starts to answer an invalid message.
    fn answer_error(&mut self, invalid: InvalidMessage) {
        let writer = self.writer.clone();
        self.error_answer = Some(tokio::spawn(async move {
            let answer = TxJsonRpcMessage::<RoleServer>::error(invalid.error, invalid.id);
            // A host that has closed its input cannot be answered.
            drop(writer.write(answer).await);
        }));
    }

    /// Stops the server after [`END_OF_INPUT_GRACE`], so that calls in progress can be answered.
    fn stop_after_grace(&self) {
        let shutdown = self.shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(END_OF_INPUT_GRACE).await;
            shutdown.cancel();
        });
    }
}

impl Transport<RoleServer> for StdioTransport {
    type Error = Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + 'static {
        self.open_requests.close_answered(&message);
        // After the first answer, most hosts request the list of tools. The list is created while the host reads the answer.
        let prepares_tools = begins_session(&message);
        let writing = self.writer.write(message);
        let writer = prepares_tools.then(|| self.writer.clone());

        async move {
            writing.await?;
            if let Some(writer) = writer {
                writer.prepare_tool_list();
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.error_answer {
                drop(answer.await);
                self.error_answer = None;
            }
            self.writer.wait_for_host().await;
            // The library may drop this future and call `receive` again. The flag is reset first, so that the next call does
            // not wait again.
            if std::mem::take(&mut self.has_read_message) && !self.reader.buffer().is_empty() {
                // Each request is sent to the service before the next request is read.
                run_ready_tasks().await;
                // Linux keeps a process that a message wakes on the core of the sender, even if another core is idle. A host
                // or a service on this computer would wait until this process has read all messages.
                std::thread::yield_now();
            }

            let Some(message) = self.read_message().await else {
                self.stop_after_grace();
                return None;
            };
            self.has_read_message = true;

            match message {
                Ok(message) if !self.open_requests.open(&message) => self.answer_error(id_in_use(message)),
                Ok(message) if self.accept(&message) => return Some(message),
                Ok(_) => tracing::debug!("skipped a message before the start of the session"),
                Err(invalid) => self.answer_error(*invalid),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Error> {
        self.writer.close().await;
        Ok(())
    }
}

/// Returns whether the message is the answer to the first request of a host.
fn begins_session(message: &TxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Response(response) = message else { return false };

    matches!(response.result, ServerResult::InitializeResult(_) | ServerResult::DiscoverResult(_))
}

/// Lets the tasks run that are ready now. Unlike `yield_now` of `tokio`, it does not wait for new events.
async fn run_ready_tasks() {
    let mut has_waited = false;

    std::future::poll_fn(|context| {
        if has_waited {
            return Poll::Ready(());
        }
        has_waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Returns the answer to a request whose id belongs to an earlier request that is not answered yet. The library would
/// answer only one of the two.
fn id_in_use(message: RxJsonRpcMessage<RoleServer>) -> InvalidMessage {
    let id = match message {
        JsonRpcMessage::Request(request) => Some(request.id),
        _ => None,
    };
    let text = "an earlier request with this id is not answered yet: use a new id for each request";
    InvalidMessage { id, error: ErrorData::invalid_request(text, None) }
}

fn line_too_long() -> InvalidMessage {
    let message = format!("the line is longer than {} MiB", MAX_LINE_BYTES / 1024 / 1024);
    InvalidMessage { id: None, error: ErrorData::invalid_request(message, None) }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };

    use rmcp::model::{InitializeResult, RequestId, ServerCapabilities};

    use super::*;
    use crate::{
        mcp::{message_encoder::MessageEncoder, profile::ServerProfile},
        settings::Settings,
    };

    /// Reads requests that arrive together, and starts a task for each. Returns how many tasks have run after each.
    async fn tasks_run_after_each(requests: u32) -> Vec<u32> {
        let line = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let input = std::io::Cursor::new((0..requests).map(line).collect::<String>().into_bytes());
        let writer = MessageWriter::new(Box::new(tokio::io::sink()), MessageEncoder::default());
        let mut transport = StdioTransport::new(Box::new(input), writer, CancellationToken::new());

        let (done, mut seen) = (Arc::new(AtomicU32::new(0)), Vec::new());
        for _ in 0..requests {
            transport.receive().await.expect("a request");
            seen.push(done.load(Relaxed));
            let done = Arc::clone(&done);
            tokio::spawn(async move { done.fetch_add(1, Relaxed) });
        }

        seen
    }

    #[tokio::test]
    async fn the_list_of_tools_exists_after_the_answer_to_the_first_request() {
        let settings = Settings::from_sources(None, |_| None::<&str>);
        let profile = Arc::new(ServerProfile::new((&settings).into()));
        let encoder = MessageEncoder::new(profile);
        let writer = MessageWriter::new(Box::new(tokio::io::sink()), encoder.clone());
        let mut transport =
            StdioTransport::new(Box::new(tokio::io::empty()), writer, CancellationToken::new());

        let mut ready_after = async |result| {
            let id = RequestId::Number(1);
            transport.send(TxJsonRpcMessage::<RoleServer>::response(result, id)).await.expect("a sink");
            encoder.prepared_list.lock().expect("no panic").is_some()
        };
        assert!(!ready_after(ServerResult::empty(())).await, "a ping does not begin a session");
        let first = InitializeResult::new(ServerCapabilities::default());
        assert!(ready_after(ServerResult::InitializeResult(first)).await);
    }

    #[tokio::test]
    async fn calls_begin_before_all_requests_that_arrived_with_them_are_read() {
        assert_eq!(tasks_run_after_each(4).await, [0, 1, 2, 3]);
    }
}
