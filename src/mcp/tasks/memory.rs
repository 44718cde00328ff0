//! What this process knows of the tasks that it was asked about lately. Nothing of it is needed to go on.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lru::LruCache;
use rmcp::model::TaskPayload;

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
    /// Looks that failed since the last that did not.
    pub(super) troubles: u32,
    /// What a person reads.
    pub(super) told: Option<String>,
    /// How it ended: nobody looks any more.
    pub(super) end: Option<TaskPayload>,
}

impl Known {
    /// Whether the last look is long enough ago, for the host and for the service.
    pub(super) fn is_due(&self, now: Duration, pause: Duration) -> bool {
        let is_rested = self.rests_until.is_none_or(|until| now >= until);
        is_rested && self.looked.is_none_or(|looked| now.saturating_sub(looked) >= pause)
    }
}

/// The tasks, by id.
#[derive(Debug)]
pub(in crate::mcp) struct Memory(Mutex<LruCache<String, Arc<tokio::sync::Mutex<Known>>>>);

impl Default for Memory {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }
}

impl Memory {
    /// What is known of a task, for whoever locks it.
    pub(super) fn of(&self, id: &str) -> Arc<tokio::sync::Mutex<Known>> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(tasks.get_or_insert_mut(id.to_owned(), Arc::default))
    }
}
