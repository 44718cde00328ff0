//! Uploads that go on while nobody waits for them.

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

use super::{FinishedUpload, UploadIds, UploadJob, UploadProgress};
use crate::{
    failure::{Code, Failure},
    tools::{caller::CallerContext, files::sleep_until},
};

/// Most uploads that are remembered, with their ends; the oldest finished ones go first.
const MOST: usize = 100;

/// How an upload ended.
type UploadOutcome = Result<FinishedUpload, Failure>;

/// An upload in a task of its own.
#[derive(Clone, Debug)]
pub struct BackgroundUpload {
    progress: Arc<UploadProgress>,
    outcome: watch::Receiver<Option<UploadOutcome>>,
    is_noted: Arc<AtomicBool>,
    begun: Arc<Mutex<Option<UploadIds>>>,
    /// Which upload it is: an equal one is not begun beside it.
    identity: String,
    /// How many wait for it now.
    waiting: Arc<AtomicUsize>,
    cancelled: CancellationToken,
    /// How often somebody who waits is told how far it has come.
    progress_interval: Duration,
}

/// Cancels an upload whose last caller goes before its end, unless we go ourselves.
struct WaiterGuard<'a> {
    upload: &'a BackgroundUpload,
    leaving: &'a CancellationToken,
    is_armed: bool,
}

impl<'a> WaiterGuard<'a> {
    fn new(upload: &'a BackgroundUpload, leaving: &'a CancellationToken) -> Self {
        upload.waiting.fetch_add(1, Relaxed);
        Self { upload, leaving, is_armed: true }
    }
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        let is_last = self.upload.waiting.fetch_sub(1, Relaxed) == 1;
        if self.is_armed && is_last && !self.leaving.is_cancelled() {
            self.upload.cancelled.cancel();
        }
    }
}

impl BackgroundUpload {
    /// Runs an errand to its end, whoever waits.
    pub fn spawn(job: UploadJob) -> Self {
        let (sender, outcome) = watch::channel(None);
        let (progress, cancelled) = (Arc::clone(job.progress()), job.cancelled().clone());
        let (is_noted, begun) = (Arc::clone(&job.is_noted), Arc::clone(&job.begun));
        let (identity, progress_interval) = (job.identity(), job.counter.timing.progress_interval);

        tokio::spawn(async move {
            let ended = job.run().await;
            // Nobody may have asked.
            sender.send_replace(Some(ended));
        });
        let waiting = Arc::default();

        Self { progress, outcome, is_noted, begun, identity, waiting, cancelled, progress_interval }
    }

    /// What the service calls it, once it has begun there.
    pub fn begun(&self) -> Option<UploadIds> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How far it has come.
    pub fn progress(&self) -> &UploadProgress {
        &self.progress
    }

    /// Waits for the end, as long as `patience` lasts. Whoever drops this future before cancels the upload, unless somebody
    /// else waits for it too.
    pub async fn finished(
        &self,
        audience: &CallerContext,
        patience: Option<Duration>,
    ) -> Option<UploadOutcome> {
        let mut guard = WaiterGuard::new(self, &audience.shutdown);
        let end = patience.map(|patience| Instant::now() + patience);
        let ended = tokio::select! {
            ended = self.ended() => Some(ended),
            () = sleep_until(end) => None,
            () = self.tell(audience) => None,
        };

        guard.is_armed = false;

        ended
    }

    async fn ended(&self) -> UploadOutcome {
        let mut outcome = self.outcome.clone();
        let ended = outcome.wait_for(Option::is_some).await;
        ended.ok().and_then(|ended| ended.clone()).unwrap_or_else(|| Err(ended_early()))
    }

    /// Tells how far it has come, again and again: hosts give up on who says nothing. Does not end.
    async fn tell(&self, audience: &CallerContext) {
        let mut ticks = tokio::time::interval(self.progress_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            audience.progress.report(self.progress.sent(), self.progress.total(), &self.progress.describe());
        }
    }

    /// Before the process ends: what could not be taken up again is cancelled at the service.
    async fn leave(&self) {
        if !self.is_finished() && !self.is_noted.load(Relaxed) {
            self.cancelled.cancel();
            drop(self.ended().await);
        }
    }

    fn is_finished(&self) -> bool {
        self.outcome.borrow().is_some()
    }
}

/// The task ended without an outcome.
fn ended_early() -> Failure {
    Failure::new(Code::Cancelled, "upload_build: the upload ended before its time")
        .hint("call again with `path`: it goes on where it ended")
}

/// Uploads that were begun, by their tokens.
#[derive(Debug, Default)]
pub struct BackgroundUploads(Mutex<BTreeMap<String, BackgroundUpload>>);

impl BackgroundUploads {
    /// Begins an upload, unless an equal one is under way; gives its token.
    pub fn begin(&self, job: UploadJob) -> (String, BackgroundUpload) {
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let identity = job.identity();
        let is_equal = |one: &BackgroundUpload| {
            one.identity == identity && !one.is_finished() && !one.cancelled.is_cancelled()
        };
        if let Some((token, upload)) = uploads.iter().find(|(_, one)| is_equal(one)) {
            return (token.clone(), upload.clone());
        }

        let (token, upload) =
            (format!("upload_{}", uuid::Uuid::now_v7().simple()), BackgroundUpload::spawn(job));
        while uploads.len() >= MOST {
            // Tokens begin with the time: the first is the oldest.
            let Some(oldest) =
                uploads.iter().find(|(_, one)| one.is_finished()).map(|(token, _)| token.clone())
            else {
                break;
            };
            uploads.remove(&oldest);
        }

        uploads.insert(token.clone(), upload.clone());

        (token, upload)
    }

    /// The upload of a token.
    pub fn find(&self, token: &str) -> Result<BackgroundUpload, Failure> {
        let uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.get(token).cloned().ok_or_else(|| {
            Failure::new(Code::NotFound, "upload_build: this `upload_token` is not of an upload of this server")
                .hint("call again with `path`: an upload that was cut off is taken up, and a finished one is in `list_builds`")
        })
    }

    /// Before the process ends: cancels the uploads that could not be taken up again.
    pub async fn leave(&self) {
        let uploads: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        futures_util::future::join_all(uploads.iter().map(BackgroundUpload::leave)).await;
    }
}
