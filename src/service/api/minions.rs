//! Installers of Minions, the helper agents (specification, GET minions/download; supplement 14).
#![expect(missing_docs, reason = "the service's own names speak for themselves")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::service::{
    operation::{Operation, RequestInfo, ResponseKind, UrlBase},
    tool::{ToolInfo, Toolset},
};

/// Gets the address of the latest Minion installer: the helper agent on a test machine. Nothing is downloaded.
///
/// The address works without a key for a day.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct GetMinionDownload {
    pub platform: MinionPlatform,
}

// No doc comment: the argument says it.
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

/// Where an installer lies.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Installer {
    pub download_url: String,
    /// ISO 8601.
    pub expires_at: String,
}
