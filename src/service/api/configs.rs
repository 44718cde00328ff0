//! What runs need beside tests and builds: deployment configs, agent configs, kinds of credentials (service.md 11), and installers of
//! Minions, the agents on test machines (service.md 14).

use serde_json::json;

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

/// Returns a download address of the latest Minion installer, for the agent on a test machine.
///
/// The address needs no key and expires after a day.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetMinionDownload {
    /// Of the machine: `windows-x86_64`, `linux-x86_64` or `darwin-aarch64` (Apple silicon).
    pub platform: MinionPlatform,
}

// The three platforms (service.md 14).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
pub enum MinionPlatform {
    #[serde(rename = "windows-x86_64")]
    Windows,
    #[serde(rename = "linux-x86_64")]
    Linux,
    #[serde(rename = "darwin-aarch64")]
    Darwin,
}

impl MinionPlatform {
    /// Every platform, in the order of service.md 14.
    pub const ALL: [Self; 3] = [Self::Windows, Self::Linux, Self::Darwin];

    /// Returns the name that the service uses.
    pub fn name(self) -> String {
        json!(self).as_str().unwrap_or_default().to_owned()
    }
}

impl Operation for GetMinionDownload {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_minion_download", "Get the Minion installer's address", Toolset::Minions)
            .with_links()
            .needs("project:manage-minions")
            .not_found_hint(|_| "no installer is released for this platform: try later, or another platform");
    const REQUEST: RequestInfo = RequestInfo::new(Method::GET, "/minions/download")
        .below(UrlBase::Base)
        .responds_with(ResponseKind::Redirect);
    type Answer = Installer;
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct Installer {
    pub download_url: String,
    /// Time in ISO 8601.
    pub expires_at: String,
}
