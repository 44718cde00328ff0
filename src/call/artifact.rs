//! Files outside of replies: links, which callers open themselves, and streams. The checks of a stream are those of a call,
//! but size and time have no limit.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp, fmt::strtime};
use reqwest::Url;
use serde_json::{Value, json};

use super::{
    Caller,
    arguments::{CommonArguments, ToolArguments},
    files::RequestedPart,
    scope::ids_of_call,
};
use crate::{
    backoff::AttemptError,
    client::{
        AddressPolicy, DownloadResponse, DownloadStream, HttpResponse, PresignedAddress, RequestKind,
        ResumeFrom, reports_expired_address,
    },
    fields::Fields,
    service::{
        api::files::GetRunArtifact, catalog::ListedOperation as _, lenient::view, operation::ResponseKind,
    },
};

/// Validity of a download address that does not state its own (service.md 14).
const DEFAULT_VALIDITY: Duration = Duration::from_secs(24 * 60 * 60);

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
        let sender = self.sender(GetRunArtifact::entry().access).await?;
        let ids = ids_of_call(GetRunArtifact::entry(), &checked.own);
        let request = self.request(&sender, GetRunArtifact::entry(), checked, &ids).await?;
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
        let sender = self.sender(GetRunArtifact::entry().access).await.ok()?;
        let request = sender.request(GetRunArtifact::entry(), checked.own, None).ok()?;

        self.client.presigned_address(&request, artifact.url.as_deref(), &sender.key).await
    }
}

impl Artifact {
    fn arguments(&self) -> ToolArguments {
        let arguments = Fields::from_iter([
            ("run_id".to_owned(), json!(self.run_id)),
            ("filename".to_owned(), json!(self.filename)),
        ]);
        ToolArguments::new(arguments, CommonArguments::in_project(self.project.as_deref()))
    }
}

/// A file that works without a key, for a limited time.
#[derive(Clone, Debug)]
pub struct FileLink {
    /// Where the file is.
    pub address: PresignedAddress,
    /// Name of the file, perhaps with directories.
    pub name: String,
    /// Size in bytes, if it is known.
    pub size: Option<u64>,
    /// Media type, if it is known.
    pub media_type: Option<String>,
}

/// Returns the link to the file that an answer is about: the target of a redirect.
pub(super) fn link(
    kind: ResponseKind,
    answer: &HttpResponse,
    arguments: &Fields,
    policy: AddressPolicy,
) -> Option<FileLink> {
    match kind {
        ResponseKind::Redirect => {
            let address = PresignedAddress::as_written(answer.location.as_deref()?, policy)?;

            Some(FileLink { name: address.file_name()?, address, size: None, media_type: None })
        }
        ResponseKind::File => Some(FileLink {
            address: answer.file.redirected_to.clone()?,
            name: view::<RequestedPart>(arguments).filename,
            size: answer.file.total,
            media_type: answer.file.content_type.clone(),
        }),
        ResponseKind::Json | ResponseKind::Status => None,
    }
}

/// Returns the fields of [`Installer`](crate::service::api::configs::Installer); `None` if the redirect has no address,
/// or one from which nothing should be downloaded.
pub(super) fn redirect_reply(answer: &HttpResponse, policy: AddressPolicy) -> Option<Value> {
    let text = answer.location.as_deref()?;
    let location = policy.parse(text).ok()?;
    let expiry = stated_expiry(&location).or_else(|| Timestamp::now().checked_add(DEFAULT_VALIDITY).ok())?;
    let expiry = expiry.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    Some(json!({"download_url": text.trim(), "expires_at": expiry}))
}

/// Returns when a presigned address expires. Storage hosts state it in `X-Amz-Date` and `X-Amz-Expires`.
fn stated_expiry(location: &Url) -> Option<Timestamp> {
    let value = |wanted: &str| {
        location.query_pairs().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };

    let signed = strtime::parse("%Y%m%dT%H%M%SZ", value("X-Amz-Date")?.as_bytes()).ok()?;
    let signed = signed.to_datetime().ok()?.to_zoned_datetime(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    let seconds = value("X-Amz-Expires")?.parse().ok()?;

    signed.checked_add(SignedDuration::from_secs(seconds)).ok()
}
