//! The download of the installer of Minions.
#![expect(missing_docs, reason = "the names are those of the service")]

use std::{
    env::consts::{ARCH, OS},
    sync::Arc,
};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::time::Instant;

use super::{
    DownloadOptions,
    installer_source::{InstallerSource, installer_file_name},
    progress::{PROGRESS_INTERVAL, TransferProgress},
    report::CONTINUE_HINT,
    target::{DownloadTarget, SaveError, SaveOutcome},
    transfer::save_file,
    transfer_context::TransferContext,
};
use crate::{
    call::gateway::Gateway,
    client::StorageClient,
    failure::Failure,
    service::api::minions::MinionPlatform,
    tools::{
        caller::CallerContext,
        files::{Destination, sleep_until},
        project_client::ProjectClient,
    },
};

/// An installer, saved or not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedInstaller {
    /// `downloaded`; `downloading`: repeat the same call to continue.
    pub status: &'static str,
    pub platform: MinionPlatform,
    pub path: String,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// `true`: the file existed before, with the same size and, if known, the same modification time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// A request to download an installer.
#[derive(Clone, Debug)]
pub struct InstallerRequest {
    /// Project, if the caller names one.
    pub project: Option<String>,
    pub platform: MinionPlatform,
    /// Whether an existing file with other content is replaced.
    pub overwrite: bool,
}

impl MinionPlatform {
    /// Returns the platform of this machine, or `None` if it has no installer.
    pub fn here() -> Option<Self> {
        match (OS, ARCH) {
            ("windows", "x86_64") => Some(Self::Windows),
            ("linux", "x86_64") => Some(Self::Linux),
            ("macos", "aarch64") => Some(Self::Darwin),
            _ => None,
        }
    }
}

impl InstallerRequest {
    /// Saves the installer. When the caller's wait limit passes, the rest is left to the next call.
    ///
    /// # Errors
    /// Failures of `get_minion_download`; `file_error` if another file has the name of the installer or nothing can be
    /// written; failures of the storage host.
    pub async fn run(
        self,
        gateway: &Gateway,
        storage: &Arc<StorageClient>,
        destination: &Destination,
        options: &DownloadOptions,
        caller: &CallerContext,
    ) -> Result<SavedInstaller, Failure> {
        let Self { project, platform, overwrite } = self;
        let deadline = caller.wait_limit.map(|limit| Instant::now() + limit);
        let client = ProjectClient { gateway: gateway.clone(), project };
        let source = InstallerSource::new(client, Arc::clone(storage), platform);
        let name = installer_file_name(&source.request_address().await?)?;

        let directory = destination.open()?;
        let path = directory.path().join(&name).display().to_string();
        let target =
            DownloadTarget { path: name, size: None, modified: None, replaces: overwrite, hashes: true };
        let progress = Arc::new(TransferProgress::new(0));
        let context = TransferContext {
            directory,
            options: options.clone(),
            progress: Arc::clone(&progress),
            clock: Arc::clone(gateway.clock()),
            deadline,
        };

        let saving = save_file(&source, target, context);
        match wait_with_progress(saving, &progress, caller, deadline).await {
            None => Ok(SavedInstaller::unfinished(platform, path, &progress)),
            Some(Err(SaveError::File(failure) | SaveError::Disk(failure))) => Err(failure),
            Some(Ok(outcome)) => Ok(SavedInstaller::finished(platform, path, outcome)),
        }
    }
}

impl SavedInstaller {
    fn finished(platform: MinionPlatform, path: String, outcome: SaveOutcome) -> Self {
        let SaveOutcome { size, is_kept: kept, sha256 } = outcome;
        let (size, progress, hint) = (Some(size), None, None);
        Self { status: "downloaded", platform, path, size, sha256, kept, progress, hint }
    }

    fn unfinished(platform: MinionPlatform, path: String, progress: &TransferProgress) -> Self {
        let (progress, hint) = (Some(progress.describe()), Some(CONTINUE_HINT));
        let (size, sha256, kept) = (None, None, false);
        Self { status: "downloading", platform, path, size, sha256, kept, progress, hint }
    }
}

/// Waits for `saving` and reports the progress. Returns `None` if the deadline passes first.
async fn wait_with_progress<T>(
    saving: impl Future<Output = T>,
    progress: &TransferProgress,
    caller: &CallerContext,
    deadline: Option<Instant>,
) -> Option<T> {
    let mut saving = std::pin::pin!(saving);
    let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);

    loop {
        tokio::select! {
            saved = &mut saving => {
                progress.report_to(caller);
                return Some(saved);
            }
            () = sleep_until(deadline) => return None,
            _ = ticks.tick() => progress.report_to(caller),
        }
    }
}
