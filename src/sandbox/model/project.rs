//! A project and its records.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::{
    sandbox::model::{
        bug::StoredBug,
        build::StoredBuild,
        build_storage::BuildStorage,
        device_config::DeviceConfig,
        dialect::Dialect,
        execution::Execution,
        folder::Folder,
        job::SimulatedJob,
        knowledge::StoredKnowledgeFile,
        records::{Records, Versions},
        saved_test::SavedTest,
        test_plan::SavedPlan,
    },
    service::api::{
        configs::{AgentConfig, CredentialKind},
        shared_steps::SharedStep,
    },
};

/// A project.
#[derive(Debug)]
pub(crate) struct Project {
    pub(crate) id: String,
    pub(crate) dialect: Dialect,
    /// Whether the integration with the test-management system is enabled.
    pub(crate) integration: bool,
    /// Whether the project has the `bug_review` feature.
    pub(crate) bug_review: bool,
    pub(crate) folders: Records<Folder>,
    pub(crate) tests: Records<SavedTest>,
    pub(crate) test_versions: Versions<SavedTest>,
    pub(crate) shared_steps: Records<SharedStep>,
    pub(crate) shared_step_versions: Versions<SharedStep>,
    pub(crate) configs: Records<DeviceConfig>,
    pub(crate) agent_configs: Records<AgentConfig>,
    pub(crate) credential_kinds: Vec<CredentialKind>,
    pub(crate) builds: Records<StoredBuild>,
    pub(crate) storage: BuildStorage,
    pub(crate) plans: Records<SavedPlan>,
    pub(crate) bugs: IndexMap<String, StoredBug>,
    /// Oldest first.
    pub(crate) jobs: IndexMap<String, SimulatedJob>,
    /// Oldest first.
    pub(crate) executions: IndexMap<String, Execution>,
    pub(crate) knowledge: Vec<StoredKnowledgeFile>,
}

impl Project {
    /// Creates a project without records.
    pub(crate) fn new(id: &str, dialect: Dialect) -> Self {
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

    /// Returns the newest build for devices of `kind`.
    pub(crate) fn newest_build(&self, kind: &str) -> Option<&Arc<StoredBuild>> {
        self.builds
            .values()
            .filter(|build| build.platform.split('-').next() == Some(kind))
            .max_by_key(|build| build.created)
    }
}
