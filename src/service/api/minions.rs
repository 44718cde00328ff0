//! Installers of Minions, the agents on test machines (specification, GET minions/download; supplement 14).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::{
    operation::{Operation, RequestInfo, ResponseKind, UrlBase},
    tool::{ToolInfo, Toolset},
};

/// Returns a download address of the latest installer of the Minion, the agent on a test machine.
///
/// The address needs no API key and expires after a day.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetMinionDownload {
    pub platform: MinionPlatform,
}

// No doc comment, because it would become part of the description of the argument.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
pub enum MinionPlatform {
    #[serde(rename = "windows-x86_64")]
    Windows,
    #[serde(rename = "linux-x86_64")]
    Linux,
    #[serde(rename = "darwin-aarch64")]
    Darwin,
}

impl Operation for GetMinionDownload {
    const TOOL: ToolInfo =
        ToolInfo::reads("get_minion_download", "Get the Minion installer's address", Toolset::Minions)
            .core()
            .needs("project:manage-minions");
    const REQUEST: RequestInfo =
        RequestInfo::get("/minions/download").below(UrlBase::Base).responds_with(ResponseKind::Redirect);
    type Answer = Installer;
}

/// The address of an installer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Installer {
    pub download_url: String,
    /// Time in ISO 8601.
    pub expires_at: String,
}
