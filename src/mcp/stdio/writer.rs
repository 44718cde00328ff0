//! Writes messages as lines.

use std::{
    io::{Error, ErrorKind},
    sync::Arc,
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

impl<W: AsyncWrite + Send + Unpin> MessageWriter<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Arc::new(Mutex::new(Some(output))))
    }

    /// Writes a message and its line feed.
    ///
    /// # Errors
    /// Every error of the output, and `NotConnected` after [`Self::close`].
    pub(super) async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> Result<(), Error> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');

        let mut output = self.0.lock().await;
        let output = output.as_mut().ok_or_else(|| Error::from(ErrorKind::NotConnected))?;
        output.write_all(&line).await?;
        output.flush().await
    }

    /// Closes the output after the message that is being written.
    pub(super) async fn close(&self) {
        drop(self.0.lock().await.take());
    }
}
