//! The latest calls whose outcome nobody knows.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde_json::json;

use crate::operation::Fields;

/// How long a call is remembered.
const LASTING: Duration = Duration::from_secs(600);

/// Most calls that are remembered; the oldest make room.
const MOST: usize = 64;

/// What makes two calls equal, as a digest: arguments can be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call(Vec<u8>);

impl Call {
    /// A call with checked arguments; their order means nothing.
    pub(super) fn of(tool: &str, project: Option<&str>, arguments: &Fields) -> Self {
        let mut call = json!([tool, project, arguments]);
        call.sort_all_objects();
        let mut made = Vec::with_capacity(SHA256_OUTPUT_LEN);
        made.extend_from_slice(digest(&SHA256, call.to_string().as_bytes()).as_ref());
        Self(made)
    }
}

/// When calls were sent whose outcome nobody knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Doubt {
    /// The first of equal calls.
    pub(super) first: Duration,
    /// The last of them.
    pub(super) last: Duration,
}

#[derive(Debug)]
struct Remembered {
    call: Call,
    doubt: Doubt,
    /// Somebody repeats it at this moment.
    is_taken: bool,
}

/// The calls, the oldest first.
#[derive(Debug, Default)]
pub(in crate::gateway) struct Memory(Mutex<VecDeque<Remembered>>);

impl Memory {
    /// Begins a call; `None`: somebody is repeating the very same at this moment.
    pub(super) fn begin(&self, call: Call, now: Duration) -> Option<Attempt<'_>> {
        let mut calls = self.calls();
        calls.retain(|known| known.is_taken || now.saturating_sub(known.doubt.last) <= LASTING);
        let mut doubt = None;
        if let Some(known) = calls.iter_mut().find(|known| known.call == call) {
            if known.is_taken {
                return None;
            }
            known.is_taken = true;
            doubt = Some(known.doubt);
        }
        drop(calls);
        Some(Attempt { memory: self, call, doubt, sent: None, is_settled: false })
    }

    fn calls(&self) -> MutexGuard<'_, VecDeque<Remembered>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way. One that ends without being settled, or is dropped after it was sent, is remembered.
#[derive(Debug)]
pub(super) struct Attempt<'a> {
    memory: &'a Memory,
    call: Call,
    doubt: Option<Doubt>,
    sent: Option<Duration>,
    is_settled: bool,
}

impl Attempt<'_> {
    /// What is known of the calls that it repeats, if it repeats any.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// Now it is sent.
    pub(super) fn sends(&mut self, now: Duration) {
        self.sent = Some(now);
    }

    /// Its outcome is known, or the caller was told all there is to know: nothing is held back any more.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
    }

    fn lasting(&self) -> Option<Doubt> {
        let sent =
            self.sent.map(|sent| Doubt { first: self.doubt.map_or(sent, |doubt| doubt.first), last: sent });
        sent.or(self.doubt).filter(|_| !self.is_settled)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let lasting = self.lasting();
        let mut calls = self.memory.calls();
        if self.doubt.is_some() || lasting.is_some() {
            calls.retain(|known| known.call != self.call);
        }
        let Some(doubt) = lasting else { return };
        if calls.len() >= MOST {
            calls.pop_front();
        }
        calls.push_back(Remembered { call: self.call.clone(), doubt, is_taken: false });
    }
}
