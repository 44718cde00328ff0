//! `download_minion`: an installer, saved here.

use schemars::JsonSchema;
use serde::Deserialize;

use super::CompositeTool;
use crate::{
    failure::Failure,
    service::{
        api::minions::MinionPlatform,
        tool::{ToolInfo, Toolset},
    },
    tools::{
        context::ToolContext,
        download::{DownloadOptions, InstallerRequest, SavedInstaller},
    },
    violation::Violation,
};

/// Saves the latest installer of a Minion, the helper agent of a test machine, locally; nothing is installed.
///
/// `status: downloading` after 45 s: the same call goes on where it ended.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DownloadMinion {
    /// Below the files root; made if missing.
    pub destination_dir: String,
    /// Default: this machine's.
    pub platform: Option<MinionPlatform>,
    /// Replace a file of its name.
    pub overwrite: Option<bool>,
}

impl CompositeTool for DownloadMinion {
    const TOOL: ToolInfo =
        ToolInfo::replaces("download_minion", "Download the Minion installer", Toolset::Minions)
            .needs("project:manage-minions")
            .requires_fields(&["status"])
            .recovery_hint("look whether the file is there");
    type Answer = SavedInstaller;

    async fn run(self, desk: ToolContext) -> Result<SavedInstaller, Failure> {
        let platform = platform(self.platform)?;
        let destination = desk.files.root()?.destination(&self.destination_dir)?;
        let order =
            InstallerRequest { project: desk.project, platform, overwrite: self.overwrite == Some(true) };
        order
            .run(
                &desk.gateway,
                &desk.files.storage,
                &destination,
                &DownloadOptions::default(),
                &desk.audience,
            )
            .await
    }
}

/// The platform that was named, else that of this machine.
pub fn platform(named: Option<MinionPlatform>) -> Result<MinionPlatform, Failure> {
    let rule = "is required: there is no installer for this machine";
    named
        .or_else(MinionPlatform::here)
        .ok_or_else(|| Failure::invalid_arguments(DownloadMinion::NAME, &[Violation::new("platform", rule)]))
}
