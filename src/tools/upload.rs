//! Uploads of builds: initiation, addresses of the parts, parallel transfer of the parts, completion (service.md 10).
//!
//! Memory use does not depend on the size of the file. An upload that fails is cancelled at the service; an upload
//! whose process was killed is resumed from its journal. While a file is being uploaded, an equal upload of it is
//! refused.
//!
//! - A `request` names a file and the arguments of its build; the `provenance` of the file completes them.
//! - An `UploadJob` uploads the file: its `session` calls the service, and its `parts` go to the storage host.
//! - The `services` keep uploads that continue while no caller waits for them.
//! - A `remote` upload is one whose bytes the caller sends.

use std::{path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::{
    journal::{JournalError, JournalHeader, RecordedUpload, UploadJournal},
    parts::PartSender,
    session::{
        CancelOutcome, PartEtags, UploadPlan, UploadSession, cancelled_failure, describe_cancellation,
    },
    source::SourceFile,
};
use crate::{
    backoff::Backoff,
    call::RequestPreview,
    client::{CALL_LIMIT, StorageClient},
    failure::{Cause, Code, Failure},
    service::api::uploads::InitiateBuildUpload,
};

mod journal;
mod parts;
pub mod provenance;
mod remote;
mod request;
mod services;
mod session;
mod source;

pub(crate) use parts::UploadProgress;
pub(crate) use remote::RemoteUpload;
pub use remote::{PartAddress, RemoteUploadAnswer};
pub use request::{BuildArguments, platform_from_file_name};
pub(crate) use request::{UploadHandle, UploadMethod, UploadRequest, platform_violation};
pub use services::{FileServices, FilesConfig};

/// Hint for an upload that failed and can be resumed.
const RESUME_HINT: &str = "the parts that were sent are kept: upload the same file again (on the command line with \
                           `--resume`) to resume the upload";

/// Pauses and time limits of uploads. Programs use the default; tests use shorter times.
#[derive(Clone, Debug)]
pub struct UploadTiming {
    /// Pauses between attempts.
    pub backoff: Backoff,
    /// Maximum number of attempts for one part or call, including the first.
    pub attempts: u32,
    /// A part is sent again if the storage host accepts no byte for this long.
    pub stall_limit: Duration,
    /// Time limit of the cancellation of an upload.
    pub cancel_limit: Duration,
    /// Interval of progress messages.
    pub progress_interval: Duration,
    /// How long a call of the tool waits before it answers that the upload continues.
    pub wait_limit: Duration,
}

impl Default for UploadTiming {
    fn default() -> Self {
        Self {
            // Pauses of 1, 2, 4 and 8 s (service.md 10.6).
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(8), 2.0),
            attempts: 5,
            stall_limit: Duration::from_secs(60),
            cancel_limit: Duration::from_secs(12),
            progress_interval: Duration::from_secs(1),
            wait_limit: CALL_LIMIT,
        }
    }
}

impl UploadTiming {
    /// Returns the pauses between the attempts.
    fn pauses(&self) -> impl Iterator<Item = Duration> + Send + use<> {
        self.backoff.pauses().take(self.attempts.saturating_sub(1) as usize)
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

/// The build that an upload has become.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct UploadedBuild {
    pub build_id: String,
    pub project_id: Option<String>,
    pub name: String,
    pub file_name: String,
    pub platform: String,
    /// Bytes.
    pub size: u64,
    pub parts: u64,
}

impl UploadedBuild {
    fn new(plan: &UploadPlan, initiation: &InitiateBuildUpload, project: Option<&str>) -> Self {
        Self {
            build_id: plan.ids.build_id.clone(),
            project_id: project.map(str::to_owned),
            name: initiation.name.clone(),
            file_name: initiation.file.file_name.clone(),
            platform: json!(initiation.platform).as_str().unwrap_or_default().to_owned(),
            size: plan.size,
            parts: plan.total_parts(),
        }
    }
}

/// A finished upload (service.md 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct FinishedUpload {
    #[serde(flatten)]
    pub build: UploadedBuild,
    /// Parts that an interrupted upload had already sent.
    pub parts_resumed: u64,
    pub seconds: f64,
    /// Bytes that had to be sent more than once.
    pub bytes_sent_again: u64,
    /// SHA-256 of the file; absent with `checksum: false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An upload with everything that it needs.
#[derive(Debug)]
pub(crate) struct UploadJob {
    session: UploadSession,
    storage: Arc<StorageClient>,
    source: SourceFile,
    initiation: InitiateBuildUpload,
    /// Digest of the arguments of the caller. An upload is resumed only by an equal request.
    request_digest: String,
    progress: Arc<UploadProgress>,
    /// How long the service keeps an unfinished upload.
    time_limit: Duration,
    /// Directory of the journals; `None` if uploads cannot be resumed.
    journal_directory: Option<PathBuf>,
    /// Whether an unfinished upload of the same file is resumed. Otherwise it is cancelled.
    resumes: bool,
    /// Whether the SHA-256 of the file is computed.
    hashes: bool,
}

/// An upload at the service, new or resumed.
struct OpenUpload {
    plan: UploadPlan,
    etags: PartEtags,
    journal: Option<UploadJournal>,
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

