//! What time it is at the service, whose clock may run otherwise than ours.

use jiff::{SignedDuration, Timestamp};

use super::moment::Moment;

/// What time the service said it was, and when that was heard.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceTime {
    date: Timestamp,
    heard: Moment,
}

impl ServiceTime {
    pub(super) fn new(date: Timestamp, heard: Moment) -> Self {
        Self { date, heard }
    }

    /// What time it is there `now` at the least, unless its clock is slower than ours.
    pub(super) fn at(self, now: Moment) -> Timestamp {
        let passed = SignedDuration::try_from(now.since(self.heard)).unwrap_or(SignedDuration::MAX);
        self.date.checked_add(passed).unwrap_or(Timestamp::MAX)
    }
}
