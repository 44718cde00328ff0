//! The entry of an attempt in the shared store, from the start of the attempt to its end. Other processes read the entry.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::{
    clock_reading::ClockReading,
    shared_entry::{EntryState, SharedEntry, age},
    uncertain_attempt::{RETENTION, UncertainAttempt, combined},
};
use crate::call::shared_store::{StorePlace, StoreUnavailable, StoredValue};

/// The facts that this process knows before it sends an attempt.
pub(super) struct StartingAttempt<'a> {
    /// Id of the memory of the attempt.
    pub(super) memory: &'a str,
    /// The calls that the attempt repeats, as far as this process remembers them.
    pub(super) repeated: Option<UncertainAttempt>,
    /// Time of the service now, if known.
    pub(super) service_time: Option<Timestamp>,
    /// Ids, in lower case, that callers have received for equal calls.
    pub(super) issued_ids: BTreeSet<String>,
    pub(super) now: ClockReading,
}

/// The facts that this process knows when an attempt has ended.
pub(super) struct AttemptEnd {
    /// The calls whose outcome remains unknown.
    pub(super) uncertain: Option<UncertainAttempt>,
    /// Ids, in lower case, that callers have received for equal calls.
    pub(super) issued_ids: BTreeSet<String>,
    pub(super) now: ClockReading,
}

/// An attempt that may be sent, and what the store tells about equal calls.
pub(super) struct StartedAttempt {
    pub(super) attempt: SharedAttempt,
    /// The calls that the attempt repeats, in any process.
    pub(super) repeated: Option<UncertainAttempt>,
    /// Ids, in lower case, that callers of other processes have received for equal calls.
    pub(super) issued_ids: BTreeSet<String>,
}

/// What the store has of an attempt.
#[derive(Debug)]
enum StoredEntry {
    /// Nothing, or the entry of an equal call.
    None,
    /// Possibly the entry: the store did not answer.
    Unconfirmed(SharedEntry),
    /// The entry.
    Confirmed(SharedEntry),
}

/// An attempt with its entry in the store.
#[derive(Debug)]
pub(super) struct SharedAttempt {
    place: StorePlace,
    memory: String,
    stored: StoredEntry,
}

impl SharedAttempt {
    /// Records an attempt before it is sent. If the store is not available, the attempt starts with what this process knows.
    /// Returns `None` if another process is repeating an equal call.
    pub(super) async fn start(place: StorePlace, starting: StartingAttempt<'_>) -> Option<StartedAttempt> {
        let mut attempt = Self { place, memory: starting.memory.to_owned(), stored: StoredEntry::None };
        let entry = starting.entry();

        match attempt.place.insert(&entry.to_value(), RETENTION).await {
            Ok(None) => attempt.stored = StoredEntry::Confirmed(entry),
            Ok(Some(found)) => {
                if let Some(earlier) = SharedEntry::parse(&found.value) {
                    return attempt.start_after(earlier, &found, starting).await;
                }
            }
            Err(StoreUnavailable) => attempt.stored = StoredEntry::Unconfirmed(entry),
        }

        Some(StartedAttempt { attempt, repeated: starting.repeated, issued_ids: BTreeSet::new() })
    }

    /// Replaces `earlier`, the entry of an equal call in the store, by the entry of this attempt.
    async fn start_after(
        mut self,
        earlier: SharedEntry,
        found: &StoredValue,
        mut starting: StartingAttempt<'_>,
    ) -> Option<StartedAttempt> {
        // This process remembers the calls that it may repeat, and no other attempt of this process repeats them.
        let is_remembered_here = earlier.memory == starting.memory && starting.repeated.is_some();
        if earlier.is_being_repeated(found) && !is_remembered_here {
            return None;
        }

        // Equal calls of one process may be sent at the same time.
        let is_in_progress_here = earlier.memory == starting.memory
            && earlier.state == EntryState::Unsettled
            && starting.repeated.is_none();
        if !is_in_progress_here {
            starting.learn(&earlier, found);
            let entry = starting.entry();

            match self.place.replace(&found.value, &entry.to_value(), RETENTION).await {
                Ok(true) => self.stored = StoredEntry::Confirmed(entry),
                // Another process was faster.
                Ok(false) => return None,
                Err(StoreUnavailable) => self.stored = StoredEntry::Unconfirmed(entry),
            }
        }

        Some(StartedAttempt { attempt: self, repeated: starting.repeated, issued_ids: earlier.issued_ids })
    }

    /// Records the outcome of the attempt. Without the store, this process alone remembers the outcome.
    pub(super) async fn end(self, end: AttemptEnd) {
        let Self { place, memory, stored } = self;
        let state = if end.uncertain.is_some() { EntryState::Unsettled } else { EntryState::Settled };
        let entry = SharedEntry::new(&memory, state, &end.issued_ids);
        let entry = end.uncertain.into_iter().fold(entry, |entry, sent| entry.with_sent(sent, end.now));

        match (stored, state) {
            // Processes that remember the repeated call learn that it is settled, or that it can be repeated again.
            (StoredEntry::Confirmed(stored), _) if stored.state == EntryState::Repeating => {
                let replaced = place.replace(&stored.to_value(), &entry.to_value(), RETENTION).await;
                if replaced.is_err() && state == EntryState::Settled {
                    place.remove(&stored.to_value()).await;
                }
            }
            (StoredEntry::Confirmed(stored) | StoredEntry::Unconfirmed(stored), EntryState::Settled) => {
                place.remove(&stored.to_value()).await;
            }
            (StoredEntry::None | StoredEntry::Unconfirmed(_), EntryState::Unsettled) => {
                drop(place.insert(&entry.to_value(), RETENTION).await);
            }
            // The entry already tells when the call was sent, or there is nothing to tell.
            (StoredEntry::Confirmed(_) | StoredEntry::None, _) | (_, EntryState::Repeating) => {}
        }
    }
}

impl StartingAttempt<'_> {
    /// Returns the entry of the attempt.
    fn entry(&self) -> SharedEntry {
        let entry = |state| SharedEntry::new(self.memory, state, &self.issued_ids);
        match self.repeated {
            Some(repeated) => entry(EntryState::Repeating).with_sent(repeated, self.now),
            None => entry(EntryState::Unsettled).with_service_time(self.service_time),
        }
    }

    /// Adds what the entry of an equal call tells.
    fn learn(&mut self, earlier: &SharedEntry, found: &StoredValue) {
        self.issued_ids.extend(earlier.issued_ids.iter().cloned());

        if earlier.state == EntryState::Settled {
            let settled = self.now.ago(age(found));
            // What became unknown before a repetition was settled has been reported with it.
            self.repeated = self.repeated.filter(|repeated| repeated.uncertain_since.is_after(settled));
        } else {
            self.repeated = combined(self.repeated, Some(earlier.sent(found, self.now)));
        }
    }
}
