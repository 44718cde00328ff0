//! Remote files, and the download of the file behind a link.
#![expect(missing_docs, reason = "the names are self-explanatory")]

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde::Serialize;
use url::Url;

use super::{
    DownloadOptions, run_with_progress,
    transfer::{DownloadTarget, SaveError, TransferContext, save_file},
};
use crate::{
    call::{Artifact, Caller, OpenRefusal},
    client::{
        DownloadResponse, DownloadStream, HttpResponse, RequestKind, ResumeFrom, StorageClient, StorageError,
    },
    clock::Clock,
    failure::{Code, Failure, quote},
    tools::{
        call_options::CallOptions,
        files::{Destination, TransferProgress, file_name},
    },
};

/// A remote file that can be opened repeatedly.
#[derive(Clone, Debug)]
pub(super) enum RemoteFile {
    OfRun(Box<Caller>, Artifact),
    AtLink(Arc<StorageClient>, String),
}

impl RemoteFile {
    /// Opens the file at the position `resume_from`. Sends one request.
    pub(super) async fn open(&self, resume_from: &ResumeFrom) -> Result<DownloadStream, OpenRefusal> {
        match self {
            Self::OfRun(caller, artifact) => caller.open(artifact, resume_from).await,
            Self::AtLink(storage, address) => match storage.get(address, resume_from).await {
                Ok(DownloadResponse::Stream(stream)) => Ok(stream),
                Ok(DownloadResponse::Other(response)) => Err(response_refusal(&response)),
                Err(error) => Err(storage_refusal(&error)),
            },
        }
    }
}

/// A request to save the file behind a link.
#[derive(Debug)]
pub struct LinkRequest {
    /// A presigned address. Its last segment is the name of the file.
    pub address: String,
    /// Whether an existing file is replaced.
    pub overwrite: bool,
}

/// A saved file.
#[derive(Debug, Serialize)]
pub struct SavedLink {
    pub status: &'static str,
    pub path: String,
    /// Bytes.
    pub size: u64,
}

impl LinkRequest {
    /// Saves the file.
    ///
    /// # Errors
    /// `file_error` if another file has its name or nothing can be written; failures of the storage host.
    pub async fn run(
        self,
        storage: &Arc<StorageClient>,
        clock: Arc<dyn Clock>,
        destination: &Destination,
        call_options: &CallOptions,
    ) -> Result<SavedLink, Failure> {
        let name = file_name_of(&self.address)?;
        let directory = destination.open()?;
        let path = directory.path().join(&name).display().to_string();

        let target = DownloadTarget { path: name, size: None, modified: None, replaces: self.overwrite };
        let progress = Arc::new(TransferProgress::new(0));
        let context = TransferContext {
            directory,
            options: DownloadOptions::default(),
            progress: Arc::clone(&progress),
            clock,
            deadline: None,
        };

        let remote = RemoteFile::AtLink(Arc::clone(storage), self.address);
        match run_with_progress(save_file(&remote, target, context), &progress, call_options).await {
            Ok(saved) => Ok(SavedLink { status: "downloaded", path, size: saved.size }),
            Err(SaveError::File(failure) | SaveError::Disk(failure)) => Err(failure),
        }
    }
}

fn storage_refusal(error: &StorageError) -> OpenRefusal {
    let (is_transient, wait) = match error {
        StorageError::Transient { retry_after, .. } => (true, *retry_after),
        _ => (false, None),
    };
    let code = if is_transient { Code::ServiceUnavailable } else { Code::BadResponse };
    let failure = Failure::new(code, format!("download: {error}")).hint("call again later");

    OpenRefusal { failure, is_transient, wait }
}

/// Returns the refusal for a response that is not the file.
fn response_refusal(response: &HttpResponse) -> OpenRefusal {
    let status = response.status;
    let fail = |code, what: String| Failure::new(code, format!("download: {what}")).status(status);
    if let Some(error) = &response.file.redirect_error {
        return fail(Code::BadResponse, format!("the redirect to the file {error}")).into();
    }

    let is_transient = RequestKind::StorageObject.is_transient_status(status);
    let code = match status {
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

/// Returns the last segment of an address.
///
/// # Errors
/// `bad_response` if it cannot be a file name.
fn file_name_of(address: &str) -> Result<String, Failure> {
    let url = Url::parse(address).ok();
    let last = url.as_ref().and_then(|url| url.path_segments()?.next_back()).unwrap_or_default();
    let name = percent_decode_str(last).decode_utf8_lossy().into_owned();
    let problem = if name.contains('/') { Some("has a directory") } else { file_name::path_problem(&name) };

    match problem {
        None => Ok(name),
        Some(problem) => {
            let message = format!("download: the name of the file {problem}: nothing was saved");
            Err(Failure::new(Code::BadResponse, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_outside_the_destination_is_refused() {
        for last in ["..%2Fevil", "%2e%2e", "", "nul.exe", "a%5Cb", "a%00b", ".x.part", "%2Fetc%2Fpasswd"] {
            let address = format!("https://storage.example/files/{last}?signature=s");
            assert!(file_name_of(&address).is_err(), "{last}");
        }
        let name = file_name_of("https://storage.example/files/minion%202.zip?signature=s");
        assert_eq!(name.expect("a name"), "minion 2.zip");
    }
}
