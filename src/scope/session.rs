//! What has been learned while the server runs.

use std::{
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
};

use indexmap::IndexSet;
use lru::LruCache;

use super::OwnedId;

/// Most owners that are remembered. An owner never changes, so that only memory speaks against more.
const MOST_OWNERS: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

/// Most projects that are remembered.
const MOST_PROJECTS: usize = 256;

#[derive(Debug)]
pub(super) struct Session(Mutex<Learned>);

#[derive(Debug)]
struct Learned {
    projects: IndexSet<String>,
    owners: LruCache<OwnedId, String>,
}

impl Default for Session {
    fn default() -> Self {
        Self(Mutex::new(Learned { projects: IndexSet::new(), owners: LruCache::new(MOST_OWNERS) }))
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Learned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn owner(&self, id: &OwnedId) -> Option<String> {
        self.lock().owners.get(id).cloned()
    }

    pub(super) fn learned(&self) -> Vec<String> {
        self.lock().projects.iter().cloned().collect()
    }

    pub(super) fn learn(&self, project: &str, ids: impl IntoIterator<Item = OwnedId>) {
        let mut learned = self.lock();
        if learned.projects.len() < MOST_PROJECTS {
            learned.projects.insert(project.to_owned());
        }
        for id in ids {
            learned.owners.put(id, project.to_owned());
        }
    }
}
