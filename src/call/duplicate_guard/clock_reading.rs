//! Points in time within the life of this process.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::clock::Clock;

/// A point in time, read from two clocks: the monotonic clock stands still while the machine sleeps, and the system
/// clock can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::call) struct ClockReading {
    monotonic: Duration,
    /// The system time.
    pub(in crate::call) date: Timestamp,
}

impl ClockReading {
    pub(in crate::call) fn now(clock: &dyn Clock) -> Self {
        Self { monotonic: clock.now(), date: clock.timestamp() }
    }

    /// Returns the point in time `span` ago. A monotonic clock that began later is at its beginning; the date still tells
    /// the time.
    pub(super) fn ago(self, span: Duration) -> Self {
        let date = SignedDuration::try_from(span).ok().and_then(|span| self.date.checked_sub(span).ok());
        Self { monotonic: self.monotonic.saturating_sub(span), date: date.unwrap_or(Timestamp::MIN) }
    }

    /// Returns how long the machine has been awake since `earlier`.
    pub(super) fn awake_since(self, earlier: Self) -> Duration {
        self.monotonic.saturating_sub(earlier.monotonic)
    }

    /// Returns the time since `earlier` according to the clock that has advanced further.
    pub(super) fn since(self, earlier: Self) -> Duration {
        let by_date = Duration::try_from(self.date.duration_since(earlier.date)).unwrap_or_default();
        self.awake_since(earlier).max(by_date)
    }

    /// Returns whether this point in time is after `other`, as far as the monotonic clock tells.
    pub(super) fn is_after(self, other: Self) -> bool {
        self.monotonic > other.monotonic
    }

    pub(super) fn earlier(self, other: Self) -> Self {
        if other.monotonic < self.monotonic { other } else { self }
    }

    pub(super) fn later(self, other: Self) -> Self {
        if other.monotonic > self.monotonic { other } else { self }
    }
}
