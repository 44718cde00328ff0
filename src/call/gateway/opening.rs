//! Files of players as streams: the way of a call, without its limits of size and time.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Gateway, checking::Checked, sending::ids};
use crate::{
    call::{context::CallContext, reply},
    client::{
        DownloadResponse, DownloadStream, HttpResponse, OpenError, RequestKind, ResumeFrom,
        reports_expired_address,
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{
        api::artifacts::GetRunArtifact,
        catalog::{self, OperationEntry},
        operation::Operation as _,
        tool::PROJECT_ID,
    },
};

/// A file that a player left.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Project that the caller named.
    pub project: Option<String>,
    /// Of the player, `<run>-<player>`.
    pub run_id: String,
    /// With its directories.
    pub filename: String,
    /// Address that the service names for it.
    pub url: Option<String>,
}

/// Why a file was not opened.
#[derive(Debug)]
pub struct Refusal {
    /// What callers see.
    pub failure: Failure,
    /// Whether it may work the next time.
    pub is_transient: bool,
    /// How long to wait before that, where the service says so.
    pub wait: Option<Duration>,
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self { failure, is_transient: false, wait: None }
    }
}

impl From<OpenError> for Refusal {
    fn from(lost: OpenError) -> Self {
        Self { failure: lost.failure, is_transient: lost.is_transient, wait: None }
    }
}

impl Gateway {
    /// Opens a file of a player, once, from where `rest` begins. Its project is confirmed as for every call.
    pub async fn open(&self, artifact: &Artifact, rest: &ResumeFrom) -> Result<DownloadStream, Refusal> {
        let ready = self.ready()?;
        let entry = catalog::find(GetRunArtifact::NAME)
            .ok_or_else(|| Failure::new(Code::NotFound, "there is no `get_run_artifact`"))?;
        let mut arguments = Fields::from_iter([
            ("run_id".to_owned(), json!(artifact.run_id)),
            ("filename".to_owned(), json!(artifact.filename)),
        ]);

        if let Some(project) = &artifact.project {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }

        let Checked { requested, .. } = ready.checked(entry, Some(entry), &mut arguments)?;
        let call = ready.call()?;
        ready.scope.resolve(&call, entry, requested.as_deref(), &ids(entry, &arguments)).await?;

        match call.open(entry, &arguments, artifact.url.as_deref(), rest).await? {
            DownloadResponse::Stream(arriving) => Ok(arriving),
            DownloadResponse::Other(answer) => Err(refusal(&call, entry, &answer)),
        }
    }
}

fn refusal(call: &CallContext<'_>, entry: &'static OperationEntry, answer: &HttpResponse) -> Refusal {
    let failure = reply::obstacle(entry, answer).unwrap_or_else(|| call.refused(entry, answer));
    // An address of the storage host is good for a while: the next request gets a fresh one.
    let has_expired = answer.file.was_redirected && reports_expired_address(answer.status, &answer.body);
    let is_transient = has_expired || RequestKind::ServiceFile.is_transient_status(answer.status);
    Refusal { failure, is_transient, wait: answer.retry_after }
}
