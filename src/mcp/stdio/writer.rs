//! Writes messages as lines.

use std::{
    io::{Error, ErrorKind},
    sync::Arc,
    time::Duration,
};

use futures_util::{
    FutureExt as _,
    future::{Either, ready},
};
use rmcp::{RoleServer, service::TxJsonRpcMessage};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::{Mutex, watch},
};

use crate::mcp::message_encoder::MessageEncoder;

/// The stream to which the messages to the host are written.
pub(super) type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Writes one complete message after the other. The clones share the output.
#[derive(Clone)]
pub(super) struct MessageWriter {
    output: Arc<Mutex<Option<Output>>>,
    encoder: MessageEncoder,
    /// Number of bytes that the host has not read yet.
    unread_bytes: watch::Sender<usize>,
    max_unread_bytes: usize,
}

/// Largest number of unread bytes with which further input is read.
const MAX_UNREAD_BYTES: usize = 64 << 20;

/// How long the end of the session waits for a line of which the host has read only a part.
const LATE_READER_LIMIT: Duration = Duration::from_secs(10);

impl MessageWriter {
    pub(super) fn new(output: Output, encoder: MessageEncoder) -> Self {
        Self::with_limit(output, encoder, MAX_UNREAD_BYTES)
    }

    fn with_limit(output: Output, encoder: MessageEncoder, max_unread_bytes: usize) -> Self {
        let output = Arc::new(Mutex::new(Some(output)));
        Self { output, encoder, unread_bytes: watch::Sender::new(0), max_unread_bytes }
    }

    /// Waits until at most [`MAX_UNREAD_BYTES`] are unread. A host that sends requests and reads no answers must not
    /// exhaust the memory.
    pub(super) async fn wait_for_host(&self) {
        let has_read_enough = |unread: &usize| *unread <= self.max_unread_bytes;
        if has_read_enough(&self.unread_bytes.borrow()) {
            return;
        }

        // The sender exists as long as this writer, so that the wait cannot fail.
        drop(self.unread_bytes.subscribe().wait_for(has_read_enough).await);
    }

    /// Writes a message and its line feed. Most lines are written before this function returns. Any other line is completed
    /// even if the returned future is dropped.
    ///
    /// # Errors
    /// Every error of the output, and `NotConnected` after [`Self::close`].
    pub(super) fn write(
        &self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let line = match self.encoder.encode(message) {
            Ok(line) => line,
            Err(error) => return Either::Left(ready(Err(error.into()))),
        };

        // Most lines are written at the first attempt. Only a line that has to wait for the host needs a task, which completes
        // the line.
        let mut writing = Box::pin(self.clone().write_line(line));
        match writing.as_mut().now_or_never() {
            Some(outcome) => Either::Left(ready(outcome)),
            None => Either::Right(
                tokio::spawn(writing)
                    .map(|outcome| outcome.unwrap_or_else(|stopped| Err(Error::other(stopped)))),
            ),
        }
    }

    async fn write_line(self, mut line: Vec<u8>) -> Result<(), Error> {
        line.push(b'\n');
        self.unread_bytes.send_if_modified(|unread| {
            *unread += line.len();
            false
        });

        let outcome = write_all(&self.output, &line).await;

        self.unread_bytes.send_if_modified(|unread| {
            let was_too_much = *unread > self.max_unread_bytes;
            *unread -= line.len();
            was_too_much
        });

        outcome
    }

    /// Creates the list of tools for the next answer that contains it.
    pub(super) fn prepare_tool_list(&self) {
        self.encoder.prepare_tool_list();
    }

    /// Closes the output. A line that was begun is completed, if the host reads it within [`LATE_READER_LIMIT`].
    pub(super) async fn finish(&self) {
        drop(tokio::time::timeout(LATE_READER_LIMIT, self.close()).await);
    }

    /// Closes the output after the message that is being written.
    pub(super) async fn close(&self) {
        drop(self.output.lock().await.take());
    }
}

async fn write_all(output: &Mutex<Option<Output>>, line: &[u8]) -> Result<(), Error> {
    let mut output = output.lock().await;
    let output = output.as_mut().ok_or_else(|| Error::from(ErrorKind::NotConnected))?;

    output.write_all(line).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorData;
    use serde_json::Value;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_that_the_pipe_can_hold_is_written_at_once() {
        let (output, mut host) = tokio::io::duplex(1_000);
        let writer = MessageWriter::new(Box::new(output), MessageEncoder::default());

        drop(
            writer.write(TxJsonRpcMessage::<RoleServer>::error(ErrorData::invalid_request("x", None), None)),
        );

        let mut line = [0; 1_000];
        let length = host.read(&mut line).now_or_never().expect("a line").expect("a pipe");
        assert!(line[..length].ends_with(b"\n"), "{length}");
    }

    #[tokio::test(start_paused = true)]
    async fn further_input_waits_until_the_host_has_read_the_answers() {
        const LIMIT: usize = 1_000;
        let (output, mut host) = tokio::io::duplex(16);
        let writer = MessageWriter::with_limit(Box::new(output), MessageEncoder::default(), LIMIT);
        let error = ErrorData::invalid_request("x".repeat(LIMIT), None);
        let message = TxJsonRpcMessage::<RoleServer>::error(error, None);
        writer.wait_for_host().await;

        drop(writer.write(message));
        let mut waiting = Box::pin(writer.wait_for_host());
        assert!(waiting.as_mut().now_or_never().is_none(), "the host has not read the line");

        let mut read = vec![0; LIMIT];
        host.read_exact(&mut read).await.expect("most of the line");
        drop(host);
        tokio::time::timeout(LATE_READER_LIMIT, waiting).await.expect("the host has read the line");
    }

    #[tokio::test]
    async fn a_line_that_was_begun_is_completed_for_a_host_that_reads_late() {
        let (output, mut host) = tokio::io::duplex(16);
        let writer = MessageWriter::new(Box::new(output), MessageEncoder::default());
        let error = ErrorData::invalid_request("x".repeat(1_000), None);
        let message = TxJsonRpcMessage::<RoleServer>::error(error, None);

        // The session ends while the pipe of the host is full.
        tokio::select! {
            biased;
            _ = writer.write(message) => panic!("the pipe cannot hold the line"),
            () = tokio::task::yield_now() => {}
        }
        let mut text = String::new();
        let ((), read) = tokio::join!(writer.finish(), host.read_to_string(&mut text));

        read.expect("text");
        assert!(text.ends_with('\n'), "{text}");
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    }
}
