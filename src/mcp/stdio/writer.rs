//! Writes messages as lines.

use std::{
    io::{Error, ErrorKind},
    sync::Arc,
    time::Duration,
};

use rmcp::{RoleServer, service::TxJsonRpcMessage};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::Mutex,
};

/// Writes one complete message after the other. The clones share the output.
pub(super) struct MessageWriter<W>(Arc<Mutex<Option<W>>>);

impl<W> Clone for MessageWriter<W> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// How long the end of the session waits for a line of which the host has read only a part.
const LATE_READER_LIMIT: Duration = Duration::from_secs(10);

impl<W: AsyncWrite + Send + Unpin + 'static> MessageWriter<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Arc::new(Mutex::new(Some(output))))
    }

    /// Writes a message and its line feed. The line is completed even if the returned future is dropped.
    ///
    /// # Errors
    /// Every error of the output, and `NotConnected` after [`Self::close`].
    pub(super) async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');

        let output = Arc::clone(&self.0);
        let writing = tokio::spawn(async move {
            let mut output = output.lock().await;
            let output = output.as_mut().ok_or_else(|| Error::from(ErrorKind::NotConnected))?;
            output.write_all(&line).await?;
            output.flush().await
        });

        writing.await.unwrap_or_else(|stopped| Err(Error::other(stopped)))
    }

    /// Closes the output. A line that was begun is completed, if the host reads it within [`LATE_READER_LIMIT`].
    pub(super) async fn finish(&self) {
        drop(tokio::time::timeout(LATE_READER_LIMIT, self.close()).await);
    }

    /// Closes the output after the message that is being written.
    pub(super) async fn close(&self) {
        drop(self.0.lock().await.take());
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ErrorData;
    use serde_json::Value;
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_that_was_begun_is_completed_for_a_host_that_reads_late() {
        let (output, mut host) = tokio::io::duplex(16);
        let writer = MessageWriter::new(output);
        let error = ErrorData::invalid_request("x".repeat(1_000), None);
        let message = TxJsonRpcMessage::<RoleServer>::error(error, None);

        // The session ends while the pipe of the host is full.
        tokio::select! {
            biased;
            _ = writer.write(&message) => panic!("the pipe cannot hold the line"),
            () = tokio::task::yield_now() => {}
        }
        let mut text = String::new();
        let ((), read) = tokio::join!(writer.finish(), host.read_to_string(&mut text));

        read.expect("text");
        assert!(text.ends_with('\n'), "{text}");
        assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    }
}
