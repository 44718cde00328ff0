//! What has been learned while the server runs.

use std::{
    num::NonZeroUsize,
    sync::{Mutex, MutexGuard, PoisonError},
};

use indexmap::IndexSet;
use lru::LruCache;

use crate::{client::ApiKey, service::result_kind::ResultId};

/// Most owners that are remembered. An owner never changes, so that only memory speaks against more.
const MOST_OWNERS: NonZeroUsize = NonZeroUsize::new(4_096).unwrap();

/// Most projects that are remembered.
const MOST_PROJECTS: usize = 256;

#[derive(Debug)]
pub(super) struct Session(Mutex<Learned>);

#[derive(Debug)]
struct Learned {
    projects: IndexSet<String>,
    owners: LruCache<ResultId, String>,
    /// A project key, which may be replaced while the server runs, and its project.
    own: Option<(ApiKey, String)>,
}

impl Default for Session {
    fn default() -> Self {
        let (projects, owners) = (IndexSet::new(), LruCache::new(MOST_OWNERS));
        Self(Mutex::new(Learned { projects, owners, own: None }))
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Learned> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn owner(&self, id: &ResultId) -> Option<String> {
        self.lock().owners.get(id).cloned()
    }

    pub(super) fn own_project(&self, key: &ApiKey) -> Option<String> {
        let learned = self.lock();
        let (_, project) = learned.own.as_ref().filter(|(of, _)| of.is_same_as(key))?;
        Some(project.clone())
    }

    pub(super) fn learn_own_project(&self, key: &ApiKey, project: &str) {
        self.lock().own = Some((key.clone(), project.to_owned()));
    }

    pub(super) fn learned(&self) -> Vec<String> {
        self.lock().projects.iter().cloned().collect()
    }

    pub(super) fn learn(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        let mut learned = self.lock();
        if learned.projects.len() < MOST_PROJECTS {
            learned.projects.insert(project.to_owned());
        }

        for id in ids {
            learned.owners.put(id, project.to_owned());
        }
    }
}
