//! The caller of a tool: how long it waits, and how it is told about progress.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

/// Who called, and how long it waits.
#[derive(Clone, Debug)]
pub struct CallerContext {
    /// Wants to know how far it has come.
    pub watcher: Arc<dyn ProgressSink>,
    /// How long it waits for an answer; `None`: to the end, zero: for one look.
    pub patience: Option<Duration>,
    /// Is cancelled when it is not the caller that goes, but the process.
    pub leaving: CancellationToken,
}

impl CallerContext {
    /// Waits to the end without a word.
    pub fn silent() -> Self {
        Self { watcher: Arc::new(NoProgress), patience: None, leaving: CancellationToken::new() }
    }

    /// How long a call may last: somebody who sees it go on waits for as long as was asked.
    pub fn limit(&self) -> Option<Duration> {
        self.patience.filter(|_| !self.watcher.is_there())
    }
}

/// Is told how far a call has come.
pub trait ProgressSink: std::fmt::Debug + Send + Sync {
    /// `done` of `total`, and what a person reads. Called at most once a second, each time with more than before.
    fn progress(&self, done: u64, total: u64, told: &str);

    /// The service asks to be left alone for so long.
    fn rest(&self, _: Duration) {}

    /// Whether anybody sees it.
    fn is_there(&self) -> bool {
        true
    }
}

/// Nobody wants to know.
#[derive(Clone, Copy, Debug)]
pub struct NoProgress;

impl ProgressSink for NoProgress {
    fn progress(&self, _: u64, _: u64, _: &str) {}

    fn is_there(&self) -> bool {
        false
    }
}
