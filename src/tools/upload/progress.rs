//! How far an upload has come.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Instant,
};

use crate::tools::files;

/// Counts bytes; shared by the parts that are under way.
#[derive(Debug)]
pub struct UploadProgress {
    total: u64,
    /// Bytes of finished parts, and of those under way as far as they have gone.
    sent: AtomicU64,
    /// Bytes of parts that an earlier upload had sent.
    found: AtomicU64,
    /// Bytes that had to be sent once more.
    again: AtomicU64,
    /// The most that was ever reported: a part that starts anew does not take it back.
    shown: AtomicU64,
    started: OnceLock<Instant>,
}

impl UploadProgress {
    pub(super) fn new(total: u64) -> Self {
        let zero = || AtomicU64::new(0);
        let started = OnceLock::new();
        Self { total, sent: zero(), found: zero(), again: zero(), shown: zero(), started }
    }

    /// The upload begins.
    pub(super) fn begin(&self) {
        self.started.get_or_init(Instant::now);
    }

    /// So many bytes were there before.
    pub(super) fn found(&self, bytes: u64) {
        self.found.fetch_add(bytes, Relaxed);
        self.add(bytes);
    }

    /// More bytes have been handed to the network.
    pub(super) fn add(&self, bytes: u64) {
        self.sent.fetch_add(bytes, Relaxed);
    }

    /// Bytes that were sent have to be sent again.
    pub(super) fn take_back(&self, bytes: u64) {
        self.sent.fetch_sub(bytes, Relaxed);
        self.again.fetch_add(bytes, Relaxed);
    }

    /// Bytes of the file.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Bytes that have gone; never less than the last time.
    pub fn sent(&self) -> u64 {
        let sent = self.sent.load(Relaxed).min(self.total);
        self.shown.fetch_max(sent, Relaxed).max(sent)
    }

    /// Bytes that were sent more than once.
    pub fn sent_again(&self) -> u64 {
        self.again.load(Relaxed)
    }

    /// Seconds since the upload began, to the millisecond.
    pub fn seconds(&self) -> f64 {
        let elapsed = self.started.get().map(Instant::elapsed).unwrap_or_default();
        (elapsed.as_secs_f64() * 1_000.0).round() / 1_000.0
    }

    /// What a person reads: how much of how much, and how fast.
    pub fn describe(&self) -> String {
        let (sent, took) = (self.sent(), self.started.get().map(Instant::elapsed).unwrap_or_default());
        files::format_progress(sent, self.total, sent.saturating_sub(self.found.load(Relaxed)), took)
    }
}
