//! The parts of an upload: several are sent at a time, each with new attempts and new addresses.

use std::{
    collections::BTreeSet,
    iter,
    ops::Range,
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http_body::{Body, Frame, SizeHint};
use tokio::{runtime::Handle, sync::mpsc, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    UploadIds,
    journal::UploadJournal,
    session::{PartEtags, UploadPlan, UploadSession},
    source::{FileDigest, SourceFile},
};
use crate::{
    client::{StorageClient, StorageError},
    failure::{Cause, Code, Failure},
    tools::files::format_progress,
};

/// Number of parts that are sent at the same time (service.md 10.6: 3 to 5).
const PARALLEL_PARTS: usize = 4;

/// Usual number of addresses of one request (service.md 10.5: 3 to 10).
const BATCH_SIZE: u64 = 8;

/// Maximum number of addresses of one request. The last batch may be larger than the others, so that it never has fewer
/// than three addresses.
const MAX_BATCH_SIZE: u64 = 10;

/// How often a part gets another address after its address was refused.
const MAX_NEW_ADDRESSES: u32 = 3;

/// Number of chunks of a part that are read ahead.
const READ_AHEAD: usize = 2;

/// Sends the parts of one upload.
#[derive(Debug)]
pub(super) struct PartSender<'a> {
    pub(super) session: &'a UploadSession,
    pub(super) storage: &'a StorageClient,
    pub(super) source: &'a SourceFile,
    pub(super) plan: &'a UploadPlan,
    pub(super) progress: &'a Arc<UploadProgress>,
}

