//! How patient an upload is.

use std::time::Duration;

use crate::{backoff::jittered, client::CALL_LIMIT};

/// Pauses and limits of uploads. Only tests have another one than [`Pace::default`].
#[derive(Clone, Debug)]
pub struct Pace {
    /// Pauses before something that failed is tried again; each is drawn from half to the whole of it.
    pub pauses: Vec<Duration>,
    /// A part of which no byte was taken for so long has to start anew.
    pub stalled: Duration,
    /// How long what an upload holds at the service is tried to be freed.
    pub freeing: Duration,
    /// How often somebody who waits is told how far it has come.
    pub telling: Duration,
    /// How long a tool's call waits before it answers that the upload goes on.
    pub patience: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            // Specification, Multipart build upload.
            pauses: [1, 2, 4, 8].map(Duration::from_secs).to_vec(),
            stalled: Duration::from_secs(120),
            freeing: Duration::from_secs(12),
            telling: Duration::from_secs(1),
            patience: CALL_LIMIT,
        }
    }
}

impl Pace {
    /// The pauses, one after the other.
    pub(super) fn pauses(&self) -> impl Iterator<Item = Duration> {
        self.pauses.iter().copied().map(jittered)
    }
}
