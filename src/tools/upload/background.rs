//! Uploads that continue while no caller waits for them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use super::{FinishedUpload, UploadIds, UploadProgress, job::UploadJob};
use crate::{
    failure::{Code, Failure},
    tools::{caller::CallerContext, files::sleep_until},
};

/// Maximum number of uploads whose outcome is kept. The oldest finished uploads are removed first.
const MAX_UPLOADS: usize = 100;

/// Outcome of an upload.
type UploadOutcome = Result<FinishedUpload, Failure>;

/// An upload in a task of its own.
#[derive(Clone, Debug)]
pub(crate) struct BackgroundUpload {
    progress: Arc<UploadProgress>,
    outcome: watch::Receiver<Option<UploadOutcome>>,
    is_resumable: Arc<AtomicBool>,
    ids: Arc<Mutex<Option<UploadIds>>>,
    /// Equal for uploads of the same content with the same request.
    identity: String,
    /// Number of callers that wait for the upload.
    waiting: Arc<AtomicUsize>,
    cancelled: CancellationToken,
    progress_interval: Duration,
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

impl BackgroundUpload {
    /// Starts a task that runs `job` to its end.
    fn spawn(job: UploadJob) -> Self {
        let (sender, outcome) = watch::channel(None);
        let upload = Self {
            progress: Arc::clone(job.progress()),
            outcome,
            is_resumable: Arc::clone(&job.is_resumable),
            ids: Arc::clone(&job.ids),
            identity: job.identity(),
            waiting: Arc::default(),
            cancelled: job.cancelled().clone(),
            progress_interval: job.session.timing.progress_interval,
        };

        tokio::spawn(async move {
            let outcome = job.run().await;
            // The value is kept even if there is no receiver at the moment.
            sender.send_replace(Some(outcome));
        });

        upload
    }

    /// Returns the ids of the upload at the service, or `None` before its initiation.
    pub(crate) fn ids(&self) -> Option<UploadIds> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the progress of the upload.
    pub(crate) fn progress(&self) -> &UploadProgress {
        &self.progress
    }

    /// Waits for the outcome. Returns `None` if `wait_limit` passes first.
    ///
    /// If the future is dropped earlier, the upload is cancelled, unless another caller waits for it.
    pub(crate) async fn wait(
        &self,
        caller: &CallerContext,
        wait_limit: Option<Duration>,
    ) -> Option<UploadOutcome> {
        let mut guard = WaiterGuard::new(self, &caller.stopping.calls);
        let deadline = wait_limit.map(|limit| Instant::now() + limit);

        let outcome = tokio::select! {
            outcome = self.outcome() => Some(outcome),
            () = sleep_until(deadline) => None,
            () = self.report_progress(caller) => None,
        };

        guard.cancels_on_drop = false;

        outcome
    }

    async fn outcome(&self) -> UploadOutcome {
        let mut outcome = self.outcome.clone();
        let outcome = outcome.wait_for(Option::is_some).await;
        outcome.ok().and_then(|outcome| outcome.clone()).unwrap_or_else(|| Err(stopped_failure()))
    }

    /// Reports the progress repeatedly, because hosts give up on calls that report nothing. Never returns.
    async fn report_progress(&self, caller: &CallerContext) {
        let mut ticks = tokio::time::interval(self.progress_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        loop {
            ticks.tick().await;
            let progress = &self.progress;
            caller.progress.report(progress.sent(), progress.total(), &progress.describe());
        }
    }

    /// Cancels the upload if it is in progress and cannot be resumed, and waits for its end.
    async fn cancel_unless_resumable(&self) {
        if !self.is_finished() && !self.is_resumable.load(Relaxed) {
            self.cancelled.cancel();
            drop(self.outcome().await);
        }
    }

    fn is_finished(&self) -> bool {
        self.outcome.borrow().is_some()
    }
}

/// Returns the failure of an upload whose task ended without an outcome.
fn stopped_failure() -> Failure {
    Failure::new(Code::Cancelled, "upload_build: the upload was stopped before its end")
        .hint("call again with `path` to resume the upload")
}

/// The uploads of this process, by their tokens.
#[derive(Debug, Default)]
pub(crate) struct BackgroundUploads(Mutex<BTreeMap<String, BackgroundUpload>>);

impl BackgroundUploads {
    /// Starts an upload, unless an equal upload is in progress. Returns the token and the upload.
    pub(crate) fn start(&self, job: UploadJob) -> (String, BackgroundUpload) {
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = job.identity();
        let is_equal = |upload: &BackgroundUpload| {
            upload.identity == identity && !upload.is_finished() && !upload.cancelled.is_cancelled()
        };
        if let Some((token, upload)) = uploads.iter().find(|(_, upload)| is_equal(upload)) {
            return (token.clone(), upload.clone());
        }

        let token = format!("upload_{}", uuid::Uuid::now_v7().simple());
        let upload = BackgroundUpload::spawn(job);
        // The number of kept outcomes bounds the memory.
        remove_oldest_finished(&mut uploads);
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
                .hint("call again with `path`: an interrupted upload is resumed, and `list_builds` shows a finished upload")
        })
    }

    /// Cancels the uploads that cannot be resumed. It is called before the process ends.
    pub(crate) async fn cancel_unresumable_uploads(&self) {
        let uploads: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        futures_util::future::join_all(uploads.iter().map(BackgroundUpload::cancel_unless_resumable)).await;
    }
}

/// Removes finished uploads until there is room for another upload.
fn remove_oldest_finished(uploads: &mut BTreeMap<String, BackgroundUpload>) {
    while uploads.len() >= MAX_UPLOADS {
        // Tokens begin with the time, so that the first token is the oldest.
        let oldest = uploads.iter().find(|(_, upload)| upload.is_finished());
        let Some(token) = oldest.map(|(token, _)| token.clone()) else { return };
        uploads.remove(&token);
    }
}
