//! The beginning of an upload: an unfinished one is taken up, or a new one is initiated.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::json;

use super::{
    OpenUpload, UploadJob, UploadStage, cancelled,
    journal::{JournalError, JournalHeader, PartEtags, UploadJournal},
    plan::{UploadMode, UploadPlan},
};
use crate::{
    failure::Failure,
    service::{api::uploads::InitiateBuildUpload, operation::Operation as _},
};

impl UploadJob {
    /// Takes up the unfinished upload of this very file, if there is one, else initiates.
    pub(super) async fn open(&mut self) -> Result<OpenUpload, Failure> {
        self.counter.settle(InitiateBuildUpload::NAME).await?;
        let service = self.counter.gateway.service()?;
        let project = self.counter.project.as_deref().unwrap_or_default();
        let kept =
            self.state.as_deref().map(|state| UploadJournal::open(state, &self.source, service, project));
        let (journal, found) = match kept {
            Some(Ok((journal, found))) => (Some(journal), found),
            Some(Err(JournalError::Busy(others)))
                if others.as_ref().is_none_or(|others| self.is_same(others)) =>
            {
                return Err(self.source.taken());
            }
            Some(Err(_)) | None => (None, None),
        };
        if let Some((head, tags)) = found
            && let Some(stage) = self.left_over(&head, &tags).await?
        {
            let plan = head.plan();
            tracing::info!(build_id = plan.build_id, parts = tags.len(), "an unfinished upload is taken up");
            return Ok(OpenUpload { plan, tags, journal, stage });
        }

        let begun =
            if self.counter.cancelled.is_cancelled() { Err(cancelled()) } else { self.initiate().await };
        match (begun, journal) {
            (Ok(plan), journal) => {
                let journal = journal.and_then(|journal| self.keep(journal, &plan));
                Ok(OpenUpload { plan, tags: PartEtags::new(), journal, stage: UploadStage::UploadIds })
            }
            (Err(failure), journal) => {
                if let Some(journal) = journal {
                    journal.remove();
                }
                Err(failure)
            }
        }
    }

    /// The upload that a journal tells of, if it can be taken up. One that nobody will take up is cancelled.
    async fn left_over(
        &self,
        head: &JournalHeader,
        tags: &PartEtags,
    ) -> Result<Option<UploadStage>, Failure> {
        let plan = head.plan();
        if !(self.resumes && self.is_same(head)) {
            self.discard(&plan).await?;
            return Ok(None);
        }

        // Who ends now finds all of it later.
        self.is_noted.store(true, Relaxed);
        if self.part_uploader(&plan).is_there().await? {
            return Ok(Some(UploadStage::UploadIds));
        }

        // The process may have been killed while it waited for the answer to the completion.
        let has_all = tags.len() as u64 == head.total_parts;
        if has_all && self.is_built(&plan).await? {
            return Ok(Some(UploadStage::Built));
        }

        self.is_noted.store(false, Relaxed);

        Ok(None)
    }

    /// Whether a journal is of this very upload.
    fn is_same(&self, head: &JournalHeader) -> bool {
        head.stamp == self.source.stamp() && head.request_digest == self.request_digest
    }

    pub(super) async fn initiate(&self) -> Result<UploadPlan, Failure> {
        let mut arguments = self.arguments.clone();
        arguments.insert("file_size".to_owned(), json!(self.source.size()));
        let answer = self.counter.call(InitiateBuildUpload::NAME, arguments).await?;

        match UploadPlan::of(&answer, self.source.size()) {
            Ok(plan) => Ok(plan),
            Err(failure) => Err(self.cancel_unusable(&answer, failure).await),
        }
    }

    /// Begins the journal of a new upload; one in a single piece has none.
    fn keep(&self, mut journal: UploadJournal, plan: &UploadPlan) -> Option<UploadJournal> {
        let UploadMode::Parts { upload_id, part_size, total_parts } = &plan.flow else {
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
                tracing::warn!("the upload cannot be taken up again after an end: {error}");
                None
            }
        }
    }
}
