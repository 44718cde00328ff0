//! Points in time within the life of this process.

use std::time::Duration;

use jiff::Timestamp;

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

    /// Returns how long the machine has been awake since `earlier`.
    pub(super) fn awake_since(self, earlier: Self) -> Duration {
        self.monotonic.saturating_sub(earlier.monotonic)
    }

    /// Returns the time since `earlier` according to the clock that has advanced further.
    pub(super) fn since(self, earlier: Self) -> Duration {
        let by_date = Duration::try_from(self.date.duration_since(earlier.date)).unwrap_or_default();
        self.awake_since(earlier).max(by_date)
    }

    pub(super) fn earlier(self, other: Self) -> Self {
        if other.monotonic < self.monotonic { other } else { self }
    }

    pub(super) fn later(self, other: Self) -> Self {
        if other.monotonic > self.monotonic { other } else { self }
    }
}
