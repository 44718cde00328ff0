//! The latest calls whose outcome is unknown.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::Timestamp;
use serde_json::Value;
use tokio::{runtime::Handle, task::JoinHandle};
use uuid::Uuid;

use super::{
    call_digest::CallDigest,
    clock_reading::ClockReading,
    issued_ids::IssuedIds,
    service_clock::ServiceClock,
    shared_attempt::{AttemptEnd, SharedAttempt, StartingAttempt},
    uncertain_attempt::{RETENTION, UncertainAttempt, combined},
};
use crate::{call::shared_store::StorePlace, clock::Clock};

/// Largest number of calls that are remembered. The oldest call that no attempt is repeating is dropped first.
const MAX_CALLS: usize = 64;

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
        let equal = self.calls.iter_mut().filter(|known| known.call == *call);
        equal.fold(None, |earlier, known| {
            known.repeated_by = Some(id);
            combined(earlier, Some(known.uncertain))
        })
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
#[derive(Debug)]
pub(in crate::call) struct AttemptMemory {
    /// Tells the entries of this memory in a shared store from those of other memories.
    id: String,
    remembered: Mutex<RememberedCalls>,
}

impl Default for AttemptMemory {
    fn default() -> Self {
        Self { id: Uuid::now_v7().to_string(), remembered: Mutex::default() }
    }
}

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

        Some(Attempt {
            memory: self,
            clock,
            id,
            call,
            repeated,
            sent: None,
            is_settled: false,
            shared: None,
            shared_ids: BTreeSet::new(),
        })
    }

    /// Returns whether the outcome of any call is unknown.
    pub(in crate::call) fn has_calls(&self) -> bool {
        !self.lock().calls.is_empty()
    }

    /// Remembers the time that an answer of the service states.
    pub(in crate::call) fn record_service_time(&self, date: Option<Timestamp>, clock: &dyn Clock) {
        if let Some(date) = date {
            self.lock().service_clock = Some(ServiceClock::new(date, ClockReading::now(clock)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, RememberedCalls> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// The entry of the attempt in the store that processes share.
    shared: Option<SharedAttempt>,
    /// Ids, in lower case, that callers of other processes have received for equal calls.
    shared_ids: BTreeSet<String>,
}

impl Attempt<'_> {
    /// Records the attempt in the store that processes share, and learns from the store whether the attempt repeats a call of
    /// another process. Returns `false` if another process is repeating an equal call.
    pub(in crate::call) async fn share(&mut self, place: StorePlace) -> bool {
        let now = ClockReading::now(self.clock);
        let starting = StartingAttempt {
            memory: &self.memory.id,
            repeated: self.repeated,
            service_time: self.service_time(),
            issued_ids: self.issued_before(self.repeated.map_or(now, |repeated| repeated.first)),
            now,
        };
        let Some(started) = SharedAttempt::start(place, starting).await else { return false };

        self.repeated = started.repeated;
        self.shared_ids = started.issued_ids;
        self.shared = Some(started.attempt);

        true
    }

    /// Ends the attempt. Returns when the other processes can see the outcome in the shared store.
    pub(in crate::call) async fn end(mut self) {
        if let Some(ending) = self.end_shared() {
            // The task ends even if the caller disconnects now.
            drop(ending.await);
        }
    }

    /// Returns the earlier calls of unknown outcome that this attempt repeats.
    pub(in crate::call) fn repeated(&self) -> Option<UncertainAttempt> {
        self.repeated
    }

    /// Records that the request is sent now.
    pub(in crate::call) fn mark_sent(&mut self) {
        let now = ClockReading::now(self.clock);
        let service_time = self.service_time();
        self.sent = Some(UncertainAttempt { first: now, service_time, last: now, uncertain_since: now });
    }

    /// Returns the ids, in lower case, of records that the calls in `uncertain` have not made.
    pub(in crate::call) fn ids_issued_before(&self, uncertain: UncertainAttempt) -> BTreeSet<String> {
        self.issued_before(uncertain.first)
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

        combined(self.repeated, sent)
    }

    /// Returns the ids, in lower case, of records that no call has made that was sent at `time` or later.
    fn issued_before(&self, time: ClockReading) -> BTreeSet<String> {
        let issued = self.memory.lock().issued_ids.issued_before(&self.call, time);
        issued.union(&self.shared_ids).cloned().collect()
    }

    /// Returns the time of the service now, if known.
    fn service_time(&self) -> Option<Timestamp> {
        let now = ClockReading::now(self.clock);
        self.memory.lock().service_clock.map(|clock| clock.at(now))
    }

    /// Starts to record the outcome in the shared store, unless that has been done or there is no store.
    fn end_shared(&mut self) -> Option<JoinHandle<()>> {
        let shared = self.shared.take()?;
        let now = ClockReading::now(self.clock);
        let uncertain = self.remaining_uncertainty();
        let issued_ids = self.issued_before(uncertain.map_or(now, |uncertain| uncertain.first));
        let end = AttemptEnd { uncertain, issued_ids, now };
        let runtime = Handle::try_current().ok()?;

        Some(runtime.spawn(shared.end(end)))
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        // A call whose future is dropped cannot wait for the store.
        drop(self.end_shared());

        let mut remembered = self.memory.lock();
        remembered.calls.retain(|known| known.repeated_by != Some(self.id));
        // A call whose future was dropped counts as well: its request may have reached the service.
        if let Some(uncertain) = self.remaining_uncertainty() {
            remembered.add(self.call.clone(), uncertain);
        }
    }
}
