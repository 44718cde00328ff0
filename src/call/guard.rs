//! Keeps a call from having its effect twice by accident.
//!
//! The outcome of a call that changes something is unknown if the service did not answer, failed, or returned an
//! unusable answer. For ten minutes, an equal call is not sent before the service has been asked whether the earlier
//! call happened. If it may have happened, or the service cannot tell, the call is refused with advice. A further equal
//! call is sent, because its caller has read the refusal.
//!
//! Several processes can share a [`SharedStore`](super::shared_store::SharedStore). It has an entry of every attempt
//! whose outcome is not known yet, so that an equal call is recognized by each process, also after the process of the
//! attempt has ended. Without the store, or while it is not available, each process remembers its own attempts only.

mod probe;

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{runtime::Handle, task::JoinHandle};
use uuid::Uuid;

use self::probe::{ProbeOutcome, ask, probably_happened, probe_failed, with_existing};
use super::{
    Caller, PreparedCall,
    reply::Reply,
    shared_store::{StorePlace, StoreUnavailable},
};
use crate::{
    clock::Clock,
    failure::{Code, Failure},
    fields::Fields,
    service::{catalog::OperationEntry, operation::DuplicateCheck},
};

/// How long a call is remembered after its outcome became unknown.
const RETENTION: Duration = Duration::from_secs(600);

/// Largest number of calls that are remembered. The oldest call that no attempt is repeating is dropped first.
const MAX_CALLS: usize = 64;

/// Longest time in which a repetition is in progress: the time limit of a call, and a reserve for its end.
const REPETITION_LIMIT: Duration = Duration::from_secs(60);

/// Minimum time for a write. With less time a write is not started, because its outcome would probably remain unknown.
const WRITE_RESERVE: Duration = Duration::from_secs(10);

/// A digest of tool, project and arguments. Two calls with the same digest are equal. The arguments themselves are not
/// kept, because they can be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallDigest(Vec<u8>);

impl CallDigest {
    /// Creates the digest of a call with checked arguments. The order of the fields and the letter case of ids do not
    /// matter.
    pub(super) fn new(tool: &str, project: Option<&str>, arguments: &Fields) -> Self {
        let mut call = json!([tool, project, arguments]);
        call.sort_all_objects();
        lower_case_ids(&mut call);

        Self(digest(&SHA256, call.to_string().as_bytes()).as_ref().to_vec())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Writes ids in lower case, because the service accepts both letter cases.
fn lower_case_ids(value: &mut Value) {
    match value {
        Value::String(text) if Uuid::try_parse(text).is_ok() => text.make_ascii_lowercase(),
        Value::Array(items) => items.iter_mut().for_each(lower_case_ids),
        Value::Object(fields) => fields.values_mut().for_each(lower_case_ids),
        _ => {}
    }
}

/// Returns how the service shows that a call happened; `None` if the call may be repeated freely.
pub(super) fn duplicate_check(entry: &OperationEntry, arguments: &Fields) -> Option<&'static DuplicateCheck> {
    if entry.is_repeatable(arguments) {
        return None;
    }

    let mut checks = entry.request.duplicate_checks.iter();
    checks.find(|check| check.when_given.is_none_or(|name| arguments.contains_key(name)))
}

/// Makes a call, unless it repeats a call of unknown outcome that may have happened. `store` is its place in the store
/// that processes share.
///
/// # Errors
/// Every failure of the call; `conflict` if the earlier call seems to have happened or is being repeated;
/// `outcome_unknown` if the service cannot tell.
pub(super) async fn run(
    caller: &Caller,
    call: PreparedCall<'_>,
    check: &'static DuplicateCheck,
    digest: CallDigest,
    store: Option<StorePlace>,
) -> Result<Reply, Failure> {
    let entry = call.request.entry;
    // The owner look-up counts towards the time limit of the call.
    if call.sender.remaining() < WRITE_RESERVE {
        let message = format!("{}: not sent: too little of the time limit of the call is left", entry.name);
        return Err(Failure::new(Code::Timeout, message).hint("nothing was sent: call again"));
    }

    let Some(mut attempt) = caller.guard.begin(digest, &*caller.clock, store).await else {
        let message = format!(
            "{}: not sent: an equal call is in progress, and it repeats a call of unknown outcome",
            entry.name
        );
        return Err(Failure::new(Code::Conflict, message).hint("wait for the answer of that call"));
    };

    let outcome = attempt.run(caller, call, check).await;
    attempt.end().await;

    outcome
}

/// A call whose outcome is unknown.
#[derive(Debug)]
struct UncertainCall {
    call: CallDigest,
    /// When the outcome became unknown. The clock stands still while the machine sleeps, so that a machine that has
    /// slept forgets nothing.
    since: Duration,
    /// Whether the shared store has an entry of the call.
    is_shared: bool,
    /// The attempt that is repeating the call. Other attempts of the call are refused until it ends.
    repeated_by: Option<u64>,
}

/// The calls of unknown outcome, the oldest first. Each of several equal calls that were sent at the same time has an
/// entry.
#[derive(Debug, Default)]
struct Memory {
    calls: VecDeque<UncertainCall>,
    attempt_count: u64,
}

impl Memory {
    fn add(&mut self, call: UncertainCall) {
        if self.calls.len() >= MAX_CALLS
            && let Some(oldest) = self.calls.iter().position(|known| known.repeated_by.is_none())
        {
            self.calls.remove(oldest);
        }
        self.calls.push_back(call);
    }

