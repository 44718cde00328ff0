//! The time from which the result of an uncertain attempt can exist.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

/// A record may have a creation time up to this much before the attempt, because the clocks of the service's own hosts may
/// differ.
const MARGIN: SignedDuration = SignedDuration::from_secs(60);

/// The same margin if the service did not state its time and only the local time is known. Clocks that differ by more are
/// treated as unrelated.
const WIDE_MARGIN: SignedDuration = SignedDuration::from_mins(15);

/// When equal attempts of unknown outcome were sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::call) struct TimeWindow {
    /// Time since the first attempt, by the local clock.
    pub(in crate::call) elapsed: Duration,
    /// Time of the first attempt by the clock of the service, if known.
    pub(in crate::call) sent: Option<Timestamp>,
    /// The local time now.
    pub(in crate::call) now: Timestamp,
}

impl TimeWindow {
    /// Returns the earliest time at which a result can have been made, by the clock of the service. `date` is the time
    /// that the service states now.
    ///
    /// The clock of the service can run faster or slower than the local clock. Therefore the time is counted back from
    /// now and taken from the time of the attempt, and the earlier one is returned.
    pub(in crate::call) fn start(self, date: Option<Timestamp>) -> Timestamp {
        let elapsed = SignedDuration::try_from(self.elapsed).unwrap_or(SignedDuration::MAX);
        let agrees = |date: &Timestamp| date.duration_since(self.now).abs() <= WIDE_MARGIN;
        let sent_locally = || date.filter(agrees).map(|_| minus(self.now, elapsed));
        let sent = self.sent.or_else(sent_locally);

        let margin = date.and(sent).map_or(WIDE_MARGIN, |_| MARGIN);
        let counted = minus(date.unwrap_or(self.now), elapsed.saturating_add(margin));

        sent.map_or(counted, |sent| counted.min(minus(sent, MARGIN)))
    }
}

fn minus(time: Timestamp, span: SignedDuration) -> Timestamp {
    time.checked_sub(span).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(count: i64) -> Timestamp {
        Timestamp::from_second(count * 60).expect("a time")
    }

    #[test]
    fn a_window_starts_a_margin_before_the_attempt() {
        // Now is minute 100, and the attempt was 10 minutes ago.
        let cases = [
            // Both times are known, and the clocks agree.
            (Some(90), Some(100), 89),
            // The service did not state its time.
            (None, None, 75),
            // The service states its time only now, close to the local time.
            (None, Some(100), 89),
            // The clocks do not agree at all.
            (None, Some(200), 175),
            // The clock of the service was set back meanwhile.
            (Some(90), Some(50), 39),
        ];

        for (sent, date, expected) in cases {
            let window =
                TimeWindow { elapsed: Duration::from_secs(600), sent: sent.map(minutes), now: minutes(100) };
            assert_eq!(window.start(date.map(minutes)), minutes(expected), "{sent:?} {date:?}");
        }
    }
}
