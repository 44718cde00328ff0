//! When something was, for as long as this process lives.

use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Clock;

/// A moment by two clocks: one stands still while the machine sleeps, the other can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    passed: Duration,
    pub(super) date: Timestamp,
}

impl Moment {
    pub(super) fn now(clock: &dyn Clock) -> Self {
        Self { passed: clock.now(), date: clock.timestamp() }
    }

    /// How long this process has been awake since `earlier`.
    pub(super) fn awake_since(self, earlier: Self) -> Duration {
        self.passed.saturating_sub(earlier.passed)
    }

    /// How long ago `earlier` was: what the clock says that has counted more.
    pub(super) fn since(self, earlier: Self) -> Duration {
        let dated = Duration::try_from(self.date.duration_since(earlier.date)).unwrap_or_default();
        self.awake_since(earlier).max(dated)
    }

    /// The earlier of two moments.
    pub(super) fn earlier(self, other: Self) -> Self {
        if other.passed < self.passed { other } else { self }
    }

    /// The later of two moments.
    pub(super) fn later(self, other: Self) -> Self {
        if other.passed > self.passed { other } else { self }
    }
}
