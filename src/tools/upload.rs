//! Uploads of builds: initiation, addresses of the parts, parallel transfer of the parts, completion (service.md 10).
//!
//! Memory use does not depend on the size of the file. An upload that fails is cancelled at the service. One whose process or
//! call has ended is continued by the next equal request.
//!
//! - A `request` names a file and the arguments of its build; the `origin` of the build completes them.
//! - An `UploadJob` uploads the file: its `session` calls the service, its `parts` go to the storage host, and its `state` is
//!   recorded.

use std::{path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use self::{
    parts::PartSender,
    session::{CancelOutcome, UploadPlan, UploadSession, cancelled_failure, describe_cancellation},
    source::SourceFile,
    state::{StateFile, UploadState},
};
use crate::{
    backoff::{Backoff, RetryPolicy},
    call::RequestPreview,
    client::{CALL_LIMIT, StorageClient},
    failure::{Cause, Failure},
    service::api::uploads::InitiateBuildUpload,
    tools::{call_options::CallOptions, files::TransferProgress},
};

pub mod origin;
mod parts;
mod request;
mod services;
mod session;
mod source;
mod state;

pub use request::{BuildArguments, platform_from_file_name};
pub(crate) use request::{UploadMethod, UploadRequest};
pub use services::{FileServices, FilesConfig};

/// Hint for an upload that failed and could not be cancelled.
const CONTINUE_HINT: &str = "upload the same file again to continue: the parts that were sent are kept";

/// Pauses and time limits of uploads. Programs use the default; tests use shorter times.
#[derive(Clone, Debug)]
pub struct UploadTiming {
    /// Attempts of one part or call.
    pub retries: RetryPolicy,
    /// A part is sent again if the storage host accepts no byte for this long.
    pub stall_limit: Duration,
    /// Time limit of the cancellation of an upload.
    pub cancel_limit: Duration,
    /// Interval of progress messages.
    pub progress_interval: Duration,
    /// After this time, a call of the tool begins no further part.
    pub wait_limit: Duration,
}

impl Default for UploadTiming {
    fn default() -> Self {
        Self {
            // Pauses of 1, 2, 4 and 8 s (service.md 10.6).
            retries: RetryPolicy {
                attempts: 5,
                backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(8), 2.0),
            },
            stall_limit: Duration::from_secs(60),
            cancel_limit: Duration::from_secs(12),
            progress_interval: Duration::from_secs(1),
            wait_limit: CALL_LIMIT,
        }
    }
}

/// The ids of an upload at the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct UploadIds {
    pub build_id: String,
    /// Absent for a single-part upload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    pub object_key: String,
}

/// The end of a request to upload a file.
#[derive(Clone, Debug)]
pub(crate) enum UploadEnd {
    Finished(Box<FinishedUpload>),
    /// The time of the call is over. An equal call continues the upload.
    Paused {
        ids: UploadIds,
        progress: String,
    },
}

/// A finished upload (service.md 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct FinishedUpload {
    pub build_id: String,
    pub project_id: Option<String>,
    pub name: String,
    pub file_name: String,
    pub platform: String,
    /// Bytes.
    pub size: u64,
    pub parts: u64,
    /// Parts that an interrupted upload had already sent.
    pub parts_resumed: u64,
    pub seconds: f64,
    /// Bytes that had to be sent more than once.
    pub bytes_sent_again: u64,
    pub sha256: String,
}

/// An upload with everything that it needs.
#[derive(Debug)]
pub(crate) struct UploadJob {
    session: UploadSession,
    storage: Arc<StorageClient>,
    source: SourceFile,
    initiation: InitiateBuildUpload,
    progress: Arc<TransferProgress>,
    /// How long the service keeps an unfinished upload.
    time_limit: Duration,
    /// After this time no further part is begun.
    pause_at: Option<Instant>,
    /// Directory of the states, and the digest of the arguments of the caller.
    states: Option<PathBuf>,
    request_digest: String,
}

/// An upload at the service, new or continued.
struct OpenUpload {
    plan: UploadPlan,
    state: UploadState,
    stage: UploadStage,
}

/// State of an upload at the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadStage {
    /// The service waits for parts or for the completion.
    Initiated,
    /// The upload was cancelled, and no other upload was initiated in its place.
    Cancelled,
    /// The upload has become a build.
    Built,
}

