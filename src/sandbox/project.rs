//! What a project holds.

use std::{collections::BTreeMap, sync::Arc};

use indexmap::IndexMap;

use super::{
    bugs::Bug, build_storage::BuildStorage, builds::Build, configs::Config, executions::Execution,
    folders::Folder, jobs::Job, knowledge::Stored, plans::Plan, tests::Test,
};
use crate::service::api::{
    ReadVersion,
    configs::{AgentConfig, CredentialKind},
    steps::SharedStep,
};

/// Records by id, in the order in which they were made.
pub(super) type Records<T> = IndexMap<String, Arc<T>>;

/// Every version of each record, the present one too, by id; the index is the version.
pub(super) type Versions<T> = BTreeMap<String, Vec<Arc<T>>>;

/// A project.
#[derive(Debug)]
pub(super) struct Project {
    pub(super) id: String,
    pub(super) dialect: Dialect,
    /// Whether the integration with the test-management system is enabled.
    pub(super) integration: bool,
    /// Whether the project has the `bug_review` feature.
    pub(super) bug_review: bool,
    pub(super) folders: Records<Folder>,
    pub(super) tests: Records<Test>,
    pub(super) test_versions: Versions<Test>,
    pub(super) shared_steps: Records<SharedStep>,
    pub(super) shared_step_versions: Versions<SharedStep>,
    pub(super) configs: Records<Config>,
    pub(super) agent_configs: Records<AgentConfig>,
    pub(super) credential_kinds: Vec<CredentialKind>,
    pub(super) builds: Records<Build>,
    pub(super) storage: BuildStorage,
    pub(super) plans: Records<Plan>,
    pub(super) bugs: IndexMap<String, Bug>,
    /// Oldest first.
    pub(super) jobs: IndexMap<String, Job>,
    /// Oldest first.
    pub(super) executions: IndexMap<String, Execution>,
    pub(super) knowledge: Vec<Stored>,
}

impl Project {
    /// A project without records.
    pub(super) fn new(id: &str, dialect: Dialect) -> Self {
        Self {
            id: id.to_owned(),
            dialect,
            integration: true,
            bug_review: true,
            folders: Records::new(),
            tests: Records::new(),
            test_versions: Versions::new(),
            shared_steps: Records::new(),
            shared_step_versions: Versions::new(),
            configs: Records::new(),
            agent_configs: Records::new(),
            credential_kinds: Vec::new(),
            builds: Records::new(),
            storage: BuildStorage::default(),
            plans: Records::new(),
            bugs: IndexMap::new(),
            jobs: IndexMap::new(),
            executions: IndexMap::new(),
            knowledge: Vec::new(),
        }
    }

    /// The newest build for devices of `kind`.
    pub(super) fn newest_build(&self, kind: &str) -> Option<&Arc<Build>> {
        self.builds
            .values()
            .filter(|build| build.platform.split('-').next() == Some(kind))
            .max_by_key(|build| build.created)
    }
}

/// Which of the documented forms the answers of a project have (supplement 1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Upper-case states, platforms with `kind` and `config`, failure texts in `message`.
    Upper,
    /// Lower-case states, platforms with `type` and `device`, failure texts in `error`.
    Lower,
}

impl Dialect {
    /// A state as this project writes it.
    pub(super) fn state(self, state: &str) -> String {
        match self {
            Self::Upper => state.to_ascii_uppercase(),
            Self::Lower => state.to_ascii_lowercase(),
        }
    }
}

/// The record of that id. UUIDs are equal in either letter case.
pub(super) fn find<'a, T>(records: &'a IndexMap<String, T>, id: &str) -> Option<&'a T> {
    records.get(id).or_else(|| records.get(&id.to_ascii_lowercase()))
}

/// The asked version of the record of that id; the present one when none is asked for.
pub(super) fn at_version<'a, T>(
    records: &'a Records<T>,
    versions: &'a Versions<T>,
    id: &str,
    version: Option<ReadVersion>,
) -> Option<&'a Arc<T>> {
    let (id, present) =
        records.get_key_value(id).or_else(|| records.get_key_value(&id.to_ascii_lowercase()))?;
    match version {
        None => Some(present),
        Some(version) => versions.get(id)?.get(usize::try_from(version.0).ok()?),
    }
}
