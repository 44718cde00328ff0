//! Projects and owners that the server has seen since it started.

use std::sync::{Mutex, MutexGuard, PoisonError};

use indexmap::IndexSet;
use lru::LruCache;

use crate::{client::ApiKey, service::result_kind::ResultId};

/// Largest number of owners that are remembered. An owner never changes; the limit bounds the memory.
const MAX_OWNERS: usize = 4_096;

/// Largest number of projects that are remembered.
const MAX_PROJECTS: usize = 256;

/// Facts about projects that answers have shown. All calls share them.
#[derive(Debug)]
pub(super) struct Session(Mutex<Facts>);

#[derive(Debug)]
struct Facts {
    projects: IndexSet<String>,
    owners: LruCache<ResultId, String>,
    /// A project key and its project. The key may be replaced while the server runs.
    project_of_key: Option<(ApiKey, String)>,
}

impl Default for Session {
    fn default() -> Self {
        let (projects, owners) = (IndexSet::new(), LruCache::unbounded());
        Self(Mutex::new(Facts { projects, owners, project_of_key: None }))
    }
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Facts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the project that owns `id`, if it is known.
    pub(super) fn owner(&self, id: &ResultId) -> Option<String> {
        self.lock().owners.get(id).cloned()
    }

    /// Returns the project of a project key, if it is known.
    pub(super) fn project_of_key(&self, key: &ApiKey) -> Option<String> {
        let facts = self.lock();
        let (_, project) = facts.project_of_key.as_ref().filter(|(known, _)| known.is_same_as(key))?;
        Some(project.clone())
    }

    pub(super) fn remember_project_of_key(&self, key: &ApiKey, project: &str) {
        self.lock().project_of_key = Some((key.clone(), project.to_owned()));
    }

    /// Returns the projects that have answered, the first one first.
    pub(super) fn projects(&self) -> Vec<String> {
        self.lock().projects.iter().cloned().collect()
    }

    /// Remembers that `project` has answered, and owns these ids.
    pub(super) fn remember_owner(&self, project: &str, ids: impl IntoIterator<Item = ResultId>) {
        let mut facts = self.lock();
        if facts.projects.len() < MAX_PROJECTS {
            facts.projects.insert(project.to_owned());
        }

        for id in ids {
            facts.owners.put(id, project.to_owned());
            if facts.owners.len() > MAX_OWNERS {
                facts.owners.pop_lru();
            }
        }
    }
}
