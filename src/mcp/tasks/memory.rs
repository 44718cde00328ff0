//! What this process knows of the tasks that it was asked about lately, and which ones were cancelled. Nothing else is
//! needed to go on.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lru::LruCache;
use rmcp::model::TaskPayload;
use tokio_util::sync::CancellationToken;

/// Most tasks that are remembered.
const MOST: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// A task as it was last seen.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// When somebody looked at the service.
    pub(super) looked: Option<Duration>,
    /// Until when the service wants to be left alone.
    pub(super) rests_until: Option<Duration>,
    pub(super) updated: Option<Timestamp>,
    pub(super) polls: u32,
    /// Looks that failed since the last that did not, and when the first of them did.
    pub(super) troubles: u32,
    pub(super) failing_since: Option<Duration>,
    /// What a person reads.
    pub(super) told: Option<String>,
    /// How it ended: nobody looks any more.
    pub(super) end: Option<TaskPayload>,
}

impl Known {
    /// A task that was cancelled at this time.
    pub(super) fn cancelled(at: Timestamp) -> Self {
        let told = "the watching has ended; the runs go on: `stop_runs` ends them";
        let end = Some(TaskPayload::Cancelled);
        Self { updated: Some(at), told: Some(told.to_owned()), end, ..Self::default() }
    }

    /// Whether the last look is long enough ago, for the host and for the service.
    pub(super) fn is_due(&self, now: Duration, pause: Duration) -> bool {
        let is_rested = self.rests_until.is_none_or(|until| now >= until);
        is_rested && self.looked.is_none_or(|looked| now.saturating_sub(looked) >= pause)
    }
}

/// A task that is asked about.
#[derive(Debug)]
pub(super) struct Entry {
    /// Locked for as long as a look takes.
    pub(super) known: tokio::sync::Mutex<Known>,
    /// Ends a look under way.
    pub(super) given_up: CancellationToken,
}

/// A task that was cancelled.
#[derive(Debug)]
struct Cancelled {
    at: Timestamp,
    /// Until when anybody can ask for it.
    until: Timestamp,
}

/// The tasks, by id.
#[derive(Debug)]
struct Tasks {
    /// Those that were asked about lately.
    lately: LruCache<String, Arc<Entry>>,
    /// None of these is forgotten as long as it can be asked for: its id alone would begin the watching again.
    cancelled: BTreeMap<String, Cancelled>,
}

/// What is remembered of all tasks.
#[derive(Debug)]
pub(in crate::mcp) struct Memory(Mutex<Tasks>);

impl Default for Memory {
    fn default() -> Self {
        Self(Mutex::new(Tasks { lately: LruCache::new(MOST), cancelled: BTreeMap::new() }))
    }
}

impl Memory {
    /// What is known of a task, for whoever locks it.
    pub(super) fn of(&self, id: &str) -> Arc<Entry> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Tasks { lately, cancelled } = &mut *tasks;
        let known = || cancelled.get(id).map_or_else(Known::default, |end| Known::cancelled(end.at));
        let entry = || Entry { known: tokio::sync::Mutex::new(known()), given_up: CancellationToken::new() };
        Arc::clone(lately.get_or_insert_mut(id.to_owned(), || Arc::new(entry())))
    }

    /// Remembers that a task was cancelled, which nobody can ask for after `until`.
    pub(super) fn cancel(&self, id: &str, at: Timestamp, until: Timestamp) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.cancelled.retain(|_, cancelled| cancelled.until >= at);
        tasks.cancelled.insert(id.to_owned(), Cancelled { at, until });
    }
}
