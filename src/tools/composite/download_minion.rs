//! `download_minion`: saves an installer as a local file.

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

/// Saves the latest installer of the Minion, the agent on a test machine, as a local file. Installs nothing.
///
/// Returns `status: downloading` after 45 s: repeat the same call to continue.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DownloadMinion {
    /// Directory below the files root; created if missing.
    pub destination_dir: String,
    /// Default: the platform of this machine.
    pub platform: Option<MinionPlatform>,
    /// Replaces an existing file; default false.
    #[schemars(extend("default" = false))]
    pub overwrite: Option<bool>,
}

impl CompositeTool for DownloadMinion {
    const TOOL: ToolInfo =
        ToolInfo::replaces("download_minion", "Download the Minion installer", Toolset::Minions)
            .needs("project:manage-minions")
            .uses_local_files()
            .requires_fields(&["status"])
            .recovery_hint("check whether the file exists");
    type Answer = SavedInstaller;

    async fn run(self, context: ToolContext) -> Result<SavedInstaller, Failure> {
        let platform = platform(self.platform)?;
        let destination = context.files.root()?.destination(&self.destination_dir)?;
        let overwrite = self.overwrite == Some(true);
        let request = InstallerRequest { project: context.project, platform, overwrite };

        request
            .run(
                &context.caller,
                &context.files.storage,
                &destination,
                &DownloadOptions::default(),
                &context.options,
            )
            .await
    }
}

/// Returns `named`, or else the platform of this machine.
pub fn platform(named: Option<MinionPlatform>) -> Result<MinionPlatform, Failure> {
    let rule = "is required: there is no installer for the platform of this machine";
    named
        .or_else(MinionPlatform::here)
        .ok_or_else(|| Failure::invalid_arguments(DownloadMinion::NAME, &[Violation::new("platform", rule)]))
}
