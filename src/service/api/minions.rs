//! Installers of Minions, the agents on test machines (service.md 14).

use serde_json::json;

use super::prelude::*;

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