    /// Uploads the file. If this fails, the upload has been cancelled at the service, or the failure tells what
    /// remains.
    ///
    /// # Errors
    /// Failures of the operations; `file_error` if the file cannot be read or changes, or if it is being uploaded;
    /// `service_unavailable`, `rejected` or `bad_response` if the storage host does not accept a part; `cancelled`.
    pub(crate) async fn run(mut self) -> Result<FinishedUpload, Failure> {
        self.progress.start();
        self.session.set_deadline_after(self.time_limit);
        self.session.resolve_project::<InitiateBuildUpload>().await?;

        let mut upload = self.open().await?;
        self.progress.set_resumable(upload.journal.is_some() && upload.plan.is_multipart());
        let parts_resumed = upload.etags.len() as u64;

        let sha256 = match self.transfer(&mut upload).await {
            Ok(sha256) => sha256,
            Err(failure) => return Err(self.abandon(upload, failure).await),
        };
        if let Some(journal) = upload.journal {
            journal.remove();
        }

        let project = self.session.client.project.as_deref();
        Ok(FinishedUpload {
            build: UploadedBuild::new(&upload.plan, &self.initiation, project),
            parts_resumed,
            seconds: (self.progress.elapsed().as_secs_f64() * 1_000.0).round() / 1_000.0,
            bytes_sent_again: self.progress.bytes_sent_again(),
            sha256,
        })
    }

    /// Resumes the unfinished upload of the same file and request, or initiates a new one.
    async fn open(&self) -> Result<OpenUpload, Failure> {
        let (journal, recorded) = self.open_journal()?;

        if let Some((header, etags)) = recorded
            && let Some(stage) = self.unfinished_stage(&header, &etags).await?
        {
            let plan = header.plan;
            tracing::info!(
                build_id = plan.ids.build_id,
                parts = etags.len(),
                "an unfinished upload is resumed"
            );
            return Ok(OpenUpload { plan, etags, journal, stage });
        }

        match self.initiate().await {
            Ok(plan) => {
                let journal = journal.and_then(|journal| self.begin_journal(journal, &plan));
                Ok(OpenUpload { plan, etags: PartEtags::new(), journal, stage: UploadStage::Initiated })
            }
            Err(failure) => {
                if let Some(journal) = journal {
                    journal.remove();
                }
                Err(failure)
            }
        }
    }

    /// Opens the journal of the file, and returns the unfinished upload that it records.
    ///
    /// # Errors
    /// An equal upload is in progress.
    fn open_journal(&self) -> Result<(Option<UploadJournal>, Option<RecordedUpload>), Failure> {
        let Some(directory) = self.journal_directory.as_deref() else { return Ok((None, None)) };
        let client = &self.session.client;
        let service = client.caller.base_url();
        let project = client.project.as_deref().unwrap_or_default();
        let is_equal = |header: &JournalHeader| header.records(&self.source, &self.request_digest);

        match UploadJournal::open(directory, &self.source, service, project) {
            Ok((journal, recorded)) => Ok((Some(journal), recorded)),
            Err(JournalError::Busy(header)) if header.as_deref().is_none_or(is_equal) => {
                Err(self.source.busy_error())
            }
            // The journal belongs to another request for the same file, or cannot be written. The upload cannot be
            // resumed.
            Err(_) => Ok((None, None)),
        }
    }

    /// Writes the header of the journal of a new upload.
    fn begin_journal(&self, mut journal: UploadJournal, plan: &UploadPlan) -> Option<UploadJournal> {
        let header = JournalHeader::new(&self.source, &self.request_digest, plan);
        match journal.begin(&header) {
            Ok(()) => Some(journal),
            Err(error) => {
                tracing::warn!("the upload cannot be resumed if the process ends: {error}");
                None
            }
        }
    }

