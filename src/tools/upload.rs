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
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub(crate) use self::request::UploadRequest;
pub use self::request::{BuildArguments, PLATFORMS, platform_from_file_name};
use self::{
    parts::{StateFile, UploadState},
    session::{UploadSession, cancelled_failure, describe_cancellation},
    source::SourceFile,
};
pub use super::context::{FileServices, FilesConfig};
use crate::{
    backoff::{Backoff, RetryPolicy},
    call::RequestPreview,
    client::{CALL_LIMIT, StorageClient},
    failure::Failure,
    service::{
        api::uploads::{InitiateBuildUpload, InitiatedUpload},
        catalog::ListedOperation as _,
    },
    text::filled,
    tools::{context::CallOptions, files::TransferProgress, project_client::ProjectClient},
};

pub mod origin;
mod parts;
mod request;
mod session;
mod source;

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

impl UploadIds {
    /// Returns the ids in the answer to an initiation, which are empty where they are missing.
    fn of(answer: &InitiatedUpload) -> Self {
        let upload_id = answer.upload_id.as_deref().and_then(filled);
        Self { build_id: answer.build_id.clone(), upload_id, object_key: answer.object_key.clone() }
    }
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
    /// Directory of the states, and the arguments of the caller.
    states: Option<PathBuf>,
    request: String,
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
        let (progress, interval) = (Arc::clone(&self.progress), self.session.timing.progress_interval);
        let (cancelled, shutdown) = (self.session.cancelled.clone(), options.stopping.calls.clone());
        let _cancel_on_drop = CancelOnDrop { cancelled, shutdown };

        let running = tokio::spawn(self.run());
        let ended = progress.report_during(running, options, interval).await;
        ended.unwrap_or_else(|_| Err(cancelled_failure()))
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
        let ProjectClient { caller, project } = &self.session.client;
        let project = caller.resolve_project(InitiateBuildUpload::entry(), project.as_deref()).await?;
        self.session.client.project = project;

        let file = self.state_file();
        let (mut state, is_built) = self.open(&file).await?;
        let parts_resumed = state.etags.len() as u64;
        let present = state.etags.keys().map(|number| state.part_range(*number));
        self.progress.add_present(present.map(|range| range.end - range.start).sum());

        match self.transfer(&mut state, is_built, &file).await {
            Ok(Some(sha256)) => {
                file.remove();
                Ok(UploadEnd::Finished(Box::new(self.into_finished(state, parts_resumed, sha256))))
            }
            Ok(None) => Ok(UploadEnd::Paused { ids: state.ids, progress: self.progress.describe() }),
            Err(failure) if is_built => Err(failure),
            Err(failure) => Err(self.abandon(&state, &file, failure).await),
        }
    }

    fn state_file(&self) -> StateFile {
        let client = &self.session.client;
        let path = self.source.path().to_string_lossy();
        let project = client.project.as_deref().unwrap_or_default();
        StateFile::new(self.states.as_deref(), [&path, client.caller.base_url(), project, &self.request])
    }

    /// Continues the unfinished upload of the same file and request, or initiates a new one. Returns its state, and whether it
    /// has become a build.
    async fn open(&self, file: &StateFile) -> Result<(UploadState, bool), Failure> {
        if let Some(recorded) = file.read() {
            if !recorded.can_continue(&self.source) {
                self.session.cancel(&recorded.ids).await?;
            } else if self.session.exists(&recorded).await? {
                return Ok((recorded, false));
            } else if recorded.is_complete() && self.session.is_built(&recorded.ids.build_id).await? {
                // The process ended while it waited for the answer to the completion.
                return Ok((recorded, true));
            }
        }

        let state = self.initiate().await?;
        file.write(&state);
        Ok((state, false))
    }

    /// Initiates the upload. It is cancelled if the answer is unusable.
    async fn initiate(&self) -> Result<UploadState, Failure> {
        if self.session.cancelled.is_cancelled() {
            return Err(cancelled_failure());
        }

        let answer = self.session.client.call(&self.initiation).await?.view::<InitiateBuildUpload>();
        let failure = match UploadState::new(&self.source, &answer) {
            Ok(state) => return Ok(state),
            Err(failure) => failure,
        };

        let ids = UploadIds::of(&answer);
        if ids.build_id.is_empty() || ids.object_key.is_empty() {
            return Err(failure.hint("storage space may be reserved until the upload times out"));
        }
        Err(describe_cancellation(&ids, &self.session.cancel(&ids).await, failure))
    }

    /// Sends the parts and completes the upload. Returns the SHA-256 of the file, or `None` if parts are missing because the
    /// time of the call is over.
    async fn transfer(
        &self,
        state: &mut UploadState,
        is_built: bool,
        file: &StateFile,
    ) -> Result<Option<String>, Failure> {
        let digest = self.source.start_digest();
        tokio::select! {
            sent = self.send_parts(state, file) => sent?,
            () = self.session.cancelled.cancelled() => return Err(cancelled_failure()),
        }

        // The parts of a file that changed during the transfer may belong to different versions.
        self.source.check_unchanged()?;
        if !state.is_complete() {
            return Ok(None);
        }
        if !is_built {
            self.session.complete(state).await?;
        }

        digest.await.unwrap_or_else(|_| Err(cancelled_failure())).map(Some)
    }

    fn into_finished(self, state: UploadState, parts_resumed: u64, sha256: String) -> FinishedUpload {
        let InitiateBuildUpload { name, platform, file, .. } = self.initiation;
        FinishedUpload {
            parts: state.total_parts(),
            build_id: state.ids.build_id,
            project_id: self.session.client.project,
            name,
            file_name: file.file_name,
            platform: json!(platform).as_str().unwrap_or_default().to_owned(),
            size: file.file_size,
            parts_resumed,
            seconds: (self.progress.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0,
            bytes_sent_again: self.progress.bytes_again(),
            sha256,
        }
    }

    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service. The state of an
    /// upload that could not be cancelled is kept, so that the next upload of the file continues or cancels it.
    async fn abandon(&self, state: &UploadState, file: &StateFile, failure: Failure) -> Failure {
        let outcome = self.session.cancel(&state.ids).await;
        let failure = describe_cancellation(&state.ids, &outcome, failure);
        if outcome.is_ok() {
            file.remove();
            return failure;
        }

        let can_continue = state.is_multipart() && self.source.check_unchanged().is_ok();
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
