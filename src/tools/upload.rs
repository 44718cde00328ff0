//! Uploading a build: initiate, part addresses, parallel parts, complete (specification, Multipart build upload;
//! supplement 10). Constant memory whatever the size; an upload that cannot be finished is cancelled at the service, and
//! one whose process was killed is taken up again.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

mod background;
mod completion;
mod file_digest;
mod file_services;
mod journal;
mod part_body;
mod part_uploader;
mod parts;
mod plan;
mod platform;
mod progress;
pub mod provenance;
mod request;
mod session;
mod source_file;
mod start;
mod timing;

pub use background::{BackgroundUpload, BackgroundUploads};
pub use file_services::{FileServices, FilesConfig};
pub use platform::by_name as platform_from_file_name;
pub use progress::UploadProgress;
pub use request::{UploadHandle, UploadRequest};
pub use source_file::SourceFile;
pub use timing::UploadTiming;

use self::{
    journal::{PartEtags, UploadJournal},
    part_uploader::{PartUploader, was_refused},
    plan::{UploadMode, UploadPlan},
    session::UploadSession,
};
use crate::{
    client::StorageClient,
    failure::{Code, Failure},
    fields::Fields,
};

/// What is to be uploaded, and with what.
#[derive(Debug)]
pub struct UploadJob {
    counter: UploadSession,
    storage: Arc<StorageClient>,
    source: SourceFile,
    /// Arguments of `initiate_build_upload` but for the size and the project.
    arguments: Fields,
    /// Digest of what the caller asked for: another wish is another upload.
    request_digest: String,
    progress: Arc<UploadProgress>,
    /// How long the service keeps what has arrived.
    span: Duration,
    /// Directory of the journals; `None`: an upload that is cut off begins anew.
    state: Option<PathBuf>,
    /// Whether an unfinished upload of the same file is taken up; otherwise it is cancelled.
    resumes: bool,
    /// Whether the digest of the file is made.
    hashes: bool,
    /// Whether it could be taken up if the process ended now.
    is_noted: Arc<AtomicBool>,
    /// What the service calls it, once it has begun there.
    begun: Arc<Mutex<Option<UploadIds>>>,
}

/// An upload as the service knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the service's own names speak for themselves")]
pub struct UploadIds {
    pub build_id: String,
    /// Absent for a file in one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    pub object_key: String,
}

impl From<&UploadPlan> for UploadIds {
    fn from(plan: &UploadPlan) -> Self {
        let upload_id = match &plan.flow {
            UploadMode::Parts { upload_id, .. } => Some(upload_id.clone()),
            UploadMode::Whole { .. } => None,
        };
        Self { build_id: plan.build_id.clone(), upload_id, object_key: plan.object_key.clone() }
    }
}

/// A finished upload (supplement 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the service's own names speak for themselves")]
pub struct FinishedUpload {
    pub build_id: String,
    pub project_id: Option<String>,
    pub name: String,
    pub file_name: String,
    /// Bytes.
    pub size: u64,
    pub parts: u64,
    /// Parts that an earlier, cut-off upload had sent.
    pub parts_resumed: u64,
    pub seconds: f64,
    /// Bytes that had to be sent more than once.
    pub bytes_sent_again: u64,
    /// Of the file; absent with `checksum: false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// An opened upload, new or taken up.
struct OpenUpload {
    plan: UploadPlan,
    tags: PartEtags,
    journal: Option<UploadJournal>,
    stage: UploadStage,
}

/// How far an upload is at the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UploadStage {
    UploadIds,
    /// It has been cancelled, and no other one was begun in its place.
    Cancelled,
    /// It is a build already.
    Built,
}

impl UploadJob {
    /// How far it has come.
    pub fn progress(&self) -> &Arc<UploadProgress> {
        &self.progress
    }

    /// Ends the upload when it is cancelled: the service frees what it holds for it.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.counter.cancelled
    }

    /// What another upload of the same has too: the file, its content, the project and what is asked for.
    fn identity(&self) -> String {
        let project = self.counter.project.as_deref().unwrap_or_default();
        format!(
            "{}\n{}\n{project}\n{}",
            self.source.path().display(),
            self.source.stamp(),
            self.request_digest
        )
    }

    /// Uploads the file. When this fails, the upload has been cancelled at the service, or the failure says what remains.
    ///
    /// # Errors
    /// Those of the operations; `file_error` when the file cannot be read or changes; `service_unavailable`, `rejected`
    /// or `bad_response` when the storage host does not take a part; `cancelled`.
    pub async fn run(mut self) -> Result<FinishedUpload, Failure> {
        self.progress.begin();
        self.counter.allow(self.span);

        let mut opened = self.open().await?;
        self.is_noted.store(opened.journal.is_some(), Relaxed);

        let resumed = opened.tags.len() as u64;
        let sent = self.send(&mut opened).await;
        let sha256 = match sent {
            Ok(sha256) => sha256,
            Err(failure) => return Err(self.give_up(opened, failure).await),
        };

        if let Some(journal) = opened.journal {
            journal.remove();
        }

        Ok(FinishedUpload {
            build_id: opened.plan.build_id.clone(),
            project_id: self.counter.project.clone(),
            name: self.name().to_owned(),
            file_name: self.source.file_name(),
            size: self.source.size(),
            parts: opened.plan.total_parts(),
            parts_resumed: resumed,
            seconds: self.progress.seconds(),
            bytes_sent_again: self.progress.sent_again(),
            sha256,
        })
    }

    async fn send(&self, opened: &mut OpenUpload) -> Result<Option<String>, Failure> {
        let OpenUpload { plan, tags, journal, stage } = opened;
        self.note(plan);

        let mut sent = self.send_parts(plan, tags, journal.as_mut()).await;
        // The address of a whole file is good once: another one comes with another upload (supplement 10.6).
        if let (Err(failure), UploadMode::Whole { .. }) = (&sent, &plan.flow)
            && was_refused(failure)
            && self.discard(plan).await.is_ok()
        {
            *stage = UploadStage::Cancelled;
            *plan = self.initiate().await?;
            *stage = UploadStage::UploadIds;
            self.note(plan);
            sent = self.send_parts(plan, tags, None).await;
        }
        let sha256 = sent?;
        self.source.unchanged()?;

        if *stage != UploadStage::Built {
            self.complete(plan, tags).await?;
        }

        Ok(sha256)
    }

    fn note(&self, plan: &UploadPlan) {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.into());
    }

    async fn send_parts(
        &self,
        plan: &UploadPlan,
        tags: &mut PartEtags,
        journal: Option<&mut UploadJournal>,
    ) -> Result<Option<String>, Failure> {
        tokio::select! {
            sent = parts::send(self.part_uploader(plan), tags, journal) => sent,
            () = self.counter.cancelled.cancelled() => Err(cancelled()),
        }
    }

    fn part_uploader(&self, plan: &UploadPlan) -> Arc<PartUploader> {
        Arc::new(PartUploader {
            counter: self.counter.clone(),
            plan: plan.clone(),
            source: self.source.clone(),
            hashes: self.hashes,
            progress: Arc::clone(&self.progress),
            storage: Arc::clone(&self.storage),
        })
    }

    fn name(&self) -> &str {
        self.arguments.get("name").and_then(Value::as_str).unwrap_or_default()
    }
}

fn cancelled() -> Failure {
    Failure::new(Code::Cancelled, "upload_build: cancelled by the caller")
}
