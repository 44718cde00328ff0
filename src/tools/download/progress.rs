//! The progress of a download.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::tools::{caller::CallerContext, files::format_progress};

/// Interval of progress messages.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Counts the bytes of a download. All its files share the counters.
#[derive(Debug)]
pub(super) struct TransferProgress {
    total: AtomicU64,
    /// Bytes on the disk.
    done: AtomicU64,
    /// The part of `done` that this call has received.
    received: AtomicU64,
    /// Maximum that was ever reported, so that a file that starts again does not make the progress go back.
    reported: AtomicU64,
    started: Instant,
}

impl TransferProgress {
    /// Creates the progress of a download of `total` bytes.
    pub(super) fn new(total: u64) -> Self {
        Self {
            total: AtomicU64::new(total),
            done: AtomicU64::new(0),
            received: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// Adds the size of a file whose size was not known before.
    pub(super) fn add_expected(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that an earlier call has saved.
    pub(super) fn add_existing(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    /// Counts received bytes.
    pub(super) fn add_received(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
        self.received.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be downloaded again.
    pub(super) fn take_back(&self, bytes: u64) {
        self.done.fetch_sub(bytes, Relaxed);
    }

    /// Returns the number of bytes of all files whose size is known.
    pub(super) fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Returns the number of bytes on the disk. It never decreases.
    pub(super) fn done(&self) -> u64 {
        let done = self.done.load(Relaxed).min(self.total());
        self.reported.fetch_max(done, Relaxed).max(done)
    }

    /// Returns the progress as text: bytes on the disk, total bytes and rate.
    pub(super) fn describe(&self) -> String {
        format_progress(self.done(), self.total(), self.received.load(Relaxed), self.started.elapsed())
    }

    /// Reports the progress to the caller.
    pub(super) fn report_to(&self, caller: &CallerContext) {
        caller.progress.report(self.done(), self.total(), &self.describe());
    }
}