impl UploadJob {
    /// Returns the request that initiates the upload, which is not sent.
    ///
    /// # Errors
    /// Those of the initiation before its request.
    pub(crate) async fn preview(&self) -> Result<RequestPreview, Failure> {
        self.session.client.preview(&self.initiation).await
    }

    /// Runs the upload for a call of a host, and reports its progress. A host that gives up has the upload cancelled at the
    /// service, but the end of the process leaves it for the next call. After `wait_limit` no further part is begun.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(crate) async fn run_for_host(
        mut self,
        options: &CallOptions,
        wait_limit: Option<Duration>,
    ) -> Result<UploadEnd, Failure> {
        self.pause_at = wait_limit.map(|limit| Instant::now() + limit);
        let progress = Arc::clone(&self.progress);
        let mut ticks = tokio::time::interval(self.session.timing.progress_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);

        let (cancelled, shutdown) = (self.session.cancelled.clone(), options.stopping.calls.clone());
        let _cancel_on_drop = CancelOnDrop { cancelled, shutdown };
        let mut running = tokio::spawn(self.run());
        loop {
            tokio::select! {
                ended = &mut running => return ended.unwrap_or_else(|_| Err(cancelled_failure())),
                _ = ticks.tick() => progress.report_to(options),
            }
        }
    }

    /// Uploads the file. If this fails, the upload has been cancelled at the service, or the failure tells what
    /// remains.
    ///
    /// # Errors
    /// Failures of the operations; `file_error` if the file cannot be read or changes; `service_unavailable`, `rejected` or
    /// `bad_response` if the storage host does not accept a part; `cancelled`.
    pub(crate) async fn run(mut self) -> Result<UploadEnd, Failure> {
        self.progress.start_clock();
        self.session.set_deadline_after(self.time_limit);
        self.session.resolve_project::<InitiateBuildUpload>().await?;

        let file = self.state_file();
        let mut upload = self.open(&file).await?;
        let parts_resumed = upload.state.etags.len() as u64;

        let sha256 = match self.transfer(&mut upload, &file).await {
            Ok(Some(sha256)) => sha256,
            Ok(None) => {
                let (ids, progress) = (upload.plan.ids, self.progress.describe());
                return Ok(UploadEnd::Paused { ids, progress });
            }
            Err(failure) => return Err(self.abandon(upload, &file, failure).await),
        };
        file.remove();

        let InitiateBuildUpload { name, platform, file, .. } = self.initiation;
        Ok(UploadEnd::Finished(Box::new(FinishedUpload {
            parts: upload.plan.total_parts(),
            build_id: upload.plan.ids.build_id,
            project_id: self.session.client.project,
            name,
            file_name: file.file_name,
            platform: json!(platform).as_str().unwrap_or_default().to_owned(),
            size: file.file_size,
            parts_resumed,
            seconds: (self.progress.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0,
            bytes_sent_again: self.progress.bytes_again(),
            sha256,
        })))
    }

    /// Returns the file that records this upload.
    fn state_file(&self) -> StateFile {
        let client = &self.session.client;
        let path = self.source.path().to_string_lossy();
        let project = client.project.as_deref().unwrap_or_default();
        StateFile::new(
            self.states.as_deref(),
            [&path, client.caller.base_url(), project, &self.request_digest],
        )
    }

    /// Continues the unfinished upload of the same file and request, or initiates a new one.
    async fn open(&self, file: &StateFile) -> Result<OpenUpload, Failure> {
        if let Some(state) = file.read()
            && let Some(upload) = self.continued(state).await?
        {
            let sent = upload.state.etags.keys().map(|number| upload.plan.part_range(*number));
            self.progress.add_present(sent.map(|range| range.end - range.start).sum());
            tracing::info!(build_id = upload.plan.ids.build_id, "an unfinished upload is continued");
            return Ok(upload);
        }

        let plan = self.initiate().await?;
        let state = UploadState::new(&self.source, &plan);
        file.write(&state);
        Ok(OpenUpload { plan, state, stage: UploadStage::Initiated })
    }

    /// Returns the recorded upload if the service still has it. One that cannot be continued is cancelled.
    async fn continued(&self, mut recorded: UploadState) -> Result<Option<OpenUpload>, Failure> {
        let Some(plan) = recorded.plan(&self.source) else {
            self.session.cancel_leftover(&recorded.ids).await?;
            return Ok(None);
        };
        let total = plan.total_parts();
        recorded.etags.retain(|number, _| (1..=total).contains(number));

        let stage = if self.session.upload_exists(&plan).await? {
            UploadStage::Initiated
        } else if recorded.etags.len() as u64 == total && self.session.is_built(&plan.ids.build_id).await? {
            // The process ended while it waited for the answer to the completion.
            UploadStage::Built
        } else {
            return Ok(None);
        };

        Ok(Some(OpenUpload { plan, state: recorded, stage }))
    }

    /// Initiates the upload and returns the plan that the service chose.
    async fn initiate(&self) -> Result<UploadPlan, Failure> {
        if self.session.cancelled.is_cancelled() {
            return Err(cancelled_failure());
        }

        let reply = self.session.client.call(&self.initiation).await?;
        self.session.plan_of(reply.view::<InitiateBuildUpload>(), self.source.size()).await
    }

    /// Sends the parts and completes the upload. Returns the SHA-256 of the file, or `None` if parts are missing because the
    /// time of the call is over.
    async fn transfer(&self, upload: &mut OpenUpload, file: &StateFile) -> Result<Option<String>, Failure> {
        let digest = self.source.start_digest();
        if let Err(failure) = self.send_parts(upload, file).await {
            if upload.plan.is_multipart() || failure.facts.cause != Some(Cause::AddressRefused) {
                return Err(failure);
            }
            self.restart(upload, file, failure).await?;
        }

        // The parts of a file that changed during the transfer may belong to different versions.
        self.source.check_unchanged()?;
        if (upload.state.etags.len() as u64) < upload.plan.total_parts() {
            return Ok(None);
        }
        if upload.stage != UploadStage::Built {
            self.session.complete(&upload.plan.ids, &upload.state.etags).await?;
        }

        digest.finish().await.map(Some)
    }

    async fn send_parts(&self, upload: &mut OpenUpload, file: &StateFile) -> Result<(), Failure> {
        let OpenUpload { plan, state, .. } = upload;
        let sender = PartSender {
            session: &self.session,
            storage: &self.storage,
            source: &self.source,
            plan,
            progress: &self.progress,
        };

        tokio::select! {
            sent = sender.send_all(state, file, self.pause_at) => sent,
            () = self.session.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Initiates another upload in place of one whose only address was refused with `refusal`: the address of an upload in one
    /// piece cannot be renewed (service.md 10.6). Sends the file.
    async fn restart(
        &self,
        upload: &mut OpenUpload,
        file: &StateFile,
        refusal: Failure,
    ) -> Result<(), Failure> {
        if self.session.cancel_leftover(&upload.plan.ids).await.is_err() {
            return Err(refusal);
        }

        upload.stage = UploadStage::Cancelled;
        upload.plan = self.initiate().await?;
        upload.stage = UploadStage::Initiated;
        upload.state = UploadState::new(&self.source, &upload.plan);
        file.write(&upload.state);

        self.send_parts(upload, file).await
    }

    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service. The state of an
    /// upload that could not be cancelled is kept, so that the next upload of the file continues or cancels it.
    async fn abandon(&self, upload: OpenUpload, file: &StateFile, failure: Failure) -> Failure {
        let OpenUpload { plan, stage, .. } = upload;
        match stage {
            UploadStage::Built => return failure,
            UploadStage::Cancelled => {
                file.remove();
                return failure;
            }
            UploadStage::Initiated => {}
        }

        let outcome = self.session.cancel(&plan.ids).await;
        let is_left = matches!(outcome, CancelOutcome::Failed(_));
        if !is_left {
            file.remove();
        }

        let can_continue = is_left && plan.is_multipart() && self.source.check_unchanged().is_ok();
        let failure = describe_cancellation(&plan.ids, outcome, failure);
        if can_continue { failure.and_hint(CONTINUE_HINT) } else { failure }
    }
}

/// Cancels an upload whose caller has given up, except at the end of the process.
struct CancelOnDrop {
    cancelled: CancellationToken,
    shutdown: CancellationToken,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.shutdown.is_cancelled() {
            self.cancelled.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// See service.md 10.6.
    #[test]
    fn five_attempts_are_1_2_4_and_8_seconds_apart_and_a_stall_is_60_s() {
        let timing = UploadTiming::default();
        assert_eq!((timing.retries.attempts, timing.stall_limit), (5, Duration::from_secs(60)));
        let pause = |attempt| timing.retries.backoff.without_jitter().pause_before(attempt);
        assert_eq!([2, 3, 4, 5].map(pause), [1, 2, 4, 8].map(Duration::from_secs));
    }
}
