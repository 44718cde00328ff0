//! Deployment configs, agent configs and credential kinds (service.md 11).

use crate::{
    sandbox::{
        answers::{
            answer::{Answer, InvalidRequestPolicy},
            answered::Answered,
            api_error::ApiError,
            caller::Caller,
            pages::page,
        },
        model::world::World,
    },
    service::api::{
        ListPage,
        configs::{
            AgentConfig, CredentialKind, DeploymentConfig, ListAgentConfigs, ListCredentialKinds,
            ListDeploymentConfigs,
        },
    },
};

impl Answer<ListDeploymentConfigs> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(
        &mut self,
        request: ListDeploymentConfigs,
        caller: &Caller,
    ) -> Result<Answered<ListPage<DeploymentConfig>>, ApiError> {
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
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(
        &mut self,
        request: ListAgentConfigs,
        caller: &Caller,
    ) -> Result<Answered<ListPage<AgentConfig>>, ApiError> {
        let configs = self.project(caller)?.agent_configs.values().collect();

        Ok(page(configs, request.page, request.page_size, |config| AgentConfig::clone(config)).into())
    }
}

impl Answer<ListCredentialKinds> for World {
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Ignore;

    fn answer(
        &mut self,
        request: ListCredentialKinds,
        caller: &Caller,
    ) -> Result<Answered<ListPage<CredentialKind>>, ApiError> {
        let kinds = self.project(caller)?.credential_kinds.iter().collect();

        Ok(page(kinds, request.page, request.page_size, CredentialKind::clone).into())
    }
}
