//! Uploading a build: initiate, part addresses, parallel parts, complete (specification, Multipart build upload;
//! supplement 10). Constant memory whatever the size; an upload that cannot be finished is cancelled at the service, and
//! one whose process was killed is taken up again.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod background;
mod body;
mod digest;
mod journal;
mod meter;
mod parts;
mod plan;
mod platform;
mod preparing;
pub mod provenance;
mod source;

pub use background::{Background, Uploads};
pub use meter::Meter;
pub use platform::by_name as platform_of;
pub use preparing::Order;
pub use source::Source;

use self::{
    journal::{Head, Journal, Tags},
    plan::{Flow, Plan},
};
use crate::{
    api::uploads::{CancelBuildUpload, CompleteBuildUpload, InitiateBuildUpload},
    catalog,
    client::Storage,
    failure::{Code, Failure},
    gateway::{Gateway, PROJECT_ID},
    operation::{Fields, Operation as _},
};

/// What is to be uploaded, and with what.
#[derive(Debug)]
pub struct Errand {
    /// The way to the service.
    pub gateway: Gateway,
    /// The way to the storage host.
    pub storage: Arc<Storage>,
    /// The file.
    pub source: Source,
    /// Arguments of `initiate_build_upload` but for the size; `project_id` among them where it is known.
    pub arguments: Fields,
    /// How far it has come.
    pub meter: Arc<Meter>,
    /// Directory of the journals; `None`: an upload that is cut off begins anew.
    pub state: Option<PathBuf>,
    /// Whether an unfinished upload of the same file is taken up; otherwise it is cancelled.
    pub resumes: bool,
    /// Ends the upload: it is cancelled at the service.
    pub cancelled: CancellationToken,
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
    pub sha256: String,
}

/// An opened upload, new or taken up.
struct Opened {
    plan: Plan,
    project: Option<String>,
    tags: Tags,
    journal: Option<Journal>,
}