    /// Returns when the outcome of the latest call became unknown that the attempt `number` repeats.
    fn repeated_since(&self, number: u64) -> Option<Duration> {
        let repeated = self.calls.iter().filter(|known| known.repeated_by == Some(number));
        repeated.map(|known| known.since).max()
    }
}

/// Remembers the calls of unknown outcome of one key.
#[derive(Debug)]
pub(super) struct Guard {
    /// Tells the entries of this memory in a shared store from those of other memories.
    id: String,
    memory: Mutex<Memory>,
}

impl Default for Guard {
    fn default() -> Self {
        Self { id: Uuid::now_v7().to_string(), memory: Mutex::default() }
    }
}

impl Guard {
    /// Returns whether the outcome of any call is unknown.
    pub(super) fn has_calls(&self) -> bool {
        !self.lock().calls.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an attempt. Returns `None` if another attempt is repeating an equal call.
    async fn begin<'a>(
        &'a self,
        call: CallDigest,
        clock: &'a dyn Clock,
        store: Option<StorePlace>,
    ) -> Option<Attempt<'a>> {
        let mut attempt = self.reserve(call, clock)?;
        if let Some(place) = store
            && !attempt.share(place).await
        {
            return None;
        }

        Some(attempt)
    }

    /// Starts an attempt, which repeats all equal calls of unknown outcome.
    fn reserve<'a>(&'a self, call: CallDigest, clock: &'a dyn Clock) -> Option<Attempt<'a>> {
        let now = clock.now();
        let mut memory = self.lock();
        memory
            .calls
            .retain(|known| known.repeated_by.is_some() || now.saturating_sub(known.since) <= RETENTION);
        if memory.calls.iter().any(|known| known.call == call && known.repeated_by.is_some()) {
            return None;
        }

        memory.attempt_count += 1;
        let number = memory.attempt_count;
        for known in memory.calls.iter_mut().filter(|known| known.call == call) {
            known.repeated_by = Some(number);
        }
        let repeated = memory.repeated_since(number).map(|since| now.saturating_sub(since));
        drop(memory);

        let (is_sent, is_settled) = (false, false);
        Some(Attempt { guard: self, clock, number, call, repeated, is_sent, is_settled, shared: None })
    }
}

