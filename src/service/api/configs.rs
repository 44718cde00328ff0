//! Deployment configs, agent configs and credential kinds (supplement 11).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Page, PageSize};
use crate::service::{
    operation::{Operation, RequestInfo},
    tool::{ToolInfo, Toolset},
};

/// Lists the devices and platforms that tests can run on: the `deployment_config_id` of a start.
///
/// A start takes `build_id` only with `providerType` `build-storage` (null: try it).
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListDeploymentConfigs {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListDeploymentConfigs {
    const TOOL: ToolInfo =
        ToolInfo::reads("list_deployment_configs", "List deployment configs", Toolset::Configs)
            .core()
            .needs("project:view-configs")
            .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/deployment-configs");
    type Answer = ListPage<DeploymentConfig>;
}

/// Lists the agent configs: which AI player plays a run, the `agent_config_id` of a start.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct ListAgentConfigs {
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListAgentConfigs {
    const TOOL: ToolInfo = ToolInfo::reads("list_agent_configs", "List agent configs", Toolset::Configs)
        .needs("project:view-configs")
        .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/agent-configs");
    type Answer = ListPage<AgentConfig>;
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
    const TOOL: ToolInfo =
        ToolInfo::reads("list_credential_kinds", "List credential kinds", Toolset::Configs)
            .needs("project:view-configs")
            .requires_fields(&["data"]);
    const REQUEST: RequestInfo = RequestInfo::get("/credential-kinds");
    type Answer = ListPage<CredentialKind>;
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
