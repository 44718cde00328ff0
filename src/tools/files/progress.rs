//! The progress of an upload or a download while it runs.

use std::{
    pin::pin,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use indicatif::HumanBytes;
use tokio::time::MissedTickBehavior;

use crate::tools::context::CallOptions;

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

    /// Returns the number of bytes at their destination.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Relaxed).min(self.total())
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
        let rate = u128::from(transferred) * 1000 / self.elapsed().as_millis().max(1);

        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        let [done, total, rate] = [done, self.total(), rate].map(HumanBytes);
        format!("{done} of {total}, {rate}/s")
    }

    pub(crate) fn report_to(&self, options: &CallOptions) {
        options.progress.report(self.done(), self.total(), &self.describe());
    }

    /// Waits for `work`, and reports the progress meanwhile.
    pub(crate) async fn report_during<T>(
        &self,
        work: impl Future<Output = T>,
        options: &CallOptions,
        interval: Duration,
    ) -> T {
        let mut work = pin!(work);
        let mut ticks = tokio::time::interval(interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => self.report_to(options),
            }
        }
    }
}
