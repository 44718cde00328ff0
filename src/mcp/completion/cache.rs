//! Lists that were read a few seconds ago.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;

use super::candidate::Candidates;
use crate::mcp::value_source::ValueSource;

/// How long a list is reused. A person usually completes the input within this time.
const FRESH_FOR: Duration = Duration::from_secs(10);

/// Maximum number of lists that are kept.
const MAX_LISTS: usize = 32;

/// The lists, by source and project.
#[derive(Debug)]
pub(super) struct CandidateCache {
    lists: Mutex<LruCache<(ValueSource, Option<String>), Slot>>,
}

/// The slot of one list. It is locked while the list is read, so that simultaneous requests for one list share one
/// read, and requests for other lists do not wait.
type Slot = Arc<tokio::sync::Mutex<Option<CachedList>>>;

/// A list and the time when it was read.
#[derive(Clone, Debug)]
pub(super) struct CachedList {
    pub(super) read_at: Duration,
    pub(super) candidates: Arc<Candidates>,
}

impl Default for CandidateCache {
    fn default() -> Self {
        Self { lists: Mutex::new(LruCache::unbounded()) }
    }
}

impl CandidateCache {
    /// Returns the slot of a list.
    pub(super) fn slot(&self, source: ValueSource, project: Option<String>) -> Slot {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(lists.get_or_insert((source, project), Slot::default));
        if lists.len() > MAX_LISTS {
            lists.pop_lru();
        }

        slot
    }
}

impl CachedList {
    /// Returns whether the list can be used at the time `now`.
    pub(super) fn is_fresh(&self, now: Duration) -> bool {
        now.saturating_sub(self.read_at) < FRESH_FOR
    }
}
