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
        ToolInfo::reads("list_deployment_configs", "List deployment configs", Toolset::Configs)
            .core()
            .access_hint("a start still works with a known `argument:deployment_config_id`")
            .needs("project:view-configs")
            .records(RecordKeys { id: "id", times: &[], name: "name" })
            .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/deployment-configs");
    type Answer = ListPage<DeploymentConfig>;
}

/// Lists the agent configs: the AI players of runs.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListAgentConfigs {
    pub page: Option<PageNumber>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListAgentConfigs {
    const TOOL: ToolInfo = ToolInfo::reads("list_agent_configs", "List agent configs", Toolset::Configs)
        .core()
        .needs("project:view-configs")
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/agent-configs");
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
        ToolInfo::reads("list_credential_kinds", "List credential kinds", Toolset::Configs)
            .needs("project:view-configs")
            .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/credential-kinds");
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

/// A kind of credentials.
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
#[serde(rename_all = "snake_case")]
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
