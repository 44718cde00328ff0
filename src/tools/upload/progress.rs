//! The progress of an upload.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use crate::tools::files::format_progress;

/// Counts the bytes of an upload. All its parts share the counters.
#[derive(Debug)]
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
}

impl UploadProgress {
    /// Creates the progress of an upload of `total` bytes.
    pub(super) fn new(total: u64) -> Self {
        Self {
            total,
            sent: AtomicU64::new(0),
            resumed: AtomicU64::new(0),
            sent_again: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            started: OnceLock::new(),
        }
    }

    /// Starts the clock.
    pub(super) fn start(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// Counts bytes that an earlier upload had sent.
    pub(super) fn add_resumed(&self, bytes: u64) {
        self.resumed.fetch_add(bytes, Relaxed);
        self.add_sent(bytes);
    }

    /// Counts bytes that were handed to the network.
    pub(super) fn add_sent(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be sent again.
    pub(super) fn take_back(&self, bytes: u64) {
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

    /// Returns the number of bytes that were sent more than once.
    pub(super) fn bytes_sent_again(&self) -> u64 {
        self.sent_again.load(Relaxed)
    }

    /// Returns the seconds since the start, to the millisecond.
    pub(super) fn seconds(&self) -> f64 {
        let elapsed = self.started.get().map(Instant::elapsed).unwrap_or_default();
        (elapsed.as_secs_f64() * 1_000.0).round() / 1_000.0
    }

    /// Returns the progress as text: bytes sent, total bytes and rate.
    pub(crate) fn describe(&self) -> String {
        let sent = self.sent();
        let transferred = sent.saturating_sub(self.resumed.load(Relaxed));
        let elapsed = self.started.get().map(Instant::elapsed).unwrap_or_default();
        format_progress(sent, self.total, transferred, elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