    /// Returns the stage of the upload that the journal records, or `None` if it cannot be resumed. An upload that is
    /// not to be resumed is cancelled.
    async fn unfinished_stage(
        &self,
        header: &JournalHeader,
        etags: &PartEtags,
    ) -> Result<Option<UploadStage>, Failure> {
        let plan = &header.plan;
        let is_equal = header.records(&self.source, &self.request_digest);
        if !(self.resumes && is_equal && plan.is_multipart()) {
            self.session.cancel_leftover(&plan.ids).await?;
            return Ok(None);
        }

        // If the process ends from here on, the next upload of the file finds this upload again.
        self.progress.set_resumable(true);
        if self.session.upload_exists(plan).await? {
            return Ok(Some(UploadStage::Initiated));
        }

        // The process may have been killed while it waited for the answer to the completion.
        let has_all_parts = etags.len() as u64 == plan.total_parts();
        if has_all_parts && self.session.is_built(&plan.ids.build_id).await? {
            return Ok(Some(UploadStage::Built));
        }

        self.progress.set_resumable(false);

        Ok(None)
    }

    /// Initiates the upload and returns the plan that the service chose.
    async fn initiate(&self) -> Result<UploadPlan, Failure> {
        if self.session.cancelled.is_cancelled() {
            return Err(cancelled_failure());
        }

        let reply = self.session.client.call(&self.initiation).await?;
        self.session.plan_of(reply.view::<InitiateBuildUpload>(), self.source.size()).await
    }

    /// Sends the parts and completes the upload. Returns the SHA-256 of the file, if it is computed.
    async fn transfer(&self, upload: &mut OpenUpload) -> Result<Option<String>, Failure> {
        let mut sent = self.send_parts(upload).await;

        // The address of a single-part upload cannot be renewed: another address needs another upload (service.md
        // 10.6).
        if let Err(failure) = &sent
            && failure.facts.cause == Some(Cause::AddressRefused)
            && !upload.plan.is_multipart()
            && self.session.cancel_leftover(&upload.plan.ids).await.is_ok()
        {
            upload.stage = UploadStage::Cancelled;
            upload.plan = self.initiate().await?;
            upload.stage = UploadStage::Initiated;
            upload.journal =
                upload.journal.take().and_then(|journal| self.begin_journal(journal, &upload.plan));
            sent = self.send_parts(upload).await;
        }

        let sha256 = sent?;
        // The parts of a file that changed during the transfer may belong to different versions.
        self.source.check_unchanged()?;

        if upload.stage != UploadStage::Built {
            self.session.complete(&upload.plan.ids, &upload.etags).await?;
        }

        Ok(sha256)
    }

    async fn send_parts(&self, upload: &mut OpenUpload) -> Result<Option<String>, Failure> {
        let OpenUpload { plan, etags, journal, .. } = upload;
        self.progress.set_ids(&plan.ids);
        let sender = PartSender {
            session: &self.session,
            storage: &self.storage,
            source: &self.source,
            plan,
            progress: &self.progress,
        };

        tokio::select! {
            sent = sender.send_all(etags, journal.as_mut(), self.hashes) => sent,
            () = self.session.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service.
    ///
    /// The journal is kept if the upload could not be cancelled, so that the next upload of the file resumes or cancels
    /// it.
    async fn abandon(&self, upload: OpenUpload, failure: Failure) -> Failure {
        let OpenUpload { plan, journal, stage, .. } = upload;
        let outcome = match stage {
            UploadStage::Initiated => self.session.cancel(&plan.ids).await,
            UploadStage::Built => return failure,
            UploadStage::Cancelled => {
                if let Some(journal) = journal {
                    journal.remove();
                }
                return failure;
            }
        };
        let is_left = matches!(outcome, CancelOutcome::Failed(_));
        // A file that changed cannot be resumed: its content is a different upload.
        let is_resumable =
            is_left && journal.is_some() && plan.is_multipart() && failure.code != Code::FileError;

        if !is_left && let Some(journal) = journal {
            journal.remove();
        }

        let failure = describe_cancellation(&plan.ids, outcome, failure);
        if is_resumable { failure.and_hint(RESUME_HINT) } else { failure }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// See service.md 10.6.
    #[test]
    fn five_attempts_are_1_2_4_and_8_seconds_apart_and_a_stall_is_60_s() {
        let timing = UploadTiming::default();
        assert_eq!((timing.attempts, timing.stall_limit), (5, Duration::from_secs(60)));
        let timing = UploadTiming { backoff: timing.backoff.without_jitter(), ..timing };
        assert_eq!(timing.pauses().collect::<Vec<_>>(), [1, 2, 4, 8].map(Duration::from_secs));
    }
}
