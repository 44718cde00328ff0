//! The installer at the storage host, behind addresses that expire.

use std::sync::{Arc, Mutex, PoisonError};

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::{DownloadRequest, source::DownloadSource};
use crate::{
    call::gateway::OpenRefusal,
    client::{
        DownloadResponse, DownloadStream, HttpResponse, RequestKind, ResumeFrom, StorageClient, StorageError,
        reports_expired_address,
    },
    failure::{Code, Failure, quote},
    service::api::minions::{GetMinionDownload, MinionPlatform},
    tools::project_client::ProjectClient,
};

/// The installer for a platform.
pub(super) struct InstallerSource {
    client: ProjectClient,
    storage: Arc<StorageClient>,
    platform: MinionPlatform,
    /// An address that was not used yet. It is used only once, because addresses expire.
    address: Mutex<Option<String>>,
}

impl InstallerSource {
    /// Creates the source. It sends no request.
    pub(super) fn new(client: ProjectClient, storage: Arc<StorageClient>, platform: MinionPlatform) -> Self {
        Self { client, storage, platform, address: Mutex::default() }
    }

    /// Requests an address, and keeps it for the first [`DownloadSource::open`].
    ///
    /// # Errors
    /// Failures of `get_minion_download`; `bad_response` if the answer has no address.
    pub(super) async fn request_address(&self) -> Result<String, Failure> {
        let reply = self.client.call(&GetMinionDownload { platform: self.platform }).await?;
        let address = reply.value().get("download_url").and_then(Value::as_str).map(str::to_owned);
        let address = address.ok_or_else(|| {
            Failure::new(Code::BadResponse, "download_minion: the service names no address")
        })?;

        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address.clone());

        Ok(address)
    }

    async fn take_address(&self) -> Result<String, Failure> {
        let unused = self.address.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(address) = unused {
            return Ok(address);
        }

        // The new address is used now, so that it must not be kept for another attempt.
        let address = self.request_address().await?;
        self.address.lock().unwrap_or_else(PoisonError::into_inner).take();

        Ok(address)
    }
}

impl DownloadSource for InstallerSource {
    async fn open(&self, resume_from: &ResumeFrom) -> Result<DownloadStream, OpenRefusal> {
        let address = self.take_address().await?;
        match self.storage.get(&address, resume_from).await {
            Ok(DownloadResponse::Stream(stream)) => Ok(stream),
            Ok(DownloadResponse::Other(response)) => Err(response_refusal(&response)),
            Err(error) => Err(storage_refusal(&error)),
        }
    }
}

fn storage_refusal(error: &StorageError) -> OpenRefusal {
    let (is_transient, wait) = match error {
        StorageError::Transient { retry_after, .. } => (true, *retry_after),
        _ => (false, None),
    };
    let code = if is_transient { Code::ServiceUnavailable } else { Code::BadResponse };
    let failure = Failure::new(code, format!("download_minion: {error}")).hint("call again later");

    OpenRefusal { failure, is_transient, wait }
}

/// Returns the refusal for a response that is not the installer.
fn response_refusal(response: &HttpResponse) -> OpenRefusal {
    let status = response.status;
    let fail = |code, what: String| Failure::new(code, format!("download_minion: {what}")).status(status);
    if let Some(error) = &response.file.redirect_error {
        return fail(Code::BadResponse, format!("the redirect to the installer {error}")).into();
    }

    let is_expired = reports_expired_address(status, &response.body);
    // Another attempt requests a new address.
    let is_transient = is_expired || RequestKind::StorageObject.is_transient_status(status);
    let code = match status {
        _ if is_expired => Code::Rejected,
        404 => Code::NotFound,
        429 => Code::RateLimited,
        _ if is_transient => Code::ServiceUnavailable,
        _ => Code::Rejected,
    };
    let words = quote(String::from_utf8_lossy(&response.body).trim());
    let failure = fail(code, format!("the storage host answered {status}"))
        .hint("call again later")
        .detail("service_error", words);

    OpenRefusal { failure, is_transient, wait: response.retry_after }
}

/// Returns the last segment of an address, if it can be a file name.
///
/// # Errors
/// `bad_response` if it cannot be a file name.
pub(super) fn installer_file_name(address: &str) -> Result<String, Failure> {
    let url = Url::parse(address).ok();
    let last = url.as_ref().and_then(|url| url.path_segments()?.next_back()).unwrap_or_default();
    let name = percent_decode_str(last).decode_utf8_lossy().into_owned();
    let problem =
        if name.contains('/') { Some("has a directory") } else { DownloadRequest::path_problem(&name) };

    match problem {
        None => Ok(name),
        Some(problem) => Err(Failure::new(
            Code::BadResponse,
            format!("download_minion: the name of the installer {problem}: nothing was saved"),
        )
        .hint("download the address of `get_minion_download` under a name of your own")),
    }
}
