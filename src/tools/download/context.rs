//! What is to be done to one file, what that is done with, and what comes of it.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::{DownloadOptions, progress::DownloadProgress};
use crate::{
    backoff::jittered,
    call::gateway::Refusal,
    client::{DownloadStream, ResumeFrom},
    clock::Clock,
    failure::Failure,
    tools::files::OpenDirectory,
};

/// Longest pause that is taken because the service asks for it, where the call itself has no end.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);

/// Where a file comes from.
pub(super) trait DownloadSource: Sync {
    /// Opens it, once, from where `rest` begins.
    fn open(&self, rest: &ResumeFrom) -> impl Future<Output = Result<DownloadStream, Refusal>> + Send;
}

/// What a file has to become.
#[derive(Clone, Debug)]
pub(super) struct DownloadTarget {
    /// Below the destination.
    pub(super) path: String,
    /// Bytes, where they are known.
    pub(super) size: Option<u64>,
    /// When it was made, where that is known.
    pub(super) modified: Option<SystemTime>,
    /// Whether another file of its name is replaced.
    pub(super) replaces: bool,
    /// Whether its digest is made.
    pub(super) hashes: bool,
}

/// What the files of one errand share.
#[derive(Clone, Debug)]
pub(super) struct TransferContext {
    pub(super) directory: OpenDirectory,
    pub(super) options: DownloadOptions,
    pub(super) progress: Arc<DownloadProgress>,
    pub(super) clock: Arc<dyn Clock>,
    /// When nobody waits any longer.
    pub(super) end: Option<Instant>,
}

/// A file in its place.
#[derive(Clone, Debug)]
pub(super) struct SaveOutcome {
    pub(super) size: u64,
    /// It was there before.
    pub(super) is_kept: bool,
    /// Where it was wanted.
    pub(super) sha256: Option<String>,
}

/// Why a file is not in its place.
#[derive(Debug)]
pub(super) enum SaveError {
    /// The other files may still come.
    File(Failure),
    /// No other file can be written either.
    Disk(Failure),
}

impl TransferContext {
    /// Asks what is there, without taking it.
    pub(super) async fn describe(
        &self,
        origin: &impl DownloadSource,
        target: &mut DownloadTarget,
    ) -> Result<(), SaveError> {
        let mut pauses = self.options.pauses.iter();
        loop {
            let refusal = match origin.open(&ResumeFrom::default()).await {
                Ok(arriving) => {
                    (target.size, target.modified) = (arriving.total, arriving.modified);
                    self.progress.expect(arriving.total.unwrap_or_default());
                    return Ok(());
                }
                Err(refusal) => refusal,
            };
            match pauses.next() {
                Some(pause) if refusal.is_transient => {
                    self.pause(*pause, refusal.wait, refusal.failure).await.map_err(SaveError::File)?;
                }
                _ => return Err(SaveError::File(refusal.failure)),
            }
        }
    }

    /// Waits before what failed is tried again: for about so long, or as long as the service asks for.
    ///
    /// # Errors
    /// The failure itself, when that is longer than there is time.
    pub(super) async fn pause(
        &self,
        pause: Duration,
        asked: Option<Duration>,
        failure: Failure,
    ) -> Result<(), Failure> {
        let left = self.end.map_or(LONGEST_WAIT, |end| end.saturating_duration_since(Instant::now()));
        if let Some(asked) = asked.filter(|asked| *asked > left) {
            let seconds = asked.as_secs();
            return Err(failure
                .retry_after(asked)
                .hint(format!("it asks to wait {seconds} s: make the same call again after that")));
        }

        self.clock.sleep(asked.unwrap_or_else(|| jittered(pause))).await;

        Ok(())
    }
}
