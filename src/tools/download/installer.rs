//! The download of the installer of Minions, from the storage host behind addresses that expire.
#![expect(missing_docs, reason = "the names are those of the service")]

use std::{
    env::consts::{ARCH, OS},
    sync::{Arc, Mutex, PoisonError},
};

use percent_encoding::percent_decode_str;
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;
use tokio::time::Instant;
use url::Url;

use super::{
    CONTINUE_HINT, DownloadOptions, DownloadRequest,
    local_file::{DownloadTarget, FullDisk, SaveError, SaveOutcome},
    transfer::{DownloadSource, PROGRESS_INTERVAL, TransferContext, TransferProgress, save_file},
};
use crate::{
    call::{Caller, OpenRefusal},
    client::{
        DownloadResponse, DownloadStream, HttpResponse, RequestKind, ResumeFrom, StorageClient, StorageError,
        reports_expired_address,
    },
    failure::{Code, Failure, quote},
    service::api::minions::{GetMinionDownload, MinionPlatform},
    tools::{
        call_options::CallOptions,
        files::{Destination, sleep_until},
        project_client::ProjectClient,
    },
};

/// An installer, saved or not.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedInstaller {
    /// `downloaded`; `downloading`: repeat the same call to continue.
    pub status: &'static str,
    pub platform: MinionPlatform,
    pub path: String,
    /// Bytes.
    pub size: Option<u64>,
    pub sha256: Option<String>,
    /// `true`: the file existed before, with the same size and, if known, the same modification time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    pub progress: Option<String>,
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
        caller: &Caller,
        storage: &Arc<StorageClient>,
        destination: &Destination,
        options: &DownloadOptions,
        call_options: &CallOptions,
    ) -> Result<SavedInstaller, Failure> {
        let Self { project, platform, overwrite } = self;
        let deadline = call_options.wait_limit.map(|limit| Instant::now() + limit);
        let client = ProjectClient { caller: caller.clone(), project };
        let source =
            InstallerSource { client, storage: Arc::clone(storage), platform, address: Mutex::default() };
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
            clock: Arc::clone(caller.clock()),
            deadline,
            full_disk: FullDisk::default(),
        };

        let saving = save_file(&source, target, context);
        match wait_with_progress(saving, &progress, call_options, deadline).await {
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
    call_options: &CallOptions,
    deadline: Option<Instant>,
) -> Option<T> {
    let mut saving = std::pin::pin!(saving);
    let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);

    loop {
        tokio::select! {
            saved = &mut saving => {
                progress.report_to(call_options);
                return Some(saved);
            }
            () = sleep_until(deadline) => return None,
            _ = ticks.tick() => progress.report_to(call_options),
        }
    }
}

/// The installer for a platform.
struct InstallerSource {
    client: ProjectClient,
    storage: Arc<StorageClient>,
    platform: MinionPlatform,
    /// An address that was not used yet. It is used only once, because addresses expire.
    address: Mutex<Option<String>>,
}

impl InstallerSource {
    /// Requests an address, and keeps it for the first [`DownloadSource::open`].
    ///
    /// # Errors
    /// Failures of `get_minion_download`; `bad_response` if the answer has no address.
    async fn request_address(&self) -> Result<String, Failure> {
        let reply = self.client.call(&GetMinionDownload { platform: self.platform }).await?;
        let address = reply.view::<GetMinionDownload>().download_url;
        if address.is_empty() {
            return Err(Failure::new(Code::BadResponse, "download_minion: the service names no address"));
        }

        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address.clone());

        Ok(address)
    }

    async fn take_address(&self) -> Result<String, Failure> {
        let unused = self.address.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(address) = unused {
            return Ok(address);
        }

        // The new address is used now, so that it must not be kept for another attempt.
        let address = self.request_address().await?;
        self.address.lock().unwrap_or_else(PoisonError::into_inner).take();

        Ok(address)
    }
}

impl DownloadSource for InstallerSource {
    async fn open(&self, resume_from: &ResumeFrom) -> Result<DownloadStream, OpenRefusal> {
        let address = self.take_address().await?;
        match self.storage.get(&address, resume_from).await {
            Ok(DownloadResponse::Stream(stream)) => Ok(stream),
            Ok(DownloadResponse::Other(response)) => Err(response_refusal(&response)),
            Err(error) => Err(storage_refusal(&error)),
        }
    }
}

fn storage_refusal(error: &StorageError) -> OpenRefusal {
    let (is_transient, wait) = match error {
        StorageError::Transient { retry_after, .. } => (true, *retry_after),
        _ => (false, None),
    };
    let code = if is_transient { Code::ServiceUnavailable } else { Code::BadResponse };
    let failure = Failure::new(code, format!("download_minion: {error}")).hint("call again later");

    OpenRefusal { failure, is_transient, wait }
}

/// Returns the refusal for a response that is not the installer.
fn response_refusal(response: &HttpResponse) -> OpenRefusal {
    let status = response.status;
    let fail = |code, what: String| Failure::new(code, format!("download_minion: {what}")).status(status);
    if let Some(error) = &response.file.redirect_error {
        return fail(Code::BadResponse, format!("the redirect to the installer {error}")).into();
    }

    let is_expired = reports_expired_address(status, &response.body);
    // Another attempt requests a new address.
    let is_transient = is_expired || RequestKind::StorageObject.is_transient_status(status);
    let code = match status {
        _ if is_expired => Code::Rejected,
        404 => Code::NotFound,
        429 => Code::RateLimited,
        _ if is_transient => Code::ServiceUnavailable,
        _ => Code::Rejected,
    };
    let words = quote(String::from_utf8_lossy(&response.body).trim());
    let failure = fail(code, format!("the storage host answered {status}"))
        .hint("call again later")
        .detail("service_error", words);

    OpenRefusal { failure, is_transient, wait: response.retry_after }
}

/// Returns the last segment of an address, if it can be a file name.
///
/// # Errors
/// `bad_response` if it cannot be a file name.
fn installer_file_name(address: &str) -> Result<String, Failure> {
    let url = Url::parse(address).ok();
    let last = url.as_ref().and_then(|url| url.path_segments()?.next_back()).unwrap_or_default();
    let name = percent_decode_str(last).decode_utf8_lossy().into_owned();
    let problem =
        if name.contains('/') { Some("has a directory") } else { DownloadRequest::path_problem(&name) };

    match problem {
        None => Ok(name),
        Some(problem) => Err(Failure::new(
            Code::BadResponse,
            format!("download_minion: the name of the installer {problem}: nothing was saved"),
        )
        .hint("download the address of `tool:get_minion_download` under a name of your own")),
    }
}
