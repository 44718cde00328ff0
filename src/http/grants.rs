//! The grants of the operator: which persons may use which API key, and for what (`http.md` 1.4).
//!
//! `definition` is one grant as the file states it, `claim` compares the claims of a person with it.

mod claim;
mod definition;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use self::claim::ClaimCondition;
use crate::{call::grant::Grant, fields::Fields};

/// Least time between two checks whether the file has changed.
const CHECK_PAUSE: Duration = Duration::from_secs(1);

/// The grants cannot be used. The text contains every problem.
#[derive(Debug, thiserror::Error)]
#[error("the grants file `{path}` cannot be used: {}", .problems.join("; "))]
pub(super) struct UnusableGrants {
    path: String,
    problems: Vec<String>,
}

/// A grant with the persons whom it names.
#[derive(Clone, Debug)]
struct NamedGrant {
    condition: ClaimCondition,
    grant: Grant,
}

/// The file of the grants. A change of the file, or of a key that it names, counts after a moment.
#[derive(Debug)]
pub(super) struct GrantsFile {
    path: PathBuf,
    loaded: Mutex<LoadedGrants>,
}

#[derive(Debug)]
struct LoadedGrants {
    grants: Arc<[NamedGrant]>,
    checked_at: Instant,
    /// The problems that were logged last, so that a problem that lasts is logged once.
    logged: Option<String>,
}

impl GrantsFile {
    /// Reads the grants.
    ///
    /// # Errors
    /// Every problem with the file.
    pub(super) fn open(path: PathBuf) -> Result<Self, UnusableGrants> {
        let grants = read_grants(&path)?;
        let loaded = LoadedGrants { grants, checked_at: Instant::now(), logged: None };
        Ok(Self { path, loaded: Mutex::new(loaded) })
    }

    /// Returns the grants that name the person with these claims, in the order of the file.
    pub(super) fn of_person(&self, claims: &Fields) -> Vec<Grant> {
        let grants = self.current();
        let named = grants.iter().filter(|named| named.condition.is_met_by(claims));
        named.map(|named| named.grant.clone()).collect()
    }

    /// Returns all grants, each with a text that describes the persons whom it names.
    pub(super) fn described(&self) -> Vec<(String, Grant)> {
        let grants = self.current();
        grants.iter().map(|named| (named.condition.to_string(), named.grant.clone())).collect()
    }

    /// Returns the grants. Reads the file again if the last check is old. A file that cannot be used changes nothing.
    fn current(&self) -> Arc<[NamedGrant]> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if loaded.checked_at.elapsed() >= CHECK_PAUSE {
            loaded.update(read_grants(&self.path));
        }

        Arc::clone(&loaded.grants)
    }
}

impl LoadedGrants {
    /// Takes over the grants that were read now, or logs why they cannot be used.
    fn update(&mut self, read: Result<Arc<[NamedGrant]>, UnusableGrants>) {
        self.checked_at = Instant::now();
        let problem = read.map(|grants| self.grants = grants).err().map(|error| error.to_string());

        if let Some(problem) = problem.as_ref().filter(|problem| self.logged.as_ref() != Some(*problem)) {
            tracing::warn!("{problem}; the earlier grants stay valid");
        }
        self.logged = problem;
    }
}

fn read_grants(path: &Path) -> Result<Arc<[NamedGrant]>, UnusableGrants> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let grants = definition::read_file(path)
        .map_err(|problem| vec![problem])
        .and_then(|definitions| definition::load_all(definitions, directory));
    grants.map_err(|problems| UnusableGrants { path: path.display().to_string(), problems })
}

#[cfg(test)]
mod tests;
