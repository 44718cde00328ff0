//! How patient an upload is.

use std::time::Duration;

use crate::{backoff::jittered, client::CALL_LIMIT};

/// Pauses and limits of uploads. Only tests have another one than [`UploadTiming::default`].
#[derive(Clone, Debug)]
pub struct UploadTiming {
    /// Pauses before something that failed is tried again; each is drawn from half to the whole of it.
    pub pauses: Vec<Duration>,
    /// A part of which no byte was taken for so long has to start anew.
    pub stall_limit: Duration,
    /// How long what an upload holds at the service is tried to be freed.
    pub cancel_limit: Duration,
    /// How often somebody who waits is told how far it has come.
    pub progress_interval: Duration,
    /// How long a tool's call waits before it answers that the upload goes on.
    pub wait_limit: Duration,
}

impl Default for UploadTiming {
    fn default() -> Self {
        Self {
            // Specification, Multipart build upload.
            pauses: [1, 2, 4, 8].map(Duration::from_secs).to_vec(),
            stall_limit: Duration::from_secs(120),
            cancel_limit: Duration::from_secs(12),
            progress_interval: Duration::from_secs(1),
            wait_limit: CALL_LIMIT,
        }
    }
}

impl UploadTiming {
    /// The pauses, one after the other.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Duration> {
        self.pauses.iter().copied().map(jittered)
    }
}
