//! Points and spans of simulated time, and the clock of a sandbox.

use std::{
    fmt,
    ops::{Add, Sub},
    time::{Duration, Instant},
};

use jiff::{Span, SpanRelativeTo, Timestamp};
use serde::Deserialize;

/// A span of simulated time in milliseconds.
pub(crate) type Millis = i64;

/// A point in simulated time, in milliseconds since 1970. Written as the service writes timestamps. The seed has spans such as
/// `2d 6h ago`, which are read as moments before [`Self::EPOCH`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Span")]
pub(crate) struct Moment(i64);

impl Moment {
    pub(crate) const EPOCH: Self = Self(0);

    /// The latest moment of a clock. It is far from the end of the calendar, so that spans can be added unchecked.
    const LATEST: Self = Self(200_000_000_000_000);

    /// Returns the moment at `time`, without the part of a second.
    pub(crate) fn at_second(time: Timestamp) -> Self {
        Self(time.as_second().saturating_mul(1_000))
    }

    pub(crate) fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl TryFrom<Span> for Moment {
    type Error = jiff::Error;
    fn try_from(span: Span) -> Result<Self, jiff::Error> {
        let span = span.to_duration(SpanRelativeTo::days_are_24_hours())?;
        Ok(Self::EPOCH + span.as_secs() * 1_000)
    }
}

impl Add<Millis> for Moment {
    type Output = Self;
    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span))
    }
}

impl Sub for Moment {
    type Output = Millis;
    fn sub(self, earlier: Self) -> Millis {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.timestamp();
        let form =
            if self.0 % 1_000 == 0 { "%Y-%m-%dT%H:%M:%S+00:00" } else { "%Y-%m-%dT%H:%M:%S.%3f+00:00" };
        write!(formatter, "{}", time.strftime(form))
    }
}

/// Returns the length of a span as records show it.
#[expect(clippy::cast_precision_loss, reason = "spans are far shorter than 2^52 milliseconds")]
pub(crate) fn duration_ms(span: Millis) -> f64 {
    span as f64
}

/// The clock of one sandbox. It begins at a given time, and runs `speed` times as fast as real time while a job is
/// unfinished. Then it stands still until real time has caught up, so that what has just happened is recent for a client with
/// a real clock.
#[derive(Debug)]
pub(super) struct SimulatedClock {
    speed: f64,
    start: Moment,
    began: Instant,
    /// Real time since `began` at the latest reading.
    read: Duration,
    /// Simulated time since `start` at the latest reading.
    elapsed: Duration,
    /// What the clock was advanced by.
    advanced: Duration,
}

impl SimulatedClock {
    pub(super) fn new(start: Moment, speed: f64) -> Self {
        let (read, elapsed, advanced) = <(Duration, Duration, Duration)>::default();
        Self { speed: speed.max(0.0), start, began: Instant::now(), read, elapsed, advanced }
    }

    /// Reads the clock. `busy_until` is when the last job is completed.
    pub(super) fn now(&mut self, busy_until: Moment) -> Moment {
        self.read_at(self.began.elapsed(), busy_until);
        self.moment(self.elapsed)
    }

    fn read_at(&mut self, real: Duration, busy_until: Moment) {
        let passed = duration(real.saturating_sub(self.read).as_secs_f64() * self.speed);
        self.read = real;

        let busy = u64::try_from(busy_until - self.start).map_or(Duration::ZERO, Duration::from_millis);
        let limit = busy.max(real.saturating_add(self.advanced));
        self.elapsed = self.elapsed.max(self.elapsed.saturating_add(passed).min(limit));
    }

    pub(super) fn advance(&mut self, seconds: f64) {
        self.advanced = self.advanced.saturating_add(duration(seconds));
        self.elapsed = self.elapsed.saturating_add(duration(seconds));
    }

    fn moment(&self, elapsed: Duration) -> Moment {
        let elapsed = Millis::try_from(elapsed.as_millis()).unwrap_or(Millis::MAX);
        (self.start + elapsed).min(Moment::LATEST)
    }
}

/// Returns a span that is not negative and not beyond the longest one.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_fast_while_a_job_is_unfinished_and_then_waits_for_real_time() {
        let mut clock = SimulatedClock::new(Moment::EPOCH, 60.0);
        let busy_until = Moment::EPOCH + 100_000;
        let mut seconds_at = |real_s| {
            clock.read_at(Duration::from_secs(real_s), busy_until);
            clock.elapsed.as_secs()
        };

        let read = [0, 1, 2, 50, 100, 101, 500].map(|real_s| (real_s, seconds_at(real_s)));

        assert_eq!(read, [(0, 0), (1, 60), (2, 100), (50, 100), (100, 100), (101, 101), (500, 500)]);
    }
}
