//! A request to upload a file, and its preparation.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use ring::digest::{SHA256, digest};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    FileServices, UploadProgress,
    initiation::{
        UploadMethod, add_details, choose_time_limit, fill_from_file_name, require_platform, upload_details,
    },
    job::UploadJob,
    provenance::{self, Checkout},
    session::UploadSession,
    source_file::SourceFile,
};
use crate::{
    call::gateway::Gateway,
    failure::Failure,
    fields::Fields,
    tools::{
        files::{FilesRoot, hexadecimal},
        project_client::ProjectClient,
    },
};

/// Time limit of reading the git checkout: a slow disk must not hold up an upload.
const CHECKOUT_TIME_LIMIT: Duration = Duration::from_secs(5);

/// A request to upload a file.
#[derive(Debug)]
pub(crate) struct UploadRequest<'a> {
    /// Name of the file as the caller wrote it.
    pub(crate) path: &'a str,
    /// Project, if the caller names one.
    pub(crate) project: Option<&'a str>,
    /// Arguments of `initiate_build_upload` that the caller set.
    pub(crate) options: Fields,
    /// Whether `details` is filled in from git and CI.
    pub(crate) fills_details: bool,
    /// How the upload was requested.
    pub(crate) method: UploadMethod,
    /// Whether an unfinished upload of the same file is resumed. Otherwise it is cancelled.
    pub(crate) resumes: bool,
    /// Whether the SHA-256 of the file is computed.
    pub(crate) hashes: bool,
}

/// Observes and cancels an upload.
#[derive(Clone, Debug)]
pub(crate) struct UploadHandle {
    /// Progress of the upload.
    pub(crate) progress: Arc<UploadProgress>,
    /// Cancels the upload. The service then frees the reserved space.
    pub(crate) cancelled: CancellationToken,
}

impl UploadHandle {
    fn new(source: &SourceFile) -> Self {
        let progress = Arc::new(UploadProgress::new(source.size()));
        Self { progress, cancelled: CancellationToken::new() }
    }
}

impl UploadRequest<'_> {
    /// Checks the file without keeping it open. Returns the handle for [`Self::into_job_with`].
    ///
    /// # Errors
    /// The same as for [`Self::into_job`].
    pub(crate) fn check_file(&self, root: &FilesRoot) -> Result<UploadHandle, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if !self.options.contains_key("platform") {
            require_platform(&source.file_name())?;
        }
        Ok(UploadHandle::new(&source))
    }

    /// Opens the file and fills in the arguments that the caller did not set.
    ///
    /// # Errors
    /// `file_error`; `invalid_arguments` if the platform cannot be derived from the file name.
    pub(crate) async fn into_job(
        self,
        gateway: &Gateway,
        files: &FileServices,
        root: &FilesRoot,
    ) -> Result<UploadJob, Failure> {
        let source = SourceFile::open(root, self.path)?;
        let handle = UploadHandle::new(&source);
        self.build_job(source, handle, gateway, files).await
    }

    /// Does the same as [`Self::into_job`] for a file that was checked before.
    ///
    /// # Errors
    /// The same as for [`Self::into_job`]; `file_error` if the size of the file has changed.
    pub(crate) async fn into_job_with(
        self,
        handle: UploadHandle,
        gateway: &Gateway,
        files: &FileServices,
        root: &FilesRoot,
    ) -> Result<UploadJob, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if source.size() != handle.progress.total() {
            return Err(source.modified_error());
        }
        self.build_job(source, handle, gateway, files).await
    }

    async fn build_job(
        self,
        source: SourceFile,
        handle: UploadHandle,
        gateway: &Gateway,
        files: &FileServices,
    ) -> Result<UploadJob, Failure> {
        let mut arguments = self.options;
        fill_from_file_name(&mut arguments, &source.file_name())?;

        // The digest covers only what follows from the request. The details may differ at the next attempt.
        let request_digest = request_digest(&arguments);
        let time_limit = choose_time_limit(&mut arguments, source.size());
        if self.fills_details {
            fill_details(&mut arguments, files, &source, self.method).await;
        }

        let client = ProjectClient { gateway: gateway.clone(), project: self.project.map(str::to_owned) };
        let session = UploadSession {
            client,
            timing: files.timing.clone(),
            deadline: Duration::ZERO,
            cancelled: handle.cancelled,
        };

        Ok(UploadJob {
            session,
            storage: Arc::clone(&files.storage),
            progress: handle.progress,
            source,
            time_limit,
            arguments,
            request_digest,
            journal_directory: files.state.as_ref().map(|state| state.join("uploads")),
            resumes: self.resumes,
            hashes: self.hashes,
            is_resumable: Arc::default(),
            ids: Arc::new(Mutex::new(None)),
        })
    }
}

/// Returns a digest of the arguments that does not depend on their order.
fn request_digest(arguments: &Fields) -> String {
    let sorted: BTreeMap<_, _> = arguments.iter().collect();
    hexadecimal(digest(&SHA256, json!(sorted).to_string().as_bytes()))
}

/// Adds the parts of `details` that the caller did not set.
async fn fill_details(
    arguments: &mut Fields,
    files: &FileServices,
    source: &SourceFile,
    method: UploadMethod,
) {
    let job = files.ci_job.as_ref();
    let vcs = provenance::vcs_details(find_checkout(source).await, job);
    let ci = job.map(|job| job.ci.clone());
    add_details(arguments, [("vcs", vcs), ("ci", ci), ("upload", Some(upload_details(method)))]);
}

/// Returns the git checkout that contains the file. A checkout on a slow disk is left out.
async fn find_checkout(source: &SourceFile) -> Option<Checkout> {
    let directory = source.path().parent()?.to_owned();
    let boundary = source.confinement().map(Path::to_owned);
    let search =
        tokio::task::spawn_blocking(move || provenance::find_checkout(boundary.as_deref(), &directory));
    tokio::time::timeout(CHECKOUT_TIME_LIMIT, search).await.ok()?.ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_request_does_not_depend_on_the_order() {
        let fields = |names: [&str; 2]| names.map(|name| (name.to_owned(), json!(1))).into_iter().collect();
        let [one, other]: [Fields; 2] = [fields(["a", "b"]), fields(["b", "a"])];
        assert_eq!(request_digest(&one), request_digest(&other));
        assert_ne!(request_digest(&one), request_digest(&fields(["a", "c"])));
    }
}
