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
mod body;
mod carrier;
mod counter;
mod digest;
mod ending;
mod file_services;
mod journal;
mod meter;
mod opening;
mod pace;
mod parts;
mod plan;
mod platform;
mod preparing;
pub mod provenance;
mod source;

pub use background::{Background, Uploads};
pub use file_services::{FileServices, FilesConfig};
pub use meter::Meter;
pub use pace::Pace;
pub use platform::by_name as platform_of;
pub use preparing::{Handle, Order};
pub use source::Source;

use self::{
    carrier::{Carrier, was_refused},
    counter::UploadSession,
    journal::{Journal, Tags},
    plan::{Flow, Plan},
};
use crate::{
    client::Storage,
    failure::{Code, Failure},
    fields::Fields,
};

/// What is to be uploaded, and with what.
#[derive(Debug)]
pub struct Errand {
    counter: UploadSession,
    storage: Arc<Storage>,
    source: Source,
    /// Arguments of `initiate_build_upload` but for the size and the project.
    arguments: Fields,
    /// Digest of what the caller asked for: another wish is another upload.
    wish: String,
    meter: Arc<Meter>,
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
    begun: Arc<Mutex<Option<Begun>>>,
}

/// An upload as the service knows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the service's own names speak for themselves")]
pub struct Begun {
    pub build_id: String,
    /// Absent for a file in one piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upload_id: Option<String>,
    pub object_key: String,
}

impl From<&Plan> for Begun {
    fn from(plan: &Plan) -> Self {
        let upload_id = match &plan.flow {
            Flow::Parts { upload_id, .. } => Some(upload_id.clone()),
            Flow::Whole { .. } => None,
        };
        Self { build_id: plan.build_id.clone(), upload_id, object_key: plan.object_key.clone() }
    }
}

/// A finished upload (supplement 15).
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the service's own names speak for themselves")]
pub struct Uploaded {
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
struct Opened {
    plan: Plan,
    tags: Tags,
    journal: Option<Journal>,
    stage: Stage,
}

/// How far an upload is at the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begun,
    /// It has been cancelled, and no other one was begun in its place.
    Cancelled,
    /// It is a build already.
    Built,
}

impl Errand {
    /// How far it has come.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Ends the upload when it is cancelled: the service frees what it holds for it.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.counter.cancelled
    }

    /// What another upload of the same has too: the file, its content, the project and what is asked for.
    fn identity(&self) -> String {
        let project = self.counter.project.as_deref().unwrap_or_default();
        format!("{}\n{}\n{project}\n{}", self.source.path().display(), self.source.stamp(), self.wish)
    }

    /// Uploads the file. When this fails, the upload has been cancelled at the service, or the failure says what remains.
    ///
    /// # Errors
    /// Those of the operations; `file_error` when the file cannot be read or changes; `service_unavailable`, `rejected`
    /// or `bad_response` when the storage host does not take a part; `cancelled`.
    pub async fn run(mut self) -> Result<Uploaded, Failure> {
        self.meter.begin();
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

        Ok(Uploaded {
            build_id: opened.plan.build_id.clone(),
            project_id: self.counter.project.clone(),
            name: self.name().to_owned(),
            file_name: self.source.file_name(),
            size: self.source.size(),
            parts: opened.plan.total_parts(),
            parts_resumed: resumed,
            seconds: self.meter.seconds(),
            bytes_sent_again: self.meter.sent_again(),
            sha256,
        })
    }

    async fn send(&self, opened: &mut Opened) -> Result<Option<String>, Failure> {
        let Opened { plan, tags, journal, stage } = opened;
        self.note(plan);

        let mut sent = self.send_parts(plan, tags, journal.as_mut()).await;
        // The address of a whole file is good once: another one comes with another upload (supplement 10.6).
        if let (Err(failure), Flow::Whole { .. }) = (&sent, &plan.flow)
            && was_refused(failure)
            && self.discard(plan).await.is_ok()
        {
            *stage = Stage::Cancelled;
            *plan = self.initiate().await?;
            *stage = Stage::Begun;
            self.note(plan);
            sent = self.send_parts(plan, tags, None).await;
        }
        let sha256 = sent?;
        self.source.unchanged()?;

        if *stage != Stage::Built {
            self.complete(plan, tags).await?;
        }

        Ok(sha256)
    }

    fn note(&self, plan: &Plan) {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.into());
    }

    async fn send_parts(
        &self,
        plan: &Plan,
        tags: &mut Tags,
        journal: Option<&mut Journal>,
    ) -> Result<Option<String>, Failure> {
        tokio::select! {
            sent = parts::send(self.carrier(plan), tags, journal) => sent,
            () = self.counter.cancelled.cancelled() => Err(cancelled()),
        }
    }

    fn carrier(&self, plan: &Plan) -> Arc<Carrier> {
        Arc::new(Carrier {
            counter: self.counter.clone(),
            plan: plan.clone(),
            source: self.source.clone(),
            hashes: self.hashes,
            meter: Arc::clone(&self.meter),
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
