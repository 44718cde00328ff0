//! The simulated clock: it starts at a fixed moment, runs at a chosen speed and can be advanced.

use std::time::Instant;

use crate::sandbox::model::moment::{Millis, Moment};

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

    /// Returns the current simulated time.
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
