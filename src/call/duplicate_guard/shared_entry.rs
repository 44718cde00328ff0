//! The entry of an attempt in the store that processes share.

use std::{collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    clock_reading::ClockReading,
    uncertain_attempt::{RETENTION, UncertainAttempt},
};
use crate::call::shared_store::StoredValue;

/// Largest number of ids in an entry. Most equal calls have made one record, if any.
const MAX_IDS: usize = 64;

/// Longest time in which a repetition is in progress: the time limit of a call, and a reserve for its end.
const REPETITION_LIMIT: Duration = Duration::from_secs(60);

/// What is known about the call of an entry.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EntryState {
    /// The call was sent or is about to be sent, and its outcome is not known.
    Unsettled,
    /// The call is being repeated. Other repetitions are refused meanwhile.
    Repeating,
    /// The outcome of a repeated call is known, or everything that is known about it was reported to the caller.
    Settled,
}

/// The entry of an attempt. Times are relative to the time at which the entry was stored, which the store measures: the
/// clocks of the processes may differ.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct SharedEntry {
    pub(super) state: EntryState,
    /// Id of the [`AttemptMemory`](super::attempt::AttemptMemory) of the attempt.
    pub(super) memory: String,
    /// Makes every entry unique, so that an attempt never changes the entry of another one.
    entry: String,
    /// How long before the entry was stored the first call was sent.
    first_sent_ms: u64,
    /// How long before the entry was stored the last call was sent.
    last_sent_ms: u64,
    /// Time of the service when the first call was sent, if known.
    service_time: Option<Timestamp>,
    /// Ids, in lower case, that callers have received for equal calls.
    pub(super) issued_ids: BTreeSet<String>,
}

impl SharedEntry {
    /// Creates the entry of an attempt.
    pub(super) fn new(memory: &str, state: EntryState, issued_ids: &BTreeSet<String>) -> Self {
        Self {
            state,
            memory: memory.to_owned(),
            entry: Uuid::now_v7().to_string(),
            first_sent_ms: 0,
            last_sent_ms: 0,
            service_time: None,
            // The ids of the service grow with time, so that the last ones are the newest.
            issued_ids: issued_ids.iter().rev().take(MAX_IDS).cloned().collect(),
        }
    }

    /// Sets the time of the service at which the first call is sent.
    pub(super) fn with_service_time(self, service_time: Option<Timestamp>) -> Self {
        Self { service_time, ..self }
    }

    /// Sets the times of calls that were sent before the entry is stored, at `now`.
    pub(super) fn with_sent(self, sent: UncertainAttempt, now: ClockReading) -> Self {
        let milliseconds = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            first_sent_ms: milliseconds(now.since(sent.first)),
            last_sent_ms: milliseconds(now.since(sent.last)),
            service_time: sent.service_time,
            ..self
        }
    }

    /// Reads an entry; `None` if it has another form.
    pub(super) fn parse(value: &str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }

    /// Returns the value for the store.
    pub(super) fn to_value(&self) -> String {
        // Serializing texts and numbers cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns when the calls of the entry were sent.
    pub(super) fn sent(&self, stored: &StoredValue, now: ClockReading) -> UncertainAttempt {
        let age = age(stored);
        let sent = |before_ms| now.ago(age.saturating_add(Duration::from_millis(before_ms)));
        UncertainAttempt {
            first: sent(self.first_sent_ms),
            service_time: self.service_time,
            last: sent(self.last_sent_ms),
            uncertain_since: now.ago(age),
        }
    }

    /// Returns whether another process is repeating the call. A process that was killed does not end its repetition.
    pub(super) fn is_being_repeated(&self, stored: &StoredValue) -> bool {
        self.state == EntryState::Repeating && age(stored) <= REPETITION_LIMIT
    }
}

/// Returns the time that has passed since an entry was stored.
pub(super) fn age(stored: &StoredValue) -> Duration {
    RETENTION.saturating_sub(stored.remaining)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn the_times_of_an_entry_do_not_depend_on_the_clock_of_its_process() {
        let writer = ClockReading::now(&SystemClock::default());
        let service_time = Some("2026-03-02T09:15:00Z".parse().expect("a time"));
        let seconds = |count| writer.ago(Duration::from_secs(count));
        let sent = UncertainAttempt {
            first: seconds(30),
            service_time,
            last: seconds(20),
            uncertain_since: seconds(5),
        };
        let entry =
            SharedEntry::new("memory", EntryState::Unsettled, &BTreeSet::new()).with_sent(sent, writer);
        let stored = StoredValue { value: entry.to_value(), remaining: Duration::from_secs(500) };

        // The clock of the reader is a day ahead.
        let mut reader = writer;
        reader.date += jiff::SignedDuration::from_hours(24);
        let read = SharedEntry::parse(&stored.value).expect("an entry").sent(&stored, reader);

        assert_eq!(reader.since(read.first).as_secs(), 130);
        assert_eq!(reader.since(read.last).as_secs(), 120);
        assert_eq!(reader.since(read.uncertain_since).as_secs(), 100);
        assert_eq!(read.service_time, service_time);
    }
}
