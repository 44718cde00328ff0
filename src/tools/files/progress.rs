//! The progress of an upload or a download while it runs.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use indicatif::HumanBytes;

use crate::tools::call_options::CallOptions;

/// Counts the bytes of a transfer. All its parts or files share the counters.
#[derive(Debug, Default)]
pub(crate) struct TransferProgress {
    total: AtomicU64,
    /// Bytes at their destination, and the bytes of what is in transfer.
    done: AtomicU64,
    /// The part of `done` that an earlier transfer has left.
    present: AtomicU64,
    /// Bytes that had to be transferred again.
    again: AtomicU64,
    /// Maximum that was ever reported, so that a part that starts again does not make the progress go back.
    reported: AtomicU64,
    started: OnceLock<Instant>,
}

impl TransferProgress {
    /// Creates the progress of a transfer of `total` bytes.
    pub(crate) fn new(total: u64) -> Self {
        Self { total: total.into(), ..Self::default() }
    }

    pub(crate) fn start_clock(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// Adds the size of a file whose size was not known before.
    pub(crate) fn add_expected(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that need no transfer.
    pub(crate) fn add_present(&self, bytes: u64) {
        self.present.fetch_add(bytes, Relaxed);
        self.done.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn add_transferred(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be transferred again.
    pub(crate) fn take_back(&self, bytes: u64) {
        self.done.fetch_sub(bytes, Relaxed);
        self.again.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Returns the number of bytes at their destination. It never decreases.
    pub(crate) fn done(&self) -> u64 {
        let done = self.done.load(Relaxed).min(self.total());
        self.reported.fetch_max(done, Relaxed).max(done)
    }

    pub(crate) fn bytes_again(&self) -> u64 {
        self.again.load(Relaxed)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.get().map(Instant::elapsed).unwrap_or_default()
    }

    /// Returns the progress as text: bytes so far, total bytes and rate.
    pub(crate) fn describe(&self) -> String {
        let done = self.done();
        let transferred = done.saturating_sub(self.present.load(Relaxed));
        describe(done, self.total(), transferred, self.elapsed())
    }

    pub(crate) fn report_to(&self, options: &CallOptions) {
        options.progress.report(self.done(), self.total(), &self.describe());
    }
}

fn describe(done: u64, total: u64, transferred: u64, elapsed: Duration) -> String {
    let rate = u128::from(transferred) * 1000 / elapsed.as_millis().max(1);
    let [done, total, rate] = [done, total, u64::try_from(rate).unwrap_or(u64::MAX)].map(HumanBytes);
    format!("{done} of {total}, {rate}/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reported_bytes_never_decrease() {
        let progress = TransferProgress::new(100);
        progress.add_transferred(60);
        assert_eq!(progress.done(), 60);

        progress.take_back(50);
        assert_eq!((progress.done(), progress.bytes_again()), (60, 50));

        progress.add_transferred(500);
        assert_eq!(progress.done(), 100);
    }

    #[test]
    fn the_rate_counts_only_transferred_bytes() {
        const MIB: u64 = 1_048_576;

        let cases = [
            ((0, 0, 0, 0), "0 B of 0 B, 0 B/s"),
            ((12, 12, 12, 1), "12 B of 12 B, 12 B/s"),
            ((3 * MIB, 4 * MIB, 2 * MIB, 4), "3.00 MiB of 4.00 MiB, 512.00 KiB/s"),
        ];
        for ((done, total, transferred, seconds), expected) in cases {
            assert_eq!(describe(done, total, transferred, Duration::from_secs(seconds)), expected);
        }
    }
}
