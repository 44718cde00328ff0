//! The SHA-256 of the uploaded file.
//!
//! It is computed while the parts are sent and never reads ahead of them, so that each byte is read from the disk once and
//! is still in the system's cache for the second reader.

use ring::digest::{Context, SHA256};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
};

use super::source_file::SourceFile;
use crate::{
    failure::{Code, Failure},
    tools::files::hexadecimal,
};

/// A digest in progress.
#[derive(Debug)]
pub(super) struct FileDigest {
    /// Receives the position up to which parts are being sent.
    position: mpsc::UnboundedSender<u64>,
    task: JoinHandle<Result<String, Failure>>,
}

impl FileDigest {
    /// Starts the digest of `source`.
    pub(super) fn start(source: &SourceFile) -> Self {
        let (position, receiver) = mpsc::unbounded_channel();
        let source = source.clone();
        let task = spawn_blocking(move || hash_file(&source, receiver));

        Self { position, task }
    }

    /// Lets the digest read all bytes before `end`.
    pub(super) fn advance_to(&self, end: u64) {
        // The task has ended if the file could not be read. `finish` returns that failure.
        self.position.send(end).unwrap_or_default();
    }

    /// Waits for the digest of the whole file of `size` bytes, in lower-case hexadecimal digits.
    pub(super) async fn finish(self, size: u64) -> Result<String, Failure> {
        self.advance_to(size);

        self.task.await.unwrap_or_else(|stopped| {
            Err(Failure::new(Code::Cancelled, format!("the file could not be hashed: {stopped}")))
        })
    }
}

fn hash_file(source: &SourceFile, mut position: mpsc::UnboundedReceiver<u64>) -> Result<String, Failure> {
    let (mut context, mut done) = (Context::new(&SHA256), 0);

    while let Some(end) = position.blocking_recv() {
        source.read_chunks(done, end - done, |chunk| {
            context.update(&chunk);
            // The channel is closed when the upload has ended and the digest is not needed any more.
            !position.is_closed()
        })?;

        done = end;
        if done == source.size() {
            break;
        }
    }

    Ok(hexadecimal(context.finish()))
}
