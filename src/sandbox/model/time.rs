//! Points and spans of simulated time, and the clock of a sandbox.

use std::{
    fmt,
    ops::{Add, Sub},
    time::Instant,
};

use jiff::{Span, SpanRelativeTo, Timestamp};
use serde::Deserialize;

/// A span of simulated time in milliseconds.
pub(crate) type Millis = i64;

/// A point in simulated time, in milliseconds since 1970. Written as the service writes timestamps, and read from the
/// seed as a span before [`Self::START`], such as `2d 6h ago`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Span")]
pub(crate) struct Moment(i64);

impl Moment {
    /// 2026-03-02T09:15:00Z, the initial time of every sandbox.
    pub(crate) const START: Self = Self(1_772_442_900_000);

    /// The latest moment of a clock. It is far from the end of the calendar, so that spans can be added unchecked.
    const LATEST: Self = Self(200_000_000_000_000);

    pub(crate) fn timestamp(self) -> Timestamp {
        Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl From<Timestamp> for Moment {
    fn from(time: Timestamp) -> Self {
        Self(time.as_millisecond())
    }
}

impl TryFrom<Span> for Moment {
    type Error = jiff::Error;
    fn try_from(after_start: Span) -> Result<Self, jiff::Error> {
        let span = after_start.to_duration(SpanRelativeTo::days_are_24_hours())?;
        Ok(Self::START + span.as_secs() * 1_000)
    }
}

impl Add<Millis> for Moment {
    type Output = Self;
    fn add(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span))
    }
}

impl Sub<Millis> for Moment {
    type Output = Self;
    fn sub(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span))
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

/// The clock of one sandbox.
#[derive(Debug)]
pub(super) struct SimulatedClock {
    speed: f64,
    /// Simulated time at `since`, plus what the clock was advanced by.
    base: Moment,
    since: Instant,
}

impl SimulatedClock {
    /// Creates a clock at [`Moment::START`] that runs `speed` times as fast as real time.
    pub(crate) fn new(speed: f64) -> Self {
        Self { speed: speed.max(0.0), base: Moment::START, since: Instant::now() }
    }

    pub(crate) fn now(&self) -> Moment {
        (self.base + millis(self.since.elapsed().as_secs_f64() * self.speed)).min(Moment::LATEST)
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        self.base = (self.base + millis(seconds.max(0.0))).min(Moment::LATEST);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates, and moments are capped")]
fn millis(seconds: f64) -> Millis {
    (seconds * 1_000.0) as Millis
}
