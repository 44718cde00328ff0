//! Deployment configs, agent configs and credential kinds (supplement 11).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Page, PageSize};
use crate::service::operation::{Access, Effect, Operation, Tier, Toolset};

/// Lists the devices and platforms that tests can run on: the `deployment_config_id` of a start.
///
/// A start takes `build_id` only with `providerType` `build-storage` (null: try it).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListDeploymentConfigs {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListDeploymentConfigs {
    const NAME: &'static str = "list_deployment_configs";
    const TITLE: &'static str = "List deployment configs";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/deployment-configs";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Configs;
    const TIER: Tier = Tier::Core;
    const ACCESS: Access = Access::Permission("project:view-configs");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<DeploymentConfig>;
}

/// Lists the agent configs: which AI player plays a run, the `agent_config_id` of a start.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListAgentConfigs {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListAgentConfigs {
    const NAME: &'static str = "list_agent_configs";
    const TITLE: &'static str = "List agent configs";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/agent-configs";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Configs;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:view-configs");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<AgentConfig>;
}

/// Lists the kinds of credentials that players of a test can use, such as shop accounts; never the secrets.
///
/// `exclusive`: at most one run at a time per credential.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListCredentialKinds {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListCredentialKinds {
    const NAME: &'static str = "list_credential_kinds";
    const TITLE: &'static str = "List credential kinds";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/credential-kinds";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Configs;
    const TIER: Tier = Tier::Extra;
    const ACCESS: Access = Access::Permission("project:view-configs");
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<CredentialKind>;
}

/// Which AI player plays a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgentConfig {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub pinned: bool,
}

/// A kind of credentials.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CredentialKind {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// At most one run at a time per credential.
    pub exclusive: bool,
}

/// Where and on what a test runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub struct DeploymentConfig {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// For example `windows`, `android`, `ios`.
    pub kind: Option<String>,
    pub pinned: bool,
    /// `build-storage` takes a `build_id`.
    #[serde(rename = "providerType")]
    pub provider_type: Option<String>,
}
