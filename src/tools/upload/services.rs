//! What the tools for local files share: the files root, the storage client, and the uploads that continue while no
//! caller waits for them.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use super::{FinishedUpload, UploadJob, UploadProgress, UploadTiming, provenance::CiJob};
use crate::{
    client::{AddressPolicy, StorageClient},
    failure::{Code, Failure},
    tools::{
        call_options::CallOptions,
        files::{FilesRoot, sleep_until},
    },
};

/// Configuration of the tools that read or write local files.
#[derive(Debug)]
pub struct FilesConfig {
    /// The files root, if one is set; or the failure of the calls that need it.
    pub root: Result<Option<FilesRoot>, Failure>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The CI job that this process is part of.
    pub ci_job: Option<CiJob>,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
    /// Which addresses for parts and files are used that the service names.
    pub address_policy: AddressPolicy,
    /// File of the API key, which is never uploaded.
    pub key_file: Option<PathBuf>,
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self {
            root: Ok(None),
            state: None,
            ca_file: None,
            ci_job: None,
            timing: UploadTiming::default(),
            address_policy: AddressPolicy::default(),
            key_file: None,
        }
    }
}

/// Services that the tools for local files share.
#[derive(Debug)]
pub struct FileServices {
    pub(super) config: FilesConfig,
    /// Client for presigned addresses.
    pub storage: Arc<StorageClient>,
    /// Uploads that continue while no caller waits for them.
    pub(crate) uploads: BackgroundUploads,
}

impl FileServices {
    pub(crate) fn new(config: FilesConfig) -> Self {
        let storage = Arc::new(StorageClient::new(config.ca_file.clone(), config.address_policy));
        Self { config, storage, uploads: BackgroundUploads::default() }
    }

    /// Returns the files root for tools: the configured root, or the working directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory is unsuitable as a root.
    pub(crate) fn root(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone()?.map_or_else(FilesRoot::working_directory, Ok)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }

    /// Returns the files root for uploads of a user at the command line: the configured root, or the working directory
    /// without confinement.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory cannot be opened.
    pub(crate) fn upload_root_for_user(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone()?.map_or_else(FilesRoot::unconfined_working_directory, Ok)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }

    /// Returns the files root for downloads of a user at the command line: the configured root, or every directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable.
    pub(crate) fn download_root_for_user(&self) -> Result<FilesRoot, Failure> {
        Ok(self.config.root.clone()?.unwrap_or_else(FilesRoot::anywhere))
    }
}

/// Maximum number of uploads whose outcome is kept. The oldest finished uploads are removed first.
const MAX_UPLOADS: usize = 100;

type UploadOutcome = Result<FinishedUpload, Failure>;

/// The uploads of this process, by their tokens.
#[derive(Debug, Default)]
pub(crate) struct BackgroundUploads(Mutex<BTreeMap<String, BackgroundUpload>>);

impl BackgroundUploads {
    pub(crate) fn start(&self, job: UploadJob) -> (String, BackgroundUpload) {
        let token = format!("upload_{}", uuid::Uuid::now_v7().simple());
        let upload = BackgroundUpload::spawn(job);

        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Tokens begin with the time, so that the first token is the oldest.
        while uploads.len() >= MAX_UPLOADS
            && let Some(oldest) = uploads.iter().find(|(_, upload)| upload.is_finished())
        {
            let oldest = oldest.0.clone();
            uploads.remove(&oldest);
        }
        uploads.insert(token.clone(), upload.clone());

        (token, upload)
    }

    /// Returns the upload with this token.
    ///
    /// # Errors
    /// `not_found` if this process has no such upload.
    pub(crate) fn find(&self, token: &str) -> Result<BackgroundUpload, Failure> {
        let uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.get(token).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "upload_build: this server has no upload with this `upload_token`")
                .hint("call again with `path`: an interrupted upload is resumed[[, and `tool:list_builds` shows a finished upload]]")
        })
    }

    /// Cancels the uploads that cannot be resumed. It is called before the process ends.
    pub(crate) async fn cancel_unresumable_uploads(&self) {
        let uploads: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let lost = uploads.iter().filter(|upload| !upload.is_finished() && !upload.progress.is_resumable());

        futures_util::future::join_all(lost.map(|upload| {
            upload.cancelled.cancel();
            upload.outcome()
        }))
        .await;
    }
}

/// An upload in a task of its own.
#[derive(Clone, Debug)]
pub(crate) struct BackgroundUpload {
    pub(crate) progress: Arc<UploadProgress>,
    outcome: watch::Receiver<Option<UploadOutcome>>,
    /// Number of callers that wait for the upload.
    waiting: Arc<AtomicUsize>,
    cancelled: CancellationToken,
    progress_interval: Duration,
}

impl BackgroundUpload {
    /// Starts a task that runs `job` to its end.
    fn spawn(job: UploadJob) -> Self {
        let (sender, outcome) = watch::channel(None);
        let upload = Self {
            progress: Arc::clone(&job.progress),
            outcome,
            waiting: Arc::default(),
            cancelled: job.session.cancelled.clone(),
            progress_interval: job.session.timing.progress_interval,
        };

        tokio::spawn(async move {
            let outcome = job.run().await;
            // The value is kept even if there is no receiver at the moment.
            sender.send_replace(Some(outcome));
        });

        upload
    }

    /// Waits for the outcome. Returns `None` if `wait_limit` passes first.
    ///
    /// If the future is dropped earlier, the upload is cancelled, unless another caller waits for it.
    pub(crate) async fn wait(
        &self,
        options: &CallOptions,
        wait_limit: Option<Duration>,
    ) -> Option<UploadOutcome> {
        let mut guard = WaiterGuard::new(self, &options.stopping.calls);
        let deadline = wait_limit.map(|limit| Instant::now() + limit);

        let outcome = tokio::select! {
            outcome = self.outcome() => Some(outcome),
            () = sleep_until(deadline) => None,
            () = self.report_progress(options) => None,
        };

        guard.cancels_on_drop = false;

        outcome
    }

    async fn outcome(&self) -> UploadOutcome {
        let mut outcome = self.outcome.clone();
        let outcome = outcome.wait_for(Option::is_some).await;
        outcome.ok().and_then(|outcome| outcome.clone()).unwrap_or_else(|| {
            Err(Failure::new(Code::Cancelled, "upload_build: the upload was stopped before its end")
                .hint("call again with `path` to resume the upload"))
        })
    }

    /// Reports the progress repeatedly, because hosts give up on calls that report nothing. Never returns.
    async fn report_progress(&self, options: &CallOptions) {
        let mut ticks = tokio::time::interval(self.progress_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        loop {
            ticks.tick().await;
            let progress = &self.progress;
            options.progress.report(progress.sent(), progress.total(), &progress.describe());
        }
    }

    fn is_finished(&self) -> bool {
        self.outcome.borrow().is_some()
    }
}

/// Counts a waiting caller. If the last caller disconnects before the end, the upload is cancelled, except during the
/// shutdown of the process.
struct WaiterGuard<'a> {
    upload: &'a BackgroundUpload,
    shutdown: &'a CancellationToken,
    cancels_on_drop: bool,
}

impl<'a> WaiterGuard<'a> {
    fn new(upload: &'a BackgroundUpload, shutdown: &'a CancellationToken) -> Self {
        upload.waiting.fetch_add(1, Relaxed);
        Self { upload, shutdown, cancels_on_drop: true }
    }
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        let is_last = self.upload.waiting.fetch_sub(1, Relaxed) == 1;
        if self.cancels_on_drop && is_last && !self.shutdown.is_cancelled() {
            self.upload.cancelled.cancel();
        }
    }
}
