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
    parts::Carrier,
    plan::{Flow, Plan},
};
use crate::{
    api::uploads::{CancelBuildUpload, CompleteBuildUpload, InitiateBuildUpload},
    client::Storage,
    failure::{Code, Failure},
    local::Counter,
    operation::{Fields, Operation as _},
};

/// What is to be uploaded, and with what.
#[derive(Debug)]
pub struct Errand {
    counter: Counter,
    storage: Arc<Storage>,
    source: Source,
    /// Arguments of `initiate_build_upload` but for the size and the project.
    arguments: Fields,
    meter: Arc<Meter>,
    /// Directory of the journals; `None`: an upload that is cut off begins anew.
    state: Option<PathBuf>,
    /// Whether an unfinished upload of the same file is taken up; otherwise it is cancelled.
    resumes: bool,
    cancelled: CancellationToken,
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
    tags: Tags,
    journal: Option<Journal>,
}

impl Errand {
    /// How far it has come.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Ends the upload when it is cancelled: the service frees what it holds for it.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancelled
    }

    /// Uploads the file. When this fails, the upload has been cancelled at the service, or the failure says what remains.
    ///
    /// # Errors
    /// Those of the operations; `file_error` when the file cannot be read or changes; `service_unavailable`, `rejected`
    /// or `bad_response` when the storage host does not take a part; `cancelled`.
    pub async fn run(mut self) -> Result<Uploaded, Failure> {
        let mut opened = self.open().await?;
        let resumed = opened.tags.len() as u64;
        let sha256 = match self.send(&mut opened).await {
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

    async fn send(&mut self, opened: &mut Opened) -> Result<String, Failure> {
        let Opened { plan, tags, journal } = opened;
        let mut sent = self.send_parts(plan, tags, journal.as_mut()).await;
        // The address of a whole file is good once: another one comes with another upload (supplement 10.6).
        if let (Err(failure), Flow::Whole { .. }) = (&sent, &plan.flow)
            && failure.code == Code::Rejected
        {
            self.cancel(plan).await?;
            *plan = self.initiate().await?;
            sent = self.send_parts(plan, tags, None).await;
        }
        let sha256 = sent?;
        self.source.unchanged()?;
        self.complete(plan, tags).await?;
        Ok(sha256)
    }

    async fn send_parts(
        &self,
        plan: &Plan,
        tags: &mut Tags,
        journal: Option<&mut Journal>,
    ) -> Result<String, Failure> {
        tokio::select! {
            sent = parts::send(self.carrier(plan), tags, journal) => sent,
            () = self.cancelled.cancelled() => {
                Err(Failure::new(Code::Cancelled, "upload_build: cancelled by the caller"))
            }
        }
    }

    fn carrier(&self, plan: &Plan) -> Arc<Carrier> {
        Arc::new(Carrier {
            counter: self.counter.clone(),
            plan: plan.clone(),
            source: self.source.clone(),
            meter: Arc::clone(&self.meter),
            storage: Arc::clone(&self.storage),
        })
    }

    /// Takes up the unfinished upload of this very file, if there is one, else initiates.
    async fn open(&mut self) -> Result<Opened, Failure> {
        let service = self.counter.gateway.service()?.to_owned();
        let kept = self.state.as_deref().and_then(|state| Journal::open(state, &self.source, &service));
        let (mut journal, found) = kept.map_or((None, None), |(journal, found)| (Some(journal), found));
        if let Some((head, tags)) = found
            && let Some(plan) = self.unfinished(&head).await
        {
            if self.resumes {
                tracing::info!(
                    build_id = plan.build_id,
                    parts = tags.len(),
                    "an unfinished upload is taken up"
                );
                return Ok(Opened { plan, tags, journal });
            }
            self.cancel(&plan).await?;
        }
        let plan = self.initiate().await?;
        if let (Some(kept), Some(head)) = (&mut journal, self.head(&plan, service))
            && let Err(error) = kept.begin(&head)
        {
            tracing::warn!("the upload cannot be taken up again after an end: {error}");
            journal = None;
        }
        Ok(Opened { plan, tags: Tags::new(), journal })
    }

    /// The upload that a journal tells of, if the service still has it and it is of this file.
    async fn unfinished(&mut self, head: &Head) -> Option<Plan> {
        let asked = self.counter.project.as_deref();
        let is_elsewhere = asked.is_some() && asked != head.project.as_deref();
        if is_elsewhere || !head.is_of(&self.source) || self.name() != head.name {
            return None;
        }
        self.counter.project.clone_from(&head.project);
        let plan = head.plan();
        self.carrier(&plan).is_there().await.then_some(plan)
    }

    async fn initiate(&mut self) -> Result<Plan, Failure> {
        let mut arguments = self.arguments.clone();
        arguments.insert("file_size".to_owned(), json!(self.source.size()));
        arguments.entry("multipart").or_insert(Value::Bool(true));
        let reply = self.counter.ask(InitiateBuildUpload::NAME, arguments).await?;
        self.counter.project = reply.project().map(str::to_owned);
        match Plan::of(reply.value(), self.source.size()) {
            Ok(plan) => Ok(plan),
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
        self.counter.call(CompleteBuildUpload::NAME, arguments).await.map(drop)
    }

    /// Frees what the service holds for an upload that will not be finished; says in the failure what came of that.
    async fn give_up(&self, opened: Opened, failure: Failure) -> Failure {
        let failure = failure.detail("build_id", opened.plan.build_id.as_str());
        if failure.code == Code::OutcomeUnknown {
            return failure.hint(
                "the build may be complete: look with `get_build`; calling again goes on where it ended",
            );
        }
        let (failure, is_gone) = self.after_cancelling(&opened.plan, failure).await;
        match opened.journal {
            Some(journal) if is_gone => journal.remove(),
            Some(_) => {
                return failure.hint("what was sent is not lost: calling again goes on where it ended");
            }
            None => {}
        }
        failure
    }

    /// The failure with what became of the upload, and whether it is gone.
    async fn after_cancelling(&self, plan: &Plan, failure: Failure) -> (Failure, bool) {
        let (became, is_gone) = match self.cancel(plan).await {
            Ok(()) => ("cancelled: nothing remains at the service".to_owned(), true),
            Err(error) if error.code == Code::NotFound => {
                ("the service has no such upload any more".to_owned(), true)
            }
            Err(error) => {
                let why = format!("could not be cancelled ({error}): its space is freed at its time-out");
                (why, false)
            }
        };
        (failure.detail("upload", became), is_gone)
    }

    async fn cancel(&self, plan: &Plan) -> Result<(), Failure> {
        let mut arguments = json!({"build_id": plan.build_id, "object_key": plan.object_key});
        if let (Flow::Parts { upload_id, .. }, Value::Object(fields)) = (&plan.flow, &mut arguments) {
            fields.insert("upload_id".to_owned(), json!(upload_id));
        }
        self.counter.call(CancelBuildUpload::NAME, arguments).await.map(drop)
    }

    /// Cancels an upload whose answer cannot be followed, as far as it names one.
    async fn cancel_what_was_opened(&self, answer: &Value, failure: Failure) -> Failure {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(build_id), Some(object_key)) = (text("build_id"), text("object_key")) else {
            return failure;
        };
        let flow = match text("upload_id") {
            Some(upload_id) => Flow::Parts { upload_id, part_size: 0, total_parts: 0 },
            None => Flow::Whole { upload_url: String::new() },
        };
        self.after_cancelling(&Plan { build_id, object_key, flow }, failure).await.0
    }

    fn name(&self) -> &str {
        self.arguments.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    fn head(&self, plan: &Plan, service: String) -> Option<Head> {
        let Flow::Parts { upload_id, part_size, total_parts } = &plan.flow else { return None };
        Some(Head {
            path: self.source.path().to_owned(),
            size: self.source.size(),
            modified_ns: self.source.modified_ns(),
            service,
            project: self.counter.project.clone(),
            name: self.name().to_owned(),
            build_id: plan.build_id.clone(),
            upload_id: upload_id.clone(),
            object_key: plan.object_key.clone(),
            part_size: *part_size,
            total_parts: *total_parts,
        })
    }
}