/// A call in progress. When it is dropped without being settled, its outcome is unknown and is remembered.
#[derive(Debug)]
struct Attempt<'a> {
    guard: &'a Guard,
    clock: &'a dyn Clock,
    number: u64,
    call: CallDigest,
    /// How long ago the outcome of an equal call became unknown, if this attempt repeats one.
    repeated: Option<Duration>,
    is_sent: bool,
    /// Whether the outcome is known, or everything that is known about it is reported to the caller.
    is_settled: bool,
    shared: Option<SharedAttempt>,
}

/// The place of an attempt in the store that processes share.
#[derive(Debug)]
struct SharedAttempt {
    place: StorePlace,
    /// The value that the attempt has stored; `None` if the place has the entry of an equal call of this process.
    value: Option<String>,
    /// Whether the store has confirmed the value.
    is_confirmed: bool,
}

impl Attempt<'_> {
    /// Makes the call, after the service has shown that a repeated call did not happen.
    async fn run(
        &mut self,
        caller: &Caller,
        call: PreparedCall<'_>,
        check: &'static DuplicateCheck,
    ) -> Result<Reply, Failure> {
        if let Some(elapsed) = self.repeated {
            let entry = call.request.entry;
            match ask(caller, check, &call).await {
                Ok(ProbeOutcome::NotHappened) => {}
                Ok(ProbeOutcome::HappenedNow(reply)) => {
                    self.is_settled = true;
                    return Ok(*reply);
                }
                Ok(ProbeOutcome::Found(records)) => {
                    self.is_settled = true;
                    return Err(probably_happened(entry, check, &records, elapsed));
                }
                Err(failure) => {
                    // A conflict means that an export is in progress, which ends.
                    let may_pass = failure.is_transient() || failure.code == Code::Conflict;
                    // Another look-up would fail again. The next equal call is therefore sent without one.
                    self.is_settled = !may_pass;
                    return Err(probe_failed(entry, check, &failure, elapsed, may_pass));
                }
            }
        }

        self.is_sent = true;
        let outcome = match caller.execute(call.clone()).await {
            Err(failure) if failure.code == Code::Conflict => {
                Err(with_existing(caller, check, &call, failure).await)
            }
            outcome => outcome,
        };
        // Every other failure proves that the call had no effect.
        self.is_settled = !outcome.as_ref().is_err_and(|failure| failure.facts.is_uncertain);

        outcome
    }

    /// Records the attempt in the shared store, and learns from the store whether the attempt repeats a call of another
    /// process. Returns `false` if another process is repeating an equal call.
    async fn share(&mut self, place: StorePlace) -> bool {
        let entry = SharedEntry::new(&self.guard.id, EntryState::Unsettled).to_value();
        let (value, is_confirmed) = match place.insert(&entry, RETENTION).await {
            Ok(None) => {
                self.forget_shared();
                (Some(entry), true)
            }
            Err(StoreUnavailable) => (Some(entry), false),
            Ok(Some(found)) => {
                let age = RETENTION.saturating_sub(found.remaining);
                let earlier = serde_json::from_str::<SharedEntry>(&found.value).ok();
                let is_own = earlier.as_ref().is_some_and(|earlier| earlier.memory == self.guard.id);
                // A process that was killed does not end its repetition.
                let is_being_repeated = age <= REPETITION_LIMIT
                    && earlier.as_ref().is_some_and(|earlier| earlier.state == EntryState::Repeating);

                match (is_own, self.repeated) {
                    (true, None) if !is_being_repeated => (None, false),
                    // This process remembers the call, and no other attempt of this process repeats it.
                    (is_own, repeated) if is_being_repeated && !(is_own && repeated.is_some()) => {
                        return false;
                    }
                    _ => {
                        let entry = SharedEntry::new(&self.guard.id, EntryState::Repeating).to_value();
                        self.repeated = Some(self.repeated.map_or(age, |repeated| repeated.min(age)));
                        match place.replace(&found.value, &entry, RETENTION).await {
                            Ok(true) => (Some(entry), true),
                            // Another process was faster.
                            Ok(false) => return false,
                            Err(StoreUnavailable) => (Some(entry), false),
                        }
                    }
                }
            }
        };
        self.shared = Some(SharedAttempt { place, value, is_confirmed });

        true
    }

    /// Forgets the repeated calls that the shared store had and has no more: another process has settled them.
    fn forget_shared(&mut self) {
        let now = self.clock.now();
        let mut memory = self.guard.lock();
        memory.calls.retain(|known| known.repeated_by != Some(self.number) || !known.is_shared);
        self.repeated = memory.repeated_since(self.number).map(|since| now.saturating_sub(since));
    }

    /// Ends the attempt. Returns when the other processes can see the outcome in the shared store.
    async fn end(mut self) {
        if let Some(ending) = self.end_shared() {
            // The task ends even if the caller disconnects now.
            drop(ending.await);
        }
    }

    /// Starts to record the outcome in the shared store, unless that has been done or there is no store.
    fn end_shared(&mut self) -> Option<JoinHandle<()>> {
        let value = self.shared.as_mut()?.value.take();
        let place = self.shared.as_ref()?.place.clone();
        let is_uncertain = !self.is_settled && (self.is_sent || self.repeated.is_some());
        let next = SharedEntry::new(&self.guard.id, EntryState::Unsettled).to_value();

        Some(Handle::try_current().ok()?.spawn(async move {
            match value {
                Some(value) if !is_uncertain => place.remove(&value).await,
                // Other processes can repeat the call again. The ten minutes begin now.
                Some(value) if place.replace(&value, &next, RETENTION).await == Ok(true) => {}
                _ if is_uncertain => drop(place.insert(&next, RETENTION).await),
                _ => {}
            }
        }))
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let is_shared = self.shared.as_ref().is_some_and(|shared| shared.is_confirmed);
        // A call whose future is dropped cannot wait for the store.
        drop(self.end_shared());

        let (number, since) = (self.number, self.clock.now());
        let mut memory = self.guard.lock();
        if self.is_settled {
            memory.calls.retain(|known| known.repeated_by != Some(number));
            return;
        }

        for known in memory.calls.iter_mut().filter(|known| known.repeated_by == Some(number)) {
            known.repeated_by = None;
        }
        // The request of a call whose future was dropped may have reached the service.
        if self.is_sent {
            memory.add(UncertainCall { call: self.call.clone(), since, is_shared, repeated_by: None });
        }
    }
}

