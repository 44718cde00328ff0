//! The body of one part: read by a thread, sent by another, and never whole in memory.

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

/// Chunks that are read ahead.
const AHEAD: usize = 2;

/// Where a part lies in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRange {
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl ByteRange {
    /// The first byte after it.
    pub(super) fn end(self) -> u64 {
        self.offset + self.length
    }
}

/// Bytes on their way from the file to the network.
#[derive(Debug)]
pub(super) struct PartBody {
    chunks: mpsc::Receiver<Bytes>,
    left: u64,
    progress: Arc<UploadProgress>,
    gone: Arc<AtomicU64>,
    unwanted: CancellationToken,
}

/// What is known of a body while it is sent.
#[derive(Debug)]
pub(super) struct PartTransfer {
    reading: JoinHandle<Result<(), Failure>>,
    progress: Arc<UploadProgress>,
    gone: Arc<AtomicU64>,
    /// Ends the reading: a connection that nobody reads from may hold the body for long.
    unwanted: DropGuard,
}

/// Starts to read a part; the body gives its bytes.
pub(super) fn open(
    source: &SourceFile,
    range: ByteRange,
    progress: &Arc<UploadProgress>,
) -> (PartBody, PartTransfer) {
    let (sender, chunks) = mpsc::channel(AHEAD);
    let (source, unwanted) = (source.clone(), CancellationToken::new());
    let (ended, runtime) = (unwanted.clone(), Handle::current());
    let reading = tokio::task::spawn_blocking(move || {
        source.read(range.offset, range.length, |chunk| {
            let sent = runtime.block_on(ended.run_until_cancelled(sender.send(chunk)));
            sent.is_some_and(|sent| sent.is_ok())
        })
    });

    let gone = Arc::new(AtomicU64::new(0));
    let body = PartBody {
        chunks,
        left: range.length,
        progress: Arc::clone(progress),
        gone: Arc::clone(&gone),
        unwanted: unwanted.clone(),
    };

    (body, PartTransfer { reading, progress: Arc::clone(progress), gone, unwanted: unwanted.drop_guard() })
}

impl PartTransfer {
    /// Bytes that have gone.
    pub(super) fn gone(&self) -> u64 {
        self.gone.load(Relaxed)
    }

    /// The part was not taken: its bytes have to be sent again. Says why the file could not be read, if that is why.
    pub(super) async fn failed(self) -> Option<Failure> {
        drop(self.unwanted);
        self.progress.take_back(self.gone.load(Relaxed));
        self.reading.await.ok().and_then(Result::err)
    }
}

/// The file has fewer bytes than it had.
#[derive(Debug, thiserror::Error)]
#[error("the file could not be read to its end")]
pub(super) struct FileTruncated;

impl Body for PartBody {
    type Data = Bytes;
    type Error = FileTruncated;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FileTruncated>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        if self.unwanted.is_cancelled() {
            return Poll::Ready(Some(Err(FileTruncated)));
        }

        self.chunks.poll_recv(context).map(|chunk| {
            let Some(chunk) = chunk else { return Some(Err(FileTruncated)) };
            let size = chunk.len() as u64;
            self.left = self.left.saturating_sub(size);
            self.progress.add(size);
            self.gone.fetch_add(size, Relaxed);
            Some(Ok(Frame::data(chunk)))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
