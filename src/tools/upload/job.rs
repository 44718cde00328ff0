//! One upload, from the open file to the build.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    FinishedUpload, UploadIds, UploadProgress, UploadedBuild,
    journal::{PartEtags, UploadJournal},
    open_upload::{OpenUpload, UploadStage},
    part_uploader::PartUploader,
    parts,
    plan::{UploadMode, UploadPlan},
    session::{UploadSession, cancelled_failure},
    source_file::SourceFile,
};
use crate::{client::StorageClient, failure::Failure, fields::Fields};

/// An upload with everything that it needs.
#[derive(Debug)]
pub(crate) struct UploadJob {
    pub(super) session: UploadSession,
    pub(super) storage: Arc<StorageClient>,
    pub(super) source: SourceFile,
    /// Arguments of `initiate_build_upload` without the file size and the project.
    pub(super) arguments: Fields,
    /// Digest of the arguments of the caller. An upload is resumed only by an equal request.
    pub(super) request_digest: String,
    pub(super) progress: Arc<UploadProgress>,
    /// How long the service keeps an unfinished upload.
    pub(super) time_limit: Duration,
    /// Directory of the journals; `None` if uploads cannot be resumed.
    pub(super) journal_directory: Option<PathBuf>,
    /// Whether an unfinished upload of the same file is resumed. Otherwise it is cancelled.
    pub(super) resumes: bool,
    /// Whether the SHA-256 of the file is computed.
    pub(super) hashes: bool,
    /// Whether the upload could be resumed if the process ended now.
    pub(super) is_resumable: Arc<AtomicBool>,
    /// The ids of the upload, after its initiation.
    pub(super) ids: Arc<Mutex<Option<UploadIds>>>,
}

impl UploadJob {
    /// Returns the progress of the upload.
    pub(super) fn progress(&self) -> &Arc<UploadProgress> {
        &self.progress
    }

    /// Returns the token that cancels the upload. The service then frees the reserved space.
    pub(super) fn cancelled(&self) -> &CancellationToken {
        &self.session.cancelled
    }

    /// Returns a text that is equal for two uploads of the same content with the same request.
    pub(super) fn identity(&self) -> String {
        let project = self.session.client.project.as_deref().unwrap_or_default();
        let (path, stamp) = (self.source.path().display(), self.source.stamp());
        format!("{path}\n{stamp}\n{project}\n{}", self.request_digest)
    }

    /// Uploads the file. If this fails, the upload has been cancelled at the service, or the failure tells what remains.
    ///
    /// # Errors
    /// Failures of the operations; `file_error` if the file cannot be read or changes; `service_unavailable`, `rejected` or
    /// `bad_response` if the storage host does not accept a part; `cancelled`.
    pub(crate) async fn run(mut self) -> Result<FinishedUpload, Failure> {
        self.progress.start();
        self.session.set_deadline_after(self.time_limit);

        let mut upload = self.open().await?;
        self.is_resumable.store(upload.journal.is_some(), Relaxed);
        let parts_resumed = upload.etags.len() as u64;

        let sha256 = match self.transfer(&mut upload).await {
            Ok(sha256) => sha256,
            Err(failure) => return Err(self.abandon(upload, failure).await),
        };

        if let Some(journal) = upload.journal {
            journal.remove();
        }

        let text = |name| self.arguments.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(FinishedUpload {
            build: UploadedBuild {
                build_id: upload.plan.build_id.clone(),
                project_id: self.session.client.project.clone(),
                name: text("name"),
                file_name: self.source.file_name(),
                platform: text("platform"),
                size: self.source.size(),
                parts: upload.plan.total_parts(),
            },
            parts_resumed,
            seconds: self.progress.seconds(),
            bytes_sent_again: self.progress.bytes_sent_again(),
            sha256,
        })
    }

    /// Sends the parts and completes the upload. Returns the SHA-256 of the file, if it is computed.
    async fn transfer(&self, upload: &mut OpenUpload) -> Result<Option<String>, Failure> {
        self.record_ids(&upload.plan);
        let mut sent = self.send_parts(&upload.plan, &mut upload.etags, upload.journal.as_mut()).await;

        // The address of a single-part upload cannot be renewed: another address needs another upload (supplement 10.6).
        if let (Err(failure), UploadMode::SinglePart { .. }) = (&sent, &upload.plan.mode)
            && failure.facts.is_address_refused
            && self.session.cancel_leftover(&upload.plan).await.is_ok()
        {
            upload.stage = UploadStage::Cancelled;
            upload.plan = self.initiate().await?;
            upload.stage = UploadStage::Initiated;
            self.record_ids(&upload.plan);
            sent = self.send_parts(&upload.plan, &mut upload.etags, None).await;
        }

        let sha256 = sent?;
        // The parts of a file that changed during the transfer may belong to different versions.
        self.source.check_unchanged()?;

        if upload.stage != UploadStage::Built {
            self.session.complete(&upload.plan, &upload.etags).await?;
        }

        Ok(sha256)
    }

    fn record_ids(&self, plan: &UploadPlan) {
        *self.ids.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.into());
    }

    async fn send_parts(
        &self,
        plan: &UploadPlan,
        etags: &mut PartEtags,
        journal: Option<&mut UploadJournal>,
    ) -> Result<Option<String>, Failure> {
        tokio::select! {
            sent = parts::send_parts(self.part_uploader(plan), etags, journal) => sent,
            () = self.session.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Returns an uploader for the parts of `plan`.
    pub(super) fn part_uploader(&self, plan: &UploadPlan) -> Arc<PartUploader> {
        Arc::new(PartUploader {
            session: self.session.clone(),
            plan: plan.clone(),
            source: self.source.clone(),
            hashes: self.hashes,
            progress: Arc::clone(&self.progress),
            storage: Arc::clone(&self.storage),
        })
    }
}