impl PartSender<'_> {
    /// Sends every part that is not in `etags`, and records it there and in the journal. Returns the SHA-256 of the
    /// file if `hashes` is set.
    pub(super) async fn send_all(
        &self,
        etags: &mut PartEtags,
        mut journal: Option<&mut UploadJournal>,
        hashes: bool,
    ) -> Result<Option<String>, Failure> {
        let ranges = etags.keys().map(|number| self.plan.part_range(*number));
        self.progress.add_resumed(ranges.map(|range| range.end - range.start).sum());
        let digest = hashes.then(|| FileDigest::start(self.source));

        // Addresses expire, so that the next batch is requested only when the last one is used up.
        let batches = stream::iter(batches(self.plan.total_parts(), etags));
        let addresses = batches.then(|numbers| self.session.part_addresses(self.plan, numbers)).boxed();
        let parts =
            addresses.map_ok(|batch| stream::iter(batch.into_iter().map(Ok::<_, Failure>))).try_flatten();
        let sending = parts.map_ok(|(number, address)| {
            if let Some(digest) = &digest {
                digest.advance_to(self.plan.part_range(number).end);
            }
            self.send(number, address)
        });

        {
            let mut sent = pin!(sending.try_buffer_unordered(PARALLEL_PARTS).boxed());
            while let Some((number, etag)) = sent.try_next().await? {
                if let Some(journal) = &mut journal {
                    journal.add_part(number, &etag);
                }
                etags.insert(number, etag);
            }
        }

        match digest {
            Some(digest) => digest.finish(self.source.size()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Sends part `number` until the storage host accepts it. Returns its number and its `ETag`.
    async fn send(&self, number: u64, mut address: String) -> Result<(u64, String), Failure> {
        let mut pauses = self.session.timing.pauses();
        let mut new_addresses = 0;

        loop {
            let error = match self.try_send(number, &address).await? {
                Ok(etag) => return Ok((number, etag)),
                Err(error) => error,
            };
            match error {
                // An address can expire before its part is sent.
                StorageError::Refused { .. }
                    if self.plan.is_multipart() && new_addresses < MAX_NEW_ADDRESSES =>
                {
                    new_addresses += 1;
                    tracing::debug!(number, "the address of a part was refused; a new address is requested");
                    let renewed = self.session.part_addresses(self.plan, vec![number]).await?;
                    address = renewed.into_iter().map(|(_, renewed)| renewed).next().unwrap_or(address);
                }
                StorageError::Transient { .. } => {
                    let failure = part_failure(number, &error);
                    let Some(pause) = pauses.next() else { return Err(failure) };
                    tracing::debug!(number, "a part is sent again: {error}");
                    self.session.pause_after(failure, pause).await?;
                }
                error => return Err(part_failure(number, &error)),
            }
        }
    }

    /// Sends part `number` once. The outer error is of the local file, the inner error of the storage host.
    async fn try_send(&self, number: u64, address: &str) -> Result<Result<String, StorageError>, Failure> {
        let (body, transfer) = start_part(self.source, self.plan.part_range(number), self.progress);
        let limit = self.session.timing.stall_limit;

        let outcome = tokio::select! {
            outcome = self.storage.put(address, body) => outcome,
            () = transfer.wait_for_stall(limit) => {
                Err(StorageError::transient(format!("no byte was accepted for {} s", limit.as_secs())))
            }
        };

        if outcome.is_err()
            && let Some(failure) = transfer.fail().await
        {
            return Err(failure);
        }

        Ok(outcome)
    }
}

/// Returns the numbers of the parts that are not sent, in batches of which each is requested at once.
fn batches(total: u64, sent: &PartEtags) -> impl Iterator<Item = Vec<u64>> + Send + use<> {
    let sent: BTreeSet<_> = sent.keys().copied().collect();
    let mut left = total.saturating_sub(sent.len() as u64);
    let mut missing = (1..=total).filter(move |number| !sent.contains(number));

    iter::from_fn(move || {
        let size = batch_size(left);
        left -= size;
        let batch: Vec<_> = (0..size).zip(missing.by_ref()).map(|(_, number)| number).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

/// Returns the number of addresses of the next request, if `count` parts have no address yet.
pub(super) fn batch_size(count: u64) -> u64 {
    if count > MAX_BATCH_SIZE { BATCH_SIZE } else { count }
}

fn part_failure(number: u64, error: &StorageError) -> Failure {
    let code = match error {
        StorageError::Transient { .. } => Code::ServiceUnavailable,
        StorageError::Refused { .. } | StorageError::Final(_) => Code::Rejected,
        StorageError::Address(_) | StorageError::NoEtag(_) => Code::BadResponse,
    };
    let mut failure = Failure::new(code, format!("part {number} could not be stored: {error}"));
    failure = failure.detail("part_number", number);

    match error {
        StorageError::Refused { status, .. } => {
            failure.facts.cause = Some(Cause::AddressRefused);
            failure.status(*status)
        }
        StorageError::Transient { retry_after: Some(wait), .. } => failure.retry_after(*wait),
        _ => failure,
    }
}

/// The request body of a part. A blocking thread reads the file and passes chunks to the connection, so that the part
/// is never in memory as a whole.
#[derive(Debug)]
struct PartBody {
    chunks: mpsc::Receiver<Bytes>,
    remaining: u64,
    progress: Arc<UploadProgress>,
    sent: Arc<AtomicU64>,
    stopped: CancellationToken,
}

/// The transfer of a part, seen from outside of its body.
#[derive(Debug)]
struct PartTransfer {
    reading: JoinHandle<Result<(), Failure>>,
    progress: Arc<UploadProgress>,
    sent: Arc<AtomicU64>,
    /// Stops the reading thread. A stalled connection may keep the body alive for a long time.
    stop_guard: DropGuard,
}

/// Starts to read a part. Returns the body and the handle of the transfer.
fn start_part(
    source: &SourceFile,
    range: Range<u64>,
    progress: &Arc<UploadProgress>,
) -> (reqwest::Body, PartTransfer) {
    let (sender, chunks) = mpsc::channel(READ_AHEAD);
    let stopped = CancellationToken::new();
    let sent = Arc::<AtomicU64>::default();
    let body = PartBody {
        chunks,
        remaining: range.end - range.start,
        progress: Arc::clone(progress),
        sent: Arc::clone(&sent),
        stopped: stopped.clone(),
    };

    let (source, reader_stopped, runtime) = (source.clone(), stopped.clone(), Handle::current());
    let reading = tokio::task::spawn_blocking(move || {
        source.read_chunks(range, |chunk| {
            // The channel is bounded: the thread waits until the connection has taken a chunk.
            let sent = runtime.block_on(reader_stopped.run_until_cancelled(sender.send(chunk)));
            sent.is_some_and(|sent| sent.is_ok())
        })
    });

    let stop_guard = stopped.drop_guard();
    let transfer = PartTransfer { reading, progress: Arc::clone(progress), sent, stop_guard };

    (reqwest::Body::wrap(body), transfer)
}

impl PartTransfer {
    /// Waits until no byte was sent during a period of `limit`.
    async fn wait_for_stall(&self, limit: Duration) {
        let mut previous = self.sent.load(Relaxed);

        loop {
            tokio::time::sleep(limit).await;
            let current = self.sent.load(Relaxed);
            if current == previous {
                return;
            }
            previous = current;
        }
    }

    /// Ends a transfer that failed, and takes its bytes back from the progress. Returns the failure of the file, if the
    /// file could not be read.
    async fn fail(self) -> Option<Failure> {
        drop(self.stop_guard);
        self.progress.take_back(self.sent.load(Relaxed));
        self.reading.await.ok().and_then(Result::err)
    }
}

/// Error of a body whose file could not be read to the end of the part.
#[derive(Debug, thiserror::Error)]
#[error("the file could not be read to its end")]
struct IncompletePart;

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

/// What is known about an upload while it runs. All its parts share the counters.
#[derive(Debug, Default)]
pub(crate) struct UploadProgress {
    total: u64,
    /// Bytes of finished parts, and the bytes sent so far of parts in transfer.
    sent: AtomicU64,
    /// Bytes of parts that an earlier upload had sent.
    resumed: AtomicU64,
    /// Bytes that had to be sent again.
    sent_again: AtomicU64,
    /// Maximum that was ever reported, so that a part that starts again does not make the progress go back.
    reported: AtomicU64,
    started: OnceLock<Instant>,
    /// Whether the upload could be resumed if the process ended now.
    is_resumable: AtomicBool,
    ids: Mutex<Option<UploadIds>>,
}

impl UploadProgress {
    /// Creates the progress of an upload of `total` bytes.
    pub(super) fn new(total: u64) -> Self {
        Self { total, ..Self::default() }
    }

    /// Starts the clock.
    pub(super) fn start(&self) {
        self.started.get_or_init(Instant::now);
    }

    fn add_resumed(&self, bytes: u64) {
        self.resumed.fetch_add(bytes, Relaxed);
        self.add_sent(bytes);
    }

    fn add_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be sent again.
    fn take_back(&self, bytes: u64) {
        self.sent.fetch_sub(bytes, Relaxed);
        self.sent_again.fetch_add(bytes, Relaxed);
    }

    /// Returns the size of the file.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of bytes that were sent. It never decreases.
    pub(crate) fn sent(&self) -> u64 {
        let sent = self.sent.load(Relaxed).min(self.total);
        self.reported.fetch_max(sent, Relaxed).max(sent)
    }

    pub(super) fn bytes_sent_again(&self) -> u64 {
        self.sent_again.load(Relaxed)
    }

    /// Returns the time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.get().map(Instant::elapsed).unwrap_or_default()
    }

    /// Returns the progress as text: bytes sent, total bytes and rate.
    pub(crate) fn describe(&self) -> String {
        let sent = self.sent();
        let transferred = sent.saturating_sub(self.resumed.load(Relaxed));
        format_progress(sent, self.total, transferred, self.elapsed())
    }

    pub(super) fn set_resumable(&self, is_resumable: bool) {
        self.is_resumable.store(is_resumable, Relaxed);
    }

    pub(super) fn is_resumable(&self) -> bool {
        self.is_resumable.load(Relaxed)
    }

    pub(super) fn set_ids(&self, ids: &UploadIds) {
        *self.ids.lock().unwrap_or_else(PoisonError::into_inner) = Some(ids.clone());
    }

    /// Returns the ids of the upload at the service, or `None` before its initiation.
    pub(crate) fn ids(&self) -> Option<UploadIds> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_three_to_ten_numbers_and_leave_out_sent_parts() {
        let sent = PartEtags::from([(2, "e".to_owned()), (9, "e".to_owned())]);
        let batches: Vec<_> = batches(13, &sent).collect();
        assert_eq!(batches, [vec![1, 3, 4, 5, 6, 7, 8, 10], vec![11, 12, 13]]);
    }

    #[test]
    fn the_reported_bytes_never_decrease() {
        let progress = UploadProgress::new(100);
        progress.add_sent(60);
        assert_eq!(progress.sent(), 60);

        progress.take_back(50);
        assert_eq!((progress.sent(), progress.bytes_sent_again()), (60, 50));

        progress.add_sent(500);
        assert_eq!(progress.sent(), 100);
    }
}
