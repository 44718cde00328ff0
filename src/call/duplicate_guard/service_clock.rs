//! The clock of the service, which may differ from the clock of this machine.

use jiff::{SignedDuration, Timestamp};

use super::clock_reading::ClockReading;

/// The latest time that the service has stated in an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceClock {
    date: Timestamp,
    received: ClockReading,
}

impl ServiceClock {
    /// `date` is the time in an answer that was received at `received`.
    pub(super) fn new(date: Timestamp, received: ClockReading) -> Self {
        Self { date, received }
    }

    /// Returns a lower bound of the service's clock at local time `now`, provided that it does not run slower than the
    /// local clock.
    pub(super) fn at(self, now: ClockReading) -> Timestamp {
        let elapsed = SignedDuration::try_from(now.since(self.received)).unwrap_or(SignedDuration::MAX);
        self.date.checked_add(elapsed).unwrap_or(Timestamp::MAX)
    }
}
