//! The request body of one part. A blocking thread reads the file and passes chunks to the connection, so that the part is
//! never in memory as a whole.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::{runtime::Handle, sync::mpsc, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{progress::UploadProgress, source_file::SourceFile};
use crate::failure::Failure;

/// Number of chunks that are read ahead.
const READ_AHEAD: usize = 2;

/// Position of a part in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PartRange {
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl PartRange {
    /// Returns the position of the first byte after the part.
    pub(super) fn end(self) -> u64 {
        self.offset + self.length
    }
}

/// The request body of a part.
#[derive(Debug)]
pub(super) struct PartBody {
    chunks: mpsc::Receiver<Bytes>,
    remaining: u64,
    progress: Arc<UploadProgress>,
    sent: Arc<AtomicU64>,
    stopped: CancellationToken,
}

/// The transfer of a part, seen from outside of its body.
#[derive(Debug)]
pub(super) struct PartTransfer {
    reading: JoinHandle<Result<(), Failure>>,
    progress: Arc<UploadProgress>,
    sent: Arc<AtomicU64>,
    /// Stops the reading thread. A stalled connection may keep the body alive for a long time.
    stop_guard: DropGuard,
}

/// Starts to read a part. Returns the body and the handle of the transfer.
pub(super) fn start_part(
    source: &SourceFile,
    range: PartRange,
    progress: &Arc<UploadProgress>,
) -> (PartBody, PartTransfer) {
    let (sender, chunks) = mpsc::channel(READ_AHEAD);
    let stopped = CancellationToken::new();
    let (source, reader_stopped, runtime) = (source.clone(), stopped.clone(), Handle::current());
    let reading = tokio::task::spawn_blocking(move || {
        source.read_chunks(range.offset, range.length, |chunk| {
            // The channel is bounded: the thread waits until the connection has taken a chunk.
            let sent = runtime.block_on(reader_stopped.run_until_cancelled(sender.send(chunk)));
            sent.is_some_and(|sent| sent.is_ok())
        })
    });

    let sent = Arc::new(AtomicU64::new(0));
    let body = PartBody {
        chunks,
        remaining: range.length,
        progress: Arc::clone(progress),
        sent: Arc::clone(&sent),
        stopped: stopped.clone(),
    };

    (body, PartTransfer { reading, progress: Arc::clone(progress), sent, stop_guard: stopped.drop_guard() })
}

impl PartTransfer {
    /// Returns the number of bytes that were sent.
    pub(super) fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }

    /// Ends a transfer that failed, and takes its bytes back from the progress. Returns the failure of the file, if the
    /// file could not be read.
    pub(super) async fn fail(self) -> Option<Failure> {
        drop(self.stop_guard);
        self.progress.take_back(self.sent.load(Relaxed));
        self.reading.await.ok().and_then(Result::err)
    }
}

/// Error of a body whose file could not be read to the end of the part.
#[derive(Debug, thiserror::Error)]
#[error("the file could not be read to its end")]
pub(super) struct IncompletePart;

impl Body for PartBody {
    type Data = Bytes;
    type Error = IncompletePart;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, IncompletePart>>> {
        if self.remaining == 0 {
            return Poll::Ready(None);
        }
        if self.stopped.is_cancelled() {
            return Poll::Ready(Some(Err(IncompletePart)));
        }

        self.chunks.poll_recv(context).map(|chunk| {
            let Some(chunk) = chunk else { return Some(Err(IncompletePart)) };
            let size = chunk.len() as u64;
            self.remaining = self.remaining.saturating_sub(size);
            self.progress.add_sent(size);
            self.sent.fetch_add(size, Relaxed);
            Some(Ok(Frame::data(chunk)))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
