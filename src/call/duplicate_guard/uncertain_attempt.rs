//! When equal calls of unknown outcome were sent.

use std::time::Duration;

use jiff::Timestamp;

use super::clock_reading::ClockReading;

/// How long a call is remembered after its outcome became unknown.
pub(super) const RETENTION: Duration = Duration::from_secs(600);

/// When equal calls of unknown outcome were sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct UncertainAttempt {
    /// When the first of them was sent.
    pub(in crate::call) first: ClockReading,
    /// Time of the service when the first of them was sent, if known.
    pub(in crate::call) service_time: Option<Timestamp>,
    /// When the last of them was sent.
    pub(in crate::call) last: ClockReading,
    /// When the outcome became unknown.
    pub(super) uncertain_since: ClockReading,
}

impl UncertainAttempt {
    /// Combines two attempts of equal calls.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            first: self.first.earlier(other.first),
            service_time: self.service_time.zip(other.service_time).map(|(one, another)| one.min(another)),
            last: self.last.later(other.last),
            uncertain_since: self.uncertain_since.later(other.uncertain_since),
        }
    }
}

/// Combines what is known about equal calls from two sources.
pub(super) fn combined(
    one: Option<UncertainAttempt>,
    another: Option<UncertainAttempt>,
) -> Option<UncertainAttempt> {
    match (one, another) {
        (Some(one), Some(another)) => Some(one.and(another)),
        (one, another) => one.or(another),
    }
}
