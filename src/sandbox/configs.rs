//! Deployment configs, agent configs and credential kinds (supplement 11).

use super::{Answer, Answered, Caller, Fault, Invalid, World, lists::page};
use crate::service::api::{
    ListPage,
    configs::{
        AgentConfig, CredentialKind, DeploymentConfig, ListAgentConfigs, ListCredentialKinds,
        ListDeploymentConfigs,
    },
};

/// Build source of configs that take a `build_id`.
const BUILD_STORAGE: &str = "build-storage";

/// Where and on what tests run.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) kind: String,
    pub(super) pinned: bool,
    pub(super) provider: Option<String>,
    pub(super) devices: Vec<Device>,
    /// A device that one player at a time can use.
    pub(super) private: bool,
    /// Whether runs on all its devices are enabled.
    pub(super) multi_device: bool,
}

/// A device of a config.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) label: String,
    pub(super) os_version: String,
    pub(super) works: bool,
}

impl Config {
    /// Whether a build of the build storage can be deployed.
    pub(super) fn takes_builds(&self) -> bool {
        self.provider.as_deref() == Some(BUILD_STORAGE)
    }

    /// Whether its devices are phones or tablets.
    pub(super) fn is_mobile(&self) -> bool {
        matches!(self.kind.as_str(), "android" | "ios")
    }

    /// The device that a run gets when nobody asks for a certain one.
    pub(super) fn first_working(&self) -> Option<&Device> {
        self.devices.iter().find(|device| device.works)
    }
}

impl Answer<ListDeploymentConfigs> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListDeploymentConfigs,
        caller: &Caller,
    ) -> Result<Answered<ListPage<DeploymentConfig>>, Fault> {
        let configs = self.project(caller)?.configs.values().collect();
        Ok(page(configs, asked.page, asked.page_size, |config| DeploymentConfig {
            id: config.id.clone(),
            name: config.name.clone(),
            description: config.description.clone(),
            kind: Some(config.kind.clone()),
            pinned: config.pinned,
            provider_type: config.provider.clone(),
        })
        .into())
    }
}

impl Answer<ListAgentConfigs> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListAgentConfigs,
        caller: &Caller,
    ) -> Result<Answered<ListPage<AgentConfig>>, Fault> {
        let configs = self.project(caller)?.agent_configs.values().collect();
        Ok(page(configs, asked.page, asked.page_size, |config| AgentConfig::clone(config)).into())
    }
}

impl Answer<ListCredentialKinds> for World {
    const INVALID: Invalid = Invalid::Ignored;

    fn answer(
        &mut self,
        asked: ListCredentialKinds,
        caller: &Caller,
    ) -> Result<Answered<ListPage<CredentialKind>>, Fault> {
        let kinds = self.project(caller)?.credential_kinds.iter().collect();
        Ok(page(kinds, asked.page, asked.page_size, CredentialKind::clone).into())
    }
}
