//! The tasks that this process knows: those that hosts have asked for lately, and those that were cancelled. A task
//! can be continued without them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::Timestamp;
use lru::LruCache;
use tokio_util::sync::CancellationToken;

use super::state::TaskState;

/// Maximum number of tasks whose state is remembered.
const MAX_TASKS: usize = 64;

/// A task that a host has asked for.
#[derive(Debug)]
pub(super) struct TaskEntry {
    /// Locked during a poll.
    pub(super) state: tokio::sync::Mutex<TaskState>,
    /// Cancelled when the task is cancelled. Ends a poll in progress.
    pub(super) cancellation: CancellationToken,
}

/// A cancelled task.
#[derive(Debug)]
struct CancelledTask {
    cancelled_at: Timestamp,
    /// When its id expires.
    expires: Timestamp,
}

#[derive(Debug)]
struct Tasks {
    recent: LruCache<String, Arc<TaskEntry>>,
    /// A cancelled task is kept until its id expires. Otherwise a request with the id would resume the task.
    cancelled: BTreeMap<String, CancelledTask>,
}

/// The tasks that this process knows, by id.
#[derive(Debug)]
pub(super) struct TaskStore(Mutex<Tasks>);

impl Default for TaskStore {
    fn default() -> Self {
        Self(Mutex::new(Tasks { recent: LruCache::unbounded(), cancelled: BTreeMap::new() }))
    }
}

impl TaskStore {
    /// Returns the entry of a task, a new one if the task is unknown.
    pub(super) fn entry(&self, id: &str) -> Arc<TaskEntry> {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Tasks { recent, cancelled } = &mut *tasks;

        let new_entry = || {
            let cancelled = cancelled.get(id).map(|task| TaskState::cancelled(task.cancelled_at));
            Arc::new(TaskEntry {
                state: tokio::sync::Mutex::new(cancelled.unwrap_or_default()),
                cancellation: CancellationToken::new(),
            })
        };

        let entry = Arc::clone(recent.get_or_insert(id.to_owned(), new_entry));
        if recent.len() > MAX_TASKS {
            recent.pop_lru();
        }

        entry
    }

    /// Remembers until `expires` that a task was cancelled at `now`. Forgets cancelled tasks whose ids have expired.
    pub(super) fn cancel(&self, id: &str, now: Timestamp, expires: Timestamp) {
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.cancelled.retain(|_, cancelled| cancelled.expires >= now);
        tasks.cancelled.insert(id.to_owned(), CancelledTask { cancelled_at: now, expires });
    }
}
