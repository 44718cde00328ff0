//! How much time passes between looks.

use std::time::Duration;

use crate::backoff::jittered;

/// First interval, and the longest.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// How much longer each interval is than the one before.
const GROWTH: f64 = 1.5;

/// The intervals of one wait.
#[derive(Debug)]
pub(super) enum Pace {
    /// As the caller wants it.
    Steady(Duration),
    /// Growing, each drawn from half to the whole, so that many who wait do not look at once.
    Growing(Duration),
}

impl Pace {
    pub(super) fn new(interval: Option<Duration>) -> Self {
        interval.map_or(Self::Growing(FIRST), Self::Steady)
    }

    /// The next interval.
    pub(super) fn next(&mut self) -> Duration {
        match self {
            Self::Steady(interval) => *interval,
            Self::Growing(whole) => {
                let interval = if *whole == FIRST { FIRST } else { jittered(*whole).max(FIRST) };
                *whole = whole.mul_f64(GROWTH).min(LONGEST);
                interval
            }
        }
    }
}
