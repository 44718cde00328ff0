//! Pauses and time limits of uploads.

use std::time::Duration;

use crate::{backoff::Backoff, client::CALL_LIMIT};

/// Pauses and time limits of uploads. Programs use the default; tests use shorter times.
#[derive(Clone, Debug)]
pub struct UploadTiming {
    /// Pauses between attempts.
    pub backoff: Backoff,
    /// Maximum number of attempts for one part or call, including the first.
    pub attempts: u32,
    /// A part is sent again if the storage host accepts no byte for this long.
    pub stall_limit: Duration,
    /// Time limit of the cancellation of an upload.
    pub cancel_limit: Duration,
    /// Interval of progress messages.
    pub progress_interval: Duration,
    /// How long a call of the tool waits before it answers that the upload continues.
    pub wait_limit: Duration,
}

impl Default for UploadTiming {
    fn default() -> Self {
        Self {
            // Pauses of 1, 2, 4 and 8 s (specification, Multipart build upload).
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(8), 2.0),
            attempts: 5,
            stall_limit: Duration::from_secs(120),
            cancel_limit: Duration::from_secs(12),
            progress_interval: Duration::from_secs(1),
            wait_limit: CALL_LIMIT,
        }
    }
}

impl UploadTiming {
    /// Returns the pauses between the attempts.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        self.backoff.pauses().take(self.attempts.saturating_sub(1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Specification, Multipart build upload.
    #[test]
    fn attempts_are_1_2_4_and_8_seconds_apart() {
        let timing = UploadTiming::default();
        let timing = UploadTiming { backoff: timing.backoff.without_jitter(), ..timing };
        assert_eq!(timing.pauses().collect::<Vec<_>>(), [1, 2, 4, 8].map(Duration::from_secs));
    }
}
