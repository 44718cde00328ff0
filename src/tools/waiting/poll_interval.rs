//! The time between polls.

use std::time::Duration;

use crate::backoff::Backoff;

/// The shortest interval that is not requested by the caller.
const SHORTEST: Duration = Duration::from_secs(1);

/// Growing intervals. Jitter prevents many waits from polling at the same moment.
const GROWING: Backoff = Backoff::new(SHORTEST, Duration::from_secs(30), 1.5);

/// The intervals between the polls of one wait.
#[derive(Debug)]
pub(super) enum PollIntervals {
    /// Always the interval that the caller requests.
    Fixed(Duration),
    /// Growing intervals, with the number of the last poll.
    Growing(u32),
}

impl PollIntervals {
    /// Creates the intervals of a wait: `interval` if the caller requests one, else growing intervals.
    pub(super) fn new(interval: Option<Duration>) -> Self {
        interval.map_or(Self::Growing(1), Self::Fixed)
    }

    /// Returns the next interval.
    pub(super) fn next(&mut self) -> Duration {
        match self {
            Self::Fixed(interval) => *interval,
            Self::Growing(poll) => {
                *poll = poll.saturating_add(1);
                GROWING.pause_before(*poll).max(SHORTEST)
            }
        }
    }
}
