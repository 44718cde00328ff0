//! Deployment configs, agent configs and credential kinds (service.md 11).

use super::prelude::*;

/// Lists the deployment configs: the devices and platforms for tests.
///
/// A `build_id` needs `providerType` `build-storage` (null: unknown).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListDeploymentConfigs {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListDeploymentConfigs {
    const TOOL: ToolInfo =
        ToolInfo::lists("list_deployment_configs", "List deployment configs", Toolset::Configs)
            .access_hint("a start still works with a known `argument:deployment_config_id`")
            .needs("project:view-configs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/deployment-configs");
    type Answer = ListPage<DeploymentConfig>;
}

/// Lists the agent configs: the AI players of runs.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListAgentConfigs {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListAgentConfigs {
    const TOOL: ToolInfo = ToolInfo::lists("list_agent_configs", "List agent configs", Toolset::Configs)
        .needs("project:view-configs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/agent-configs");
    type Answer = ListPage<AgentConfig>;
}

/// Lists the kinds of credentials that players can use, such as shop accounts. Never returns secrets.
///
/// `exclusive`: only one run at a time can use a credential.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListCredentialKinds {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListCredentialKinds {
    const TOOL: ToolInfo =
        ToolInfo::lists("list_credential_kinds", "List credential kinds", Toolset::Configs)
            .extra()
            .needs("project:view-configs");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/credential-kinds");
    type Answer = ListPage<CredentialKind>;
}

/// An AI player of runs.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct AgentConfig {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    pub pinned: bool,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct CredentialKind {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// Whether only one run at a time can use a credential.
    pub exclusive: bool,
}

/// The device or platform that a test runs on.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct DeploymentConfig {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
    /// For example `windows`, `android`, `ios`.
    pub kind: Option<String>,
    pub pinned: bool,
    /// A start accepts a `build_id` if this is `build-storage`.
    #[serde(rename = "providerType")]
    pub provider_type: Option<String>,
}
