//! From a file and a few words to an [`UploadJob`].

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    FileServices, SourceFile, UploadJob, UploadProgress, platform_from_file_name, provenance,
    session::UploadSession,
};
use crate::{
    call::gateway::Gateway,
    failure::Failure,
    fields::Fields,
    tools::files::{FilesRoot, hexadecimal},
    violation::Violation,
};

/// Slowest rate that the time limit of an upload allows for, in bytes a minute: 256 KiB/s, a slow line at home.
const SLOWEST: u64 = 60 * 256 * 1024;

/// Minutes that the service gives a multipart upload by itself, and the most that it gives (supplement 10.4). One in a
/// single piece would have 10.
const MINUTES: std::ops::RangeInclusive<u64> = 60..=1_440;

/// What is to be uploaded, and how.
#[derive(Debug)]
pub struct UploadRequest<'a> {
    /// As the caller names the file.
    pub path: &'a str,
    /// Project, where the caller names one.
    pub project: Option<&'a str>,
    /// Arguments of `initiate_build_upload`, as far as they were given.
    pub options: Fields,
    /// Whether `details` is filled from git and CI.
    pub fills_details: bool,
    /// Word of `details.upload.method`.
    pub method: &'a str,
    /// Whether an unfinished upload of the same file is taken up; otherwise it is cancelled.
    pub resumes: bool,
    /// Whether the digest of the file is made.
    pub hashes: bool,
}

/// What others see and do of an upload.
#[derive(Clone, Debug)]
pub struct UploadHandle {
    /// How far it has come.
    pub progress: Arc<UploadProgress>,
    /// Ends it when it is cancelled: the service frees what it holds for it.
    pub cancelled: CancellationToken,
}

impl UploadRequest<'_> {
    /// Looks at the file, without holding it.
    ///
    /// # Errors
    /// As [`Self::job`].
    pub fn check(&self, root: &FilesRoot) -> Result<UploadHandle, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if !self.options.contains_key("platform") {
            platform(&source.file_name())?;
        }
        Ok(handle(&source))
    }

    /// Opens the file and fills in what was left open.
    ///
    /// # Errors
    /// `file_error`; `invalid_arguments` when the file's name does not say the platform.
    pub async fn job(
        self,
        gateway: &Gateway,
        files: &FileServices,
        root: &FilesRoot,
    ) -> Result<UploadJob, Failure> {
        let source = SourceFile::open(root, self.path)?;
        let handle = handle(&source);
        self.filled(source, handle, gateway, files).await
    }

    /// The same for a file that was checked before.
    ///
    /// # Errors
    /// As [`Self::job`]; `file_error` when the file has another size now.
    pub async fn checked(
        self,
        handle: UploadHandle,
        gateway: &Gateway,
        files: &FileServices,
        root: &FilesRoot,
    ) -> Result<UploadJob, Failure> {
        let source = SourceFile::open(root, self.path)?;
        if source.size() != handle.progress.total() {
            return Err(source.changed());
        }
        self.filled(source, handle, gateway, files).await
    }

    async fn filled(
        self,
        source: SourceFile,
        handle: UploadHandle,
        gateway: &Gateway,
        files: &FileServices,
    ) -> Result<UploadJob, Failure> {
        let mut arguments = self.options;
        let file_name = source.file_name();

        if !arguments.contains_key("platform") {
            arguments.insert("platform".to_owned(), platform(&file_name)?);
        }

        arguments.entry("name").or_insert_with(|| json!(file_name));
        arguments.insert("file_name".to_owned(), json!(file_name));
        arguments.entry("multipart").or_insert(Value::Bool(true));

        let request_digest = request_digest(&arguments);
        let span = allow(&mut arguments, source.size());

        if self.fills_details {
            fill(&mut arguments, files, &source, self.method).await;
        }

        Ok(UploadJob {
            counter: UploadSession {
                gateway: gateway.clone(),
                project: self.project.map(str::to_owned),
                timing: files.timing.clone(),
                end: Duration::ZERO,
                cancelled: handle.cancelled,
            },
            storage: Arc::clone(&files.storage),
            progress: handle.progress,
            source,
            span,
            arguments,
            request_digest,
            state: files.state.as_ref().map(|state| state.join("uploads")),
            resumes: self.resumes,
            hashes: self.hashes,
            is_noted: Arc::default(),
            begun: Arc::default(),
        })
    }
}

fn handle(source: &SourceFile) -> UploadHandle {
    UploadHandle {
        progress: Arc::new(UploadProgress::new(source.size())),
        cancelled: CancellationToken::new(),
    }
}

/// Asks for the time that a slow line needs, where the caller asks for none and the service would give less; how long
/// the upload may take.
fn allow(arguments: &mut Fields, size: u64) -> Duration {
    let needed = size.div_ceil(SLOWEST).clamp(*MINUTES.start(), *MINUTES.end());
    let is_whole = arguments.get("multipart") == Some(&Value::Bool(false));

    if is_whole || needed > *MINUTES.start() {
        arguments.entry("upload_timeout").or_insert_with(|| json!(needed));
    }

    let minutes = arguments.get("upload_timeout").and_then(Value::as_u64).unwrap_or(needed);

    Duration::from_secs(60 * minutes)
}

fn platform(file_name: &str) -> Result<Value, Failure> {
    let rule = || format!("is required: the name `{file_name}` does not say it");
    let platform = platform_from_file_name(file_name).map(|platform| json!(platform));
    platform.ok_or_else(|| Failure::invalid_arguments("upload_build", &[Violation::new("platform", rule())]))
}

/// Digest of arguments, in whatever order they were given.
fn request_digest(arguments: &Fields) -> String {
    let sorted: BTreeMap<_, _> = arguments.iter().collect();
    hexadecimal(digest(&SHA256, json!(sorted).to_string().as_bytes()))
}

/// Adds the parts of `details` that the caller left out.
async fn fill(arguments: &mut Fields, files: &FileServices, source: &SourceFile, method: &str) {
    let branch = files.job.as_ref().and_then(|job| job.branch.as_deref());
    let vcs = match source.path().parent() {
        Some(directory) => provenance::vcs(directory, branch).await,
        None => None,
    };
    let ci = files.job.as_ref().map(|job| job.ci.clone());
    let details = arguments.entry("details").or_insert_with(|| json!({}));
    let Value::Object(details) = details else { return };
    let upload = json!({"method": method, "cli_version": env!("CARGO_PKG_VERSION")});

    for (part, value) in [("vcs", vcs), ("ci", ci), ("upload", Some(upload))] {
        if let Some(value) = value {
            details.entry(part).or_insert(value);
        }
    }
}
