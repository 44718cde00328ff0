//! How far a download has come.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use crate::tools::files;

/// Counts bytes; shared by the files that are under way.
#[derive(Debug)]
pub(super) struct DownloadProgress {
    total: AtomicU64,
    /// Bytes that are there.
    there: AtomicU64,
    /// Of those, bytes that came just now.
    came: AtomicU64,
    /// The most that was ever reported: a file that begins anew does not take it back.
    shown: AtomicU64,
    started: Instant,
}

impl DownloadProgress {
    pub(super) fn new(total: u64) -> Self {
        let zero = AtomicU64::default;
        Self { total: total.into(), there: zero(), came: zero(), shown: zero(), started: Instant::now() }
    }

    /// A file is longer than was known.
    pub(super) fn expect(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    /// Bytes were there before.
    pub(super) fn found(&self, bytes: u64) {
        self.there.fetch_add(bytes, Relaxed);
    }

    /// Bytes have come.
    pub(super) fn came(&self, bytes: u64) {
        self.there.fetch_add(bytes, Relaxed);
        self.came.fetch_add(bytes, Relaxed);
    }

    /// Bytes that were there have to come again.
    pub(super) fn lost(&self, bytes: u64) {
        self.there.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Bytes that are there; never less than the last time.
    pub(super) fn there(&self) -> u64 {
        let there = self.there.load(Relaxed).min(self.total());
        self.shown.fetch_max(there, Relaxed).max(there)
    }

    /// What a person reads: how much of how much, and how fast.
    pub(super) fn describe(&self) -> String {
        files::format_progress(self.there(), self.total(), self.came.load(Relaxed), self.started.elapsed())
    }
}
