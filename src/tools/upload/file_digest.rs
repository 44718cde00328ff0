//! The SHA-256 of the file, made while its parts are sent: never ahead of them, so that the system reads the file once
//! and holds what both need in memory.

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

/// A digest that is being made.
#[derive(Debug)]
pub(super) struct FileDigest {
    /// How many bytes, from the start, are under way or have gone.
    reached: mpsc::UnboundedSender<u64>,
    made: JoinHandle<Result<String, Failure>>,
}

impl FileDigest {
    /// Begins.
    pub(super) fn of(source: &SourceFile) -> Self {
        let (reached, mut known) = mpsc::unbounded_channel();
        let source = source.clone();
        let made = spawn_blocking(move || {
            let (mut context, mut done) = (Context::new(&SHA256), 0);
            while let Some(end) = known.blocking_recv() {
                source.read(done, end - done, |chunk| {
                    context.update(&chunk);
                    // Closed: nobody wants the digest any more.
                    !known.is_closed()
                })?;
                done = end;
                if done == source.size() {
                    break;
                }
            }
            Ok(hexadecimal(context.finish()))
        });

        Self { reached, made }
    }

    /// All bytes before `end` are under way or have gone.
    pub(super) fn reach(&self, end: u64) {
        // Nobody listens when the file could not be read; `finish` says so.
        self.reached.send(end).unwrap_or_default();
    }

    /// The digest, in lower-case hexadecimal digits, when the whole file of `size` bytes has gone.
    pub(super) async fn finish(self, size: u64) -> Result<String, Failure> {
        self.reach(size);
        match self.made.await {
            Ok(made) => made,
            Err(stopped) => {
                Err(Failure::new(Code::Cancelled, format!("the file could not be hashed: {stopped}")))
            }
        }
    }
}
