//! The latest calls whose outcome nobody knows.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use serde_json::Value;

use super::{equality::Call, given::Given, moment::Moment, service_time::ServiceTime};
use crate::clock::Clock;

/// How long a call is remembered after its caller was left in doubt.
const LASTING: Duration = Duration::from_secs(600);

/// Most calls that are remembered; the oldest that nobody repeats make room.
const MOST: usize = 64;

/// When calls were sent whose outcome nobody knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    /// The first of equal calls.
    pub(super) first: Moment,
    /// What time it was at the service when the first was sent, where that is known.
    pub(super) sent: Option<Timestamp>,
    /// The last of them.
    pub(super) last: Moment,
    /// When its outcome became unknown.
    since: Moment,
}

impl Doubt {
    fn and(self, other: Self) -> Self {
        let sent = self.sent.zip(other.sent).map(|(one, another)| one.min(another));
        let (first, last) = (self.first.earlier(other.first), self.last.later(other.last));
        Self { first, sent, last, since: self.since.later(other.since) }
    }
}

#[derive(Debug)]
struct Remembered {
    call: Call,
    doubt: Doubt,
    /// The attempt that repeats it at this moment: no other may touch it.
    owner: Option<u64>,
}

/// The calls, the oldest first. Equal ones stand side by side when they were sent at once.
#[derive(Debug, Default)]
struct Calls {
    remembered: VecDeque<Remembered>,
    attempts: u64,
    given: Given,
    service_time: Option<ServiceTime>,
}

impl Calls {
    /// Gives all that is known of a call to the attempt `owner`.
    fn take(&mut self, call: &Call, owner: u64) -> Option<Doubt> {
        let equal = self.remembered.iter_mut().filter(|known| known.call == *call);
        equal.fold(None, |doubt: Option<Doubt>, known| {
            known.owner = Some(owner);
            Some(doubt.map_or(known.doubt, |doubt| doubt.and(known.doubt)))
        })
    }

    fn add(&mut self, call: Call, doubt: Doubt) {
        if self.remembered.len() >= MOST
            && let Some(oldest) = self.remembered.iter().position(|known| known.owner.is_none())
        {
            self.remembered.remove(oldest);
        }
        self.remembered.push_back(Remembered { call, doubt, owner: None });
    }
}

/// What is remembered, for all calls at once.
#[derive(Debug, Default)]
pub(in crate::call::gateway) struct Memory(Mutex<Calls>);

impl Memory {
    /// Begins a call; `None`: somebody is repeating the very same at this moment.
    pub(super) fn begin<'a>(&'a self, call: Call, clock: &'a dyn Clock) -> Option<Attempt<'a>> {
        let now = Moment::now(clock);
        let mut calls = self.calls();
        // A machine that has slept forgets no sooner.
        calls
            .remembered
            .retain(|known| known.owner.is_some() || now.awake_since(known.doubt.since) <= LASTING);
        if calls.remembered.iter().any(|known| known.call == call && known.owner.is_some()) {
            return None;
        }

        calls.attempts += 1;
        let id = calls.attempts;
        let doubt = calls.take(&call, id);

        drop(calls);

        Some(Attempt { memory: self, clock, id, call, doubt, sent: None, is_settled: false })
    }

    /// Remembers what time an answer says it is at the service.
    pub(in crate::call::gateway) fn hear(&self, date: Option<Timestamp>, clock: &dyn Clock) {
        if let Some(date) = date {
            self.calls().service_time = Some(ServiceTime::new(date, Moment::now(clock)));
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way. One that ends without being settled, or is dropped after it was sent, is remembered.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    memory: &'a Memory,
    clock: &'a dyn Clock,
    id: u64,
    call: Call,
    doubt: Option<Doubt>,
    sent: Option<Doubt>,
    is_settled: bool,
}

impl Attempt<'_> {
    /// What is known of the calls that it repeats, if it repeats any.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Now it is sent.
    pub(super) fn sends(&mut self) {
        let now = Moment::now(self.clock);
        let sent = self.memory.calls().service_time.map(|time| time.at(now));
        self.sent = Some(Doubt { first: now, sent, last: now, since: now });
    }

    /// The ids, in lower case, of what calls in this doubt have not made.
    pub(super) fn given(&self, doubt: Doubt) -> BTreeSet<String> {
        self.memory.calls().given.before(&self.call, doubt.first)
    }

    /// It has made what this answer names.
    pub(super) fn makes(&self, answer: &Value) {
        self.memory.calls().given.add(&self.call, None, [answer]);
    }

    /// The caller is told that these records are there.
    pub(super) fn tells(&self, records: &[Value]) {
        let now = Moment::now(self.clock);
        self.memory.calls().given.add(&self.call, Some(now), records);
    }

    /// Its outcome is known, or the caller was told all there is to know: nothing is held back any more.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
    }

    fn lasting(&self) -> Option<Doubt> {
        let sent = self.sent.map(|sent| Doubt { since: Moment::now(self.clock), ..sent });
        let both = match (self.doubt, sent) {
            (Some(doubt), Some(sent)) => Some(doubt.and(sent)),
            (doubt, sent) => doubt.or(sent),
        };
        both.filter(|_| !self.is_settled)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut calls = self.memory.calls();
        calls.remembered.retain(|known| known.owner != Some(self.id));
        if let Some(doubt) = self.lasting() {
            calls.add(self.call.clone(), doubt);
        }
    }
}