impl Errand {
    /// Uploads the file. When this fails, the upload has been cancelled at the service, or the failure says what remains.
    ///
    /// # Errors
    /// Those of the operations; `file_error` when the file cannot be read or changes; `service_unavailable`, `rejected`
    /// or `bad_response` when the storage host does not take a part.
    pub async fn run(&mut self) -> Result<Uploaded, Failure> {
        let mut opened = self.open().await?;
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
            project_id: opened.project,
            name: self.name().unwrap_or_default().to_owned(),
            file_name: self.source.file_name(),
            size: self.source.size(),
            parts: opened.plan.total_parts(),
            parts_resumed: resumed,
            seconds: self.meter.seconds(),
            bytes_sent_again: self.meter.sent_again(),
            sha256,
        })
    }

    async fn send(&mut self, opened: &mut Opened) -> Result<String, Failure> {
        let Opened { plan, tags, journal, .. } = opened;
        let mut sent = self.send_parts(plan, tags, journal.as_mut()).await;
        // The address of a whole file is good once: another one comes with another upload (supplement 10.6).
        if let (Err(failure), Flow::Whole { .. }) = (&sent, &plan.flow)
            && failure.code == Code::Rejected
        {
            self.cancel(plan).await?;
            *plan = self.initiate().await?.0;
            sent = self.send_parts(plan, tags, None).await;
        }
        let sha256 = sent?;
        self.source.unchanged()?;
        self.complete(plan, tags).await?;
        Ok(sha256)
    }

    async fn send_parts(&self, plan: &Plan, tags: &mut Tags, journal: Option<&mut Journal>) -> Result<String, Failure> {
        tokio::select! {
            sent = parts::send(self, plan, tags, journal) => sent,
            () = self.cancelled.cancelled() => Err(Failure::new(Code::Cancelled, "upload_build: cancelled by the caller")),
        }
    }

    /// Takes up the unfinished upload of this very file, if there is one, else initiates.
    async fn open(&mut self) -> Result<Opened, Failure> {
        let service = self.gateway.service().unwrap_or_default().to_owned();
        let (mut journal, found) = match self.state.as_deref().and_then(|state| Journal::open(state, &self.source, &service)) {
            Some((journal, found)) => (Some(journal), found),
            None => (None, None),
        };
        if let Some((head, tags)) = found
            && let Some(opened) = self.take_up(&head, tags).await
        {
            if self.resumes {
                return Ok(Opened { journal, ..opened });
            }
            self.cancel(&opened.plan).await?;
        }
        let (plan, project) = self.initiate().await?;
        if let (Some(kept), Some(head)) = (&mut journal, self.head(&plan, project.clone(), service))
            && let Err(error) = kept.begin(&head)
        {
            tracing::warn!("the upload cannot be taken up again after an end: {error}");
            journal = None;
        }
        Ok(Opened { plan, project, tags: Tags::new(), journal })
    }

    /// The upload that a journal tells of, if it is still there and of this file.
    async fn take_up(&mut self, head: &Head, tags: Tags) -> Option<Opened> {
        let is_same = head.is_of(&self.source) && self.name() == Some(&head.name);
        let asked = self.arguments.get(PROJECT_ID).and_then(Value::as_str);
        if !is_same || asked.is_some_and(|asked| Some(asked) != head.project.as_deref()) {
            return None;
        }
        if let Some(project) = &head.project {
            self.arguments.insert(PROJECT_ID.to_owned(), json!(project));
        }
        let plan = head.plan();
        parts::is_there(self, &plan).await.then(|| {
            tracing::info!(build_id = plan.build_id, parts = tags.len(), "an unfinished upload is taken up");
            Opened { plan, project: head.project.clone(), tags, journal: None }
        })
    }

    async fn initiate(&mut self) -> Result<(Plan, Option<String>), Failure> {
        let entry = catalog::find(InitiateBuildUpload::NAME).ok_or_else(unknown_operation)?;
        let mut arguments = self.arguments.clone();
        arguments.insert("file_size".to_owned(), json!(self.source.size()));
        arguments.entry("multipart").or_insert(Value::Bool(true));
        let reply = self.gateway.call(entry, arguments).await?;
        let project = reply.project().map(str::to_owned);
        if let Some(project) = &project {
            self.arguments.insert(PROJECT_ID.to_owned(), json!(project));
        }
        match Plan::of(reply.value(), self.source.size()) {
            Ok(plan) => Ok((plan, project)),
            Err(failure) => Err(self.cancel_what_was_opened(reply.value(), failure).await),
        }
    }

    async fn complete(&self, plan: &Plan, tags: &Tags) -> Result<(), Failure> {
        let mut arguments = json!({"build_id": plan.build_id});
        if let (Flow::Parts { upload_id, .. }, Value::Object(fields)) = (&plan.flow, &mut arguments) {
            let parts = tags.iter().map(|(number, tag)| json!({"part_number": number, "etag": tag}));
            fields.insert("upload_id".to_owned(), json!(upload_id));
            fields.insert("object_key".to_owned(), json!(plan.object_key));
            fields.insert("parts".to_owned(), parts.collect());
        }
        self.call(CompleteBuildUpload::NAME, arguments).await.map(drop)
    }

    /// Frees what the service holds for an upload that will not be finished; says in the failure what came of that.
    async fn give_up(&self, opened: Opened, failure: Failure) -> Failure {
        let failure = failure.detail("build_id", opened.plan.build_id.as_str());
        if failure.code == Code::OutcomeUnknown {
            return failure.hint("the build may be complete: look with `get_build`; calling again goes on where it ended");
        }
        let (failure, is_gone) = self.after_cancelling(&opened.plan, failure).await;
        match opened.journal {
            Some(journal) if is_gone => journal.remove(),
            Some(_) => return failure.hint("what was sent is not lost: calling again goes on where it ended"),
            None => {}
        }
        failure
    }

    /// The failure with what became of the upload, and whether it is gone.
    async fn after_cancelling(&self, plan: &Plan, failure: Failure) -> (Failure, bool) {
        let (became, is_gone) = match self.cancel(plan).await {
            Ok(()) => ("cancelled: nothing remains at the service".to_owned(), true),
            Err(error) if error.code == Code::NotFound => ("the service has no such upload any more".to_owned(), true),
            Err(error) => {
                (format!("could not be cancelled ({error}): the service frees its space at the upload's time-out"), false)
            }
        };
        (failure.detail("upload", became), is_gone)
    }

    async fn cancel(&self, plan: &Plan) -> Result<(), Failure> {
        let mut arguments = json!({"build_id": plan.build_id, "object_key": plan.object_key});
        if let (Flow::Parts { upload_id, .. }, Value::Object(fields)) = (&plan.flow, &mut arguments) {
            fields.insert("upload_id".to_owned(), json!(upload_id));
        }
        self.call(CancelBuildUpload::NAME, arguments).await.map(drop)
    }

    /// Cancels an upload whose answer cannot be followed, as far as it names one.
    async fn cancel_what_was_opened(&self, answer: &Value, failure: Failure) -> Failure {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(build_id), Some(object_key)) = (text("build_id"), text("object_key")) else { return failure };
        let flow = match text("upload_id") {
            Some(upload_id) => Flow::Parts { upload_id, part_size: 0, total_parts: 0 },
            None => Flow::Whole { upload_url: String::new() },
        };
        self.after_cancelling(&Plan { build_id, object_key, flow }, failure).await.0
    }

    /// Calls an operation for the project of the upload.
    async fn call(&self, operation: &str, arguments: Value) -> Result<Value, Failure> {
        let entry = catalog::find(operation).ok_or_else(unknown_operation)?;
        let Value::Object(mut arguments) = arguments else { return Err(unknown_operation()) };
        if let Some(project) = self.arguments.get(PROJECT_ID) {
            arguments.insert(PROJECT_ID.to_owned(), project.clone());
        }
        self.gateway.call(entry, arguments).await.map(|reply| reply.value().clone())
    }

    fn name(&self) -> Option<&str> {
        self.arguments.get("name").and_then(Value::as_str)
    }

    fn head(&self, plan: &Plan, project: Option<String>, service: String) -> Option<Head> {
        let Flow::Parts { upload_id, part_size, total_parts } = &plan.flow else { return None };
        Some(Head {
            path: self.source.path().to_owned(),
            size: self.source.size(),
            modified_ns: self.source.modified_ns(),
            service,
            project,
            name: self.name()?.to_owned(),
            build_id: plan.build_id.clone(),
            upload_id: upload_id.clone(),
            object_key: plan.object_key.clone(),
            part_size: *part_size,
            total_parts: *total_parts,
        })
    }
}

/// Operations of the catalog are known.
fn unknown_operation() -> Failure {
    Failure::new(Code::BadResponse, "the operation is not in the catalog")
}