/// What is known about the call of an entry in the shared store.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum EntryState {
    /// The call was sent or is about to be sent, and its outcome is not known.
    Unsettled,
    /// The call is being repeated. Other repetitions are refused meanwhile.
    Repeating,
}

/// The entry of an attempt in the shared store. The store measures its age, because the clocks of the processes may
/// differ.
#[derive(Debug, Deserialize, Serialize)]
struct SharedEntry {
    state: EntryState,
    /// The [`Guard`] of the attempt.
    memory: String,
    /// Makes every entry unique, so that an attempt never changes the entry of another one.
    entry: String,
}

impl SharedEntry {
    fn new(memory: &str, state: EntryState) -> Self {
        Self { state, memory: memory.to_owned(), entry: Uuid::now_v7().to_string() }
    }

    fn to_value(&self) -> String {
        // Serializing texts cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    fn digest_of(arguments: &str) -> CallDigest {
        CallDigest::new("start_run", Some("demo"), &serde_json::from_str(arguments).expect("an object"))
    }

    #[test]
    fn the_order_of_fields_and_the_case_of_ids_do_not_matter() {
        let call = digest_of(&format!(r#"{{"id":"{ID}","name":"a"}}"#));

        assert_eq!(call, digest_of(&format!(r#"{{"name":"a","id":"{}"}}"#, ID.to_uppercase())));
        assert_ne!(call, digest_of(&format!(r#"{{"id":"{ID}","name":"A"}}"#)));
        assert_ne!(call, CallDigest::new("start_run", None, &Fields::new()));
    }
}
