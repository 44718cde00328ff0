//! Opens a file of a run as a stream. The checks are the same as those of a call, but size and time have no limit.

use serde_json::json;

use super::{
    Caller,
    arguments::{CommonArguments, ToolArguments},
};
use crate::{
    backoff::AttemptError,
    client::{
        DownloadResponse, DownloadStream, PresignedAddress, RequestKind, ResumeFrom, reports_expired_address,
    },
    fields::Fields,
    service::{api::artifacts::GetRunArtifact, catalog::ListedOperation as _},
};

/// A file that a player of a run has produced.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// The project that the caller named.
    pub project: Option<String>,
    /// Id of the player, `<run>-<player>`.
    pub run_id: String,
    /// Name with directories.
    pub filename: String,
    /// Address of the file in the list of artifacts.
    pub url: Option<String>,
}

impl Caller {
    /// Opens a file from the position `resume_from`, in one attempt. As in every call, the owner of the run is
    /// confirmed.
    pub async fn open(
        &self,
        artifact: &Artifact,
        resume_from: &ResumeFrom,
    ) -> Result<DownloadStream, AttemptError> {
        let checked = self.check(GetRunArtifact::entry(), artifact.arguments())?;
        let sender = self.sender().await?;
        let request = self.request(&sender, GetRunArtifact::entry(), checked).await?;
        let (url, key) = (artifact.url.as_deref(), &sender.key);

        let response = match self.client.open(&request, url, resume_from, key).await? {
            DownloadResponse::Stream(stream) => return Ok(stream),
            DownloadResponse::Other(response) => response,
        };

        // An address of the storage host expires. The service redirects the next request to a new address.
        let has_expired =
            response.file.redirected_to.is_some() && reports_expired_address(response.status, &response.body);
        Err(AttemptError {
            failure: sender.refusal(&request, &response),
            is_transient: has_expired || RequestKind::ServiceFile.is_transient_status(response.status),
        })
    }

    /// Returns the presigned address of a file that the service has just listed, if it has one. The owner of the run is
    /// not confirmed again.
    pub(crate) async fn presigned_address(&self, artifact: &Artifact) -> Option<PresignedAddress> {
        let checked = self.check(GetRunArtifact::entry(), artifact.arguments()).ok()?;
        let sender = self.sender().await.ok()?;
        let request = sender.request(GetRunArtifact::entry(), checked.own, None).ok()?;

        self.client.presigned_address(&request, artifact.url.as_deref(), &sender.key).await
    }
}

impl Artifact {
    /// Returns the arguments of the call that reads the file.
    fn arguments(&self) -> ToolArguments {
        let arguments = Fields::from_iter([
            ("run_id".to_owned(), json!(self.run_id)),
            ("filename".to_owned(), json!(self.filename)),
        ]);
        ToolArguments::new(arguments, CommonArguments::in_project(self.project.as_deref()))
    }
}
