//! The start of an upload: an unfinished upload is resumed, or a new one is initiated.

use std::sync::atomic::Ordering::Relaxed;

use super::{
    initiation::initiation,
    job::UploadJob,
    journal::{JournalError, JournalHeader, PartEtags, RecordedUpload, UploadJournal},
    open_upload::{OpenUpload, UploadStage},
    plan::{UploadMode, UploadPlan},
    session::cancelled_failure,
};
use crate::{failure::Failure, service::api::uploads::InitiateBuildUpload};

impl UploadJob {
    /// Resumes the unfinished upload of the same file and request, or initiates a new one.
    pub(super) async fn open(&mut self) -> Result<OpenUpload, Failure> {
        self.session.resolve_project::<InitiateBuildUpload>().await?;
        let (journal, recorded) = self.open_journal()?;

        if let Some((header, etags)) = recorded
            && let Some(stage) = self.unfinished_stage(&header, &etags).await?
        {
            let plan = header.plan();
            tracing::info!(build_id = plan.build_id, parts = etags.len(), "an unfinished upload is resumed");
            return Ok(OpenUpload { plan, etags, journal, stage });
        }

        let is_cancelled = self.session.cancelled.is_cancelled();
        let initiated = if is_cancelled { Err(cancelled_failure()) } else { self.initiate().await };
        match initiated {
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

    /// Opens the journal of the file, and returns the unfinished upload that it records. An upload without a journal
    /// cannot be resumed.
    ///
    /// # Errors
    /// An equal upload is in progress.
    fn open_journal(&self) -> Result<(Option<UploadJournal>, Option<RecordedUpload>), Failure> {
        let Some(directory) = self.journal_directory.as_deref() else { return Ok((None, None)) };
        let client = &self.session.client;
        let service = client.gateway.base_url()?;
        let project = client.project.as_deref().unwrap_or_default();

        match UploadJournal::open(directory, &self.source, service, project) {
            Ok((journal, recorded)) => Ok((Some(journal), recorded)),
            Err(JournalError::Busy(header))
                if header.as_ref().is_none_or(|header| self.is_recorded_in(header)) =>
            {
                Err(self.source.busy_error())
            }
            // The journal belongs to another request for the same file, or cannot be written. The upload needs no
            // journal.
            Err(_) => Ok((None, None)),
        }
    }

    /// Returns the stage of the upload that the journal records, or `None` if it cannot be resumed. An upload that is not
    /// to be resumed is cancelled.
    async fn unfinished_stage(
        &self,
        header: &JournalHeader,
        etags: &PartEtags,
    ) -> Result<Option<UploadStage>, Failure> {
        let plan = header.plan();
        if !(self.resumes && self.is_recorded_in(header)) {
            self.session.cancel_leftover(&plan).await?;
            return Ok(None);
        }

        // If the process ends from here on, the next upload of the file finds this upload again.
        self.is_resumable.store(true, Relaxed);
        if self.part_uploader(&plan).upload_exists().await? {
            return Ok(Some(UploadStage::Initiated));
        }

        // The process may have been killed while it waited for the answer to the completion.
        let has_all_parts = etags.len() as u64 == header.total_parts;
        if has_all_parts && self.session.is_built(&plan).await? {
            return Ok(Some(UploadStage::Built));
        }

        self.is_resumable.store(false, Relaxed);

        Ok(None)
    }

    /// Returns whether the journal records an upload of the same content with the same request.
    fn is_recorded_in(&self, header: &JournalHeader) -> bool {
        header.stamp == self.source.stamp() && header.request_digest == self.request_digest
    }

    /// Initiates the upload and returns the plan that the service chose.
    pub(super) async fn initiate(&self) -> Result<UploadPlan, Failure> {
        let size = self.source.size();
        let operation = initiation(self.arguments.clone(), size)?;
        let answer = self.session.call(&operation).await?;

        self.session.plan_of(&answer, size).await
    }

    /// Writes the header of the journal of a new upload. A single-part upload has no journal.
    fn begin_journal(&self, mut journal: UploadJournal, plan: &UploadPlan) -> Option<UploadJournal> {
        let UploadMode::Multipart { upload_id, part_size, total_parts } = &plan.mode else {
            journal.remove();
            return None;
        };
        let begun = journal.begin(&JournalHeader {
            path: self.source.path().to_owned(),
            size: self.source.size(),
            stamp: self.source.stamp(),
            request_digest: self.request_digest.clone(),
            build_id: plan.build_id.clone(),
            upload_id: upload_id.clone(),
            object_key: plan.object_key.clone(),
            part_size: *part_size,
            total_parts: *total_parts,
        });

        match begun {
            Ok(()) => Some(journal),
            Err(error) => {
                tracing::warn!("the upload cannot be resumed if the process ends: {error}");
                None
            }
        }
    }
}
