//! The latest calls whose outcome is unknown.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    call_digest::CallDigest, clock_reading::ClockReading, issued_ids::IssuedIds, service_clock::ServiceClock,
};
use crate::clock::Clock;

/// How long a call is remembered after its outcome became unknown.
const RETENTION: Duration = Duration::from_secs(600);

/// Largest number of calls that are remembered. The oldest call that no attempt is repeating is dropped first.
const MAX_CALLS: usize = 64;

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
    uncertain_since: ClockReading,
}

impl UncertainAttempt {
    /// Combines two attempts of equal calls.
    fn and(self, other: Self) -> Self {
        Self {
            first: self.first.earlier(other.first),
            service_time: self.service_time.zip(other.service_time).map(|(one, another)| one.min(another)),
            last: self.last.later(other.last),
            uncertain_since: self.uncertain_since.later(other.uncertain_since),
        }
    }
}

#[derive(Debug)]
struct RememberedCall {
    call: CallDigest,
    uncertain: UncertainAttempt,
    /// The attempt that is repeating the call. Other attempts of the call are refused until it ends.
    repeated_by: Option<u64>,
}

/// The remembered calls, the oldest first. Each of several equal calls that were sent at the same time has an entry.
#[derive(Debug, Default)]
struct RememberedCalls {
    calls: VecDeque<RememberedCall>,
    attempt_count: u64,
    issued_ids: IssuedIds,
    service_clock: Option<ServiceClock>,
}

impl RememberedCalls {
    /// Reserves all entries of `call` for the attempt `id`. Returns them combined.
    fn reserve(&mut self, call: &CallDigest, id: u64) -> Option<UncertainAttempt> {
        let mut combined: Option<UncertainAttempt> = None;
        for known in self.calls.iter_mut().filter(|known| known.call == *call) {
            known.repeated_by = Some(id);
            combined = Some(combined.map_or(known.uncertain, |earlier| earlier.and(known.uncertain)));
        }
        combined
    }

    fn add(&mut self, call: CallDigest, uncertain: UncertainAttempt) {
        if self.calls.len() >= MAX_CALLS
            && let Some(oldest) = self.calls.iter().position(|known| known.repeated_by.is_none())
        {
            self.calls.remove(oldest);
        }
        self.calls.push_back(RememberedCall { call, uncertain, repeated_by: None });
    }

    /// Drops the entries that are older than [`RETENTION`]. Only time in which the machine was awake counts, so that a
    /// machine that has slept forgets nothing.
    fn drop_expired(&mut self, now: ClockReading) {
        self.calls.retain(|known| {
            known.repeated_by.is_some() || now.awake_since(known.uncertain.uncertain_since) <= RETENTION
        });
    }
}

/// Remembers calls of unknown outcome, for all calls of a gateway.
#[derive(Debug, Default)]
pub(in crate::call) struct AttemptMemory(Mutex<RememberedCalls>);

impl AttemptMemory {
    /// Starts an attempt. Returns `None` if another attempt is repeating an equal call.
    pub(in crate::call) fn begin<'a>(
        &'a self,
        call: CallDigest,
        clock: &'a dyn Clock,
    ) -> Option<Attempt<'a>> {
        let now = ClockReading::now(clock);
        let mut remembered = self.lock();
        remembered.drop_expired(now);
        if remembered.calls.iter().any(|known| known.call == call && known.repeated_by.is_some()) {
            return None;
        }

        remembered.attempt_count += 1;
        let id = remembered.attempt_count;
        let repeated = remembered.reserve(&call, id);

        drop(remembered);

        Some(Attempt { memory: self, clock, id, call, repeated, sent: None, is_settled: false })
    }

    /// Remembers the time that an answer of the service states.
    pub(in crate::call) fn record_service_time(&self, date: Option<Timestamp>, clock: &dyn Clock) {
        if let Some(date) = date {
            self.lock().service_clock = Some(ServiceClock::new(date, ClockReading::now(clock)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, RememberedCalls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call in progress. When it is dropped without being settled, its outcome is unknown and is remembered.
#[derive(Debug)]
pub(in crate::call) struct Attempt<'a> {
    memory: &'a AttemptMemory,
    clock: &'a dyn Clock,
    id: u64,
    call: CallDigest,
    repeated: Option<UncertainAttempt>,
    sent: Option<UncertainAttempt>,
    is_settled: bool,
}

impl Attempt<'_> {
    /// Returns the earlier calls of unknown outcome that this attempt repeats.
    pub(in crate::call) fn repeated(&self) -> Option<UncertainAttempt> {
        self.repeated
    }

    /// Records that the request is sent now.
    pub(in crate::call) fn mark_sent(&mut self) {
        let now = ClockReading::now(self.clock);
        let service_time = self.memory.lock().service_clock.map(|clock| clock.at(now));
        self.sent = Some(UncertainAttempt { first: now, service_time, last: now, uncertain_since: now });
    }

    /// Returns the ids, in lower case, of records that the calls in `uncertain` have not made.
    pub(in crate::call) fn ids_issued_before(&self, uncertain: UncertainAttempt) -> BTreeSet<String> {
        self.memory.lock().issued_ids.issued_before(&self.call, uncertain.first)
    }

    /// Records that this attempt has made the records whose ids `answer` contains.
    pub(in crate::call) fn record_result(&self, answer: &Value) {
        self.memory.lock().issued_ids.add(&self.call, None, [answer]);
    }

    /// Records that `records` are reported to the caller.
    pub(in crate::call) fn record_reported(&self, records: &[Value]) {
        let now = ClockReading::now(self.clock);
        self.memory.lock().issued_ids.add(&self.call, Some(now), records);
    }

    /// Forgets the call: its outcome is known, or everything that is known about it is reported to the caller.
    pub(in crate::call) fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Returns what remains uncertain if the attempt ends now.
    fn remaining_uncertainty(&self) -> Option<UncertainAttempt> {
        if self.is_settled {
            return None;
        }

        let now = ClockReading::now(self.clock);
        let sent = self.sent.map(|sent| UncertainAttempt { uncertain_since: now, ..sent });

        match (self.repeated, sent) {
            (Some(repeated), Some(sent)) => Some(repeated.and(sent)),
            (repeated, sent) => repeated.or(sent),
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut remembered = self.memory.lock();
        remembered.calls.retain(|known| known.repeated_by != Some(self.id));
        // A call whose future was dropped counts as well: its request may have reached the service.
        if let Some(uncertain) = self.remaining_uncertainty() {
            remembered.add(self.call.clone(), uncertain);
        }
    }
}
