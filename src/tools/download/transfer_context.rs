//! The context that the files of one download share.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;

use super::{
    options::DownloadOptions,
    progress::TransferProgress,
    source::DownloadSource,
    target::{DownloadTarget, SaveError},
};
use crate::{client::ResumeFrom, clock::Clock, failure::Failure, tools::files::OpenDirectory};

/// Longest pause on request of the service in a call without a wait limit.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// The context that the files of one download share.
#[derive(Clone, Debug)]
pub(super) struct TransferContext {
    pub(super) directory: OpenDirectory,
    pub(super) options: DownloadOptions,
    pub(super) progress: Arc<TransferProgress>,
    pub(super) clock: Arc<dyn Clock>,
    /// End of the caller's wait limit.
    pub(super) deadline: Option<Instant>,
}

impl TransferContext {
    /// Opens the file and closes it at once, to find its size and modification time for `target`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub(super) async fn read_metadata(
        &self,
        source: &impl DownloadSource,
        target: &mut DownloadTarget,
    ) -> Result<(), SaveError> {
        let mut remaining_pauses = self.options.pauses();

        loop {
            let refusal = match source.open(&ResumeFrom::default()).await {
                Ok(stream) => {
                    (target.size, target.modified) = (stream.total, stream.modified);
                    self.progress.add_expected(stream.total.unwrap_or_default());
                    return Ok(());
                }
                Err(refusal) => refusal,
            };
            match remaining_pauses.next() {
                Some(pause) if refusal.is_transient => {
                    let outcome = self.pause_after(refusal.failure, pause, refusal.wait).await;
                    outcome.map_err(SaveError::File)?;
                }
                _ => return Err(SaveError::File(refusal.failure)),
            }
        }
    }

    /// Pauses before a repetition of what failed with `failure`: for `retry_after` if the service asks for it, otherwise for
    /// `pause`.
    ///
    /// # Errors
    /// `failure`, if the service asks for a pause beyond the deadline.
    pub(super) async fn pause_after(
        &self,
        failure: Failure,
        pause: Duration,
        retry_after: Option<Duration>,
    ) -> Result<(), Failure> {
        let time_left = self
            .deadline
            .map_or(LONGEST_PAUSE, |deadline| deadline.saturating_duration_since(Instant::now()));

        if let Some(retry_after) = retry_after.filter(|retry_after| *retry_after > time_left) {
            let seconds = retry_after.as_secs();
            return Err(failure
                .retry_after(retry_after)
                .hint(format!("the service asks to wait {seconds} s: make the same call again after that")));
        }

        self.clock.sleep(retry_after.unwrap_or(pause)).await;

        Ok(())
    }
}
