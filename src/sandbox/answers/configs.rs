//! Deployment configs, agent configs and credential kinds (service.md 11).

use super::prelude::*;
use crate::service::api::configs::{
    AgentConfig, CredentialKind, DeploymentConfig, ListAgentConfigs, ListCredentialKinds,
    ListDeploymentConfigs,
};

impl Answer<ListDeploymentConfigs> for World {
    fn answer(
        &mut self,
        request: ListDeploymentConfigs,
        caller: &Caller,
    ) -> AnswerResult<ListPage<DeploymentConfig>> {
        let configs = self.project(caller)?.configs.values().collect();

        Ok(page(configs, request.page, request.page_size, |config| DeploymentConfig {
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
    fn answer(&mut self, request: ListAgentConfigs, caller: &Caller) -> AnswerResult<ListPage<AgentConfig>> {
        let configs = self.project(caller)?.agent_configs.values().collect();

        Ok(page(configs, request.page, request.page_size, |config| AgentConfig::clone(config)).into())
    }
}

impl Answer<ListCredentialKinds> for World {
    fn answer(
        &mut self,
        request: ListCredentialKinds,
        caller: &Caller,
    ) -> AnswerResult<ListPage<CredentialKind>> {
        let kinds = self.project(caller)?.credential_kinds.iter().collect();

        Ok(page(kinds, request.page, request.page_size, CredentialKind::clone).into())
    }
}
