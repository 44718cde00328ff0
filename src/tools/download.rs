//! Downloads of files to the local disk: the files of a run, and the file behind a link.
//!
//! A file is first written under a temporary name and gets its own name when it is complete. File names that the service
//! chooses are used unchanged or refused, and nothing is written outside the destination.

mod plan;
mod transfer;

use std::{pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use percent_encoding::percent_decode_str;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_with::skip_serializing_none;
use tokio::time::Instant;

pub use self::plan::DownloadRunFiles;
pub(crate) use self::plan::{RunListing, split_player_id};
use self::{
    plan::{DownloadPlan, PlannedFile, file_ref},
    transfer::{DownloadTarget, RemoteFile, TransferContext, save_file},
};
use crate::{
    call::Caller,
    failure::{Cause, Code, Failure},
    service::api::{Id, runs::GetRun},
    text::guidance::Guidance,
    tools::{
        context::{CallOptions, CallerWithFiles},
        files::{Destination, TransferProgress, path_problem, sleep_until},
        project_client::ProjectClient,
    },
};

/// Hint for a download that the wait limit has interrupted.
const CONTINUE_HINT: &str = "the download is paused: make the same call again to continue it";

/// Number of files that are downloaded at the same time.
const PARALLEL_FILES: usize = 4;

/// Maximum number of files that a failure lists.
const MAX_LISTED: usize = 50;

/// Interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Largest file that is saved if neither the list of files nor the answer states its size, in bytes. An endless answer would
/// fill the disk.
pub const MAX_UNSIZED_BYTES: u64 = 1 << 30;

impl DownloadRunFiles {
    /// Saves the requested files, those of unknown size up to `max_unsized_bytes`. After the caller's wait limit no further file
    /// is begun: the remaining files are left to the next call. Dropping the future leaves no incomplete file.
    ///
    /// # Errors
    /// `invalid_arguments` with all that is wrong with patterns and files; failures of `get_run`; the failure of the last
    /// file if every file failed.
    pub async fn save(
        self,
        caller: &Caller,
        project: Option<String>,
        destination: &Destination,
        max_unsized_bytes: u64,
        options: &CallOptions,
    ) -> Result<DownloadReport, Failure> {
        let deadline = options.wait_limit.map(|limit| Instant::now() + limit);
        let (run_id, _) = split_player_id(&self.run_id.0);
        let patterns = self.check(run_id)?;

        let client = ProjectClient { caller: caller.clone(), project: project.clone() };
        let run = client.call(&GetRun { run_id: Id(run_id.to_owned()) }).await?;
        let listing = RunListing::from_run(run_id, run.view::<GetRun>());
        let plan = DownloadPlan::new(project, &self, &patterns, &listing)?;
        let mut report = DownloadReport::new(&listing, destination, plan.failed);
        if plan.files.is_empty() {
            return report.finished(0);
        }

        let directory = destination.open()?;
        report.destination = directory.path.display().to_string();
        let total = plan.files.iter().filter_map(|file| file.target.size).sum();
        let context = TransferContext {
            directory,
            replaces: self.overwrite == Some(true),
            max_unsized_bytes,
            progress: TransferProgress::new(total),
            clock: Arc::clone(caller.clock()),
            deadline,
        };
        context.progress.start_clock();
        let saving = report.save_files(caller, plan.files, &context);
        let remaining = context.progress.report_during(saving, options, PROGRESS_INTERVAL).await;
        context.progress.report_to(options);

        report.progress = (remaining > 0).then(|| context.progress.describe());
        report.finished(remaining)
    }
}

/// The files of a run, saved or not.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct DownloadReport {
    /// `downloaded`; `incomplete`: see `failed`; `downloading`: repeat the same call to continue.
    pub status: &'static str,
    pub run_id: String,
    pub destination: String,
    /// Number of saved files.
    pub file_count: usize,
    pub total_bytes: u64,
    pub files: Vec<SavedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedFile>,
    /// Number of files that are not saved yet.
    pub remaining: Option<usize>,
    pub progress: Option<String>,
    #[schemars(with = "Option<String>")]
    pub hint: Option<Guidance>,
}

/// A saved file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct SavedFile {
    /// Per-player id `<run>-<player>`.
    pub run_id: String,
    pub file_ref: String,
    /// Below `destination`.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// `true`: the file existed before, with the same size and modification time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// A file that could not be saved.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are those of the service")]
pub struct FailedFile {
    pub run_id: String,
    pub file_ref: String,
    #[schemars(with = "String")]
    pub code: Code,
    pub message: String,
    #[schemars(with = "String")]
    pub hint: Guidance,
    #[serde(skip)]
    failure: Failure,
}

impl FailedFile {
    /// Creates the entry of the file `name` of the player `run_id`.
    fn new(run_id: &str, name: &str, failure: Failure) -> Self {
        let (code, message, hint) = (failure.code, failure.message.clone(), failure.hint.clone());
        Self { run_id: run_id.to_owned(), file_ref: file_ref(name), code, message, hint, failure }
    }
}

impl DownloadReport {
    /// Creates the report of a download that saves nothing.
    fn new(listing: &RunListing, destination: &Destination, failed: Vec<FailedFile>) -> Self {
        Self {
            status: "downloaded",
            run_id: listing.run_id.clone(),
            destination: destination.requested.clone(),
            failed,
            hint: Some(explain_no_files(listing)),
            ..Self::default()
        }
    }

    /// Saves the files until all are finished, the deadline passes or no file can be written any more. Returns the number of
    /// files that are neither saved nor failed.
    async fn save_files(
        &mut self,
        caller: &Caller,
        files: Vec<PlannedFile>,
        context: &TransferContext,
    ) -> usize {
        let mut remaining = files.len();
        let transfers = files.into_iter().map(|PlannedFile { artifact, target }| async move {
            let (path, remote) = (target.path.clone(), RemoteFile::OfRun(caller, &artifact));
            let outcome = save_file(&remote, target, context).await;
            (artifact, path, outcome)
        });
        // A file that has begun is finished after the deadline, because another call would begin it anew.
        let started = stream::iter(transfers).take_until(sleep_until(context.deadline));
        let mut finished = pin!(started.buffer_unordered(PARALLEL_FILES));

        while let Some((artifact, path, outcome)) = finished.next().await {
            remaining -= 1;
            match outcome {
                Ok((size, kept)) => {
                    let (run_id, file_ref) = (artifact.run_id, file_ref(&artifact.filename));
                    self.files.push(SavedFile { run_id, file_ref, path, size, kept });
                }
                Err(failure) => {
                    self.failed.push(FailedFile::new(&artifact.run_id, &artifact.filename, failure));
                    if self.is_disk_unwritable() {
                        break;
                    }
                }
            }
        }

        remaining
    }

    /// Returns whether the last file failed because no file can be written any more.
    fn is_disk_unwritable(&self) -> bool {
        self.failed.last().is_some_and(|last| last.failure.facts.cause == Some(Cause::Unwritable))
    }

    /// Returns the report of a download that has ended and leaves `remaining` files.
    ///
    /// # Errors
    /// The last failure, if nothing is saved and nothing is left to the next call.
    fn finished(mut self, remaining: usize) -> Result<Self, Failure> {
        let is_paused = remaining > 0 && !self.is_disk_unwritable();
        if self.files.is_empty()
            && !is_paused
            && let Some(last) = self.failed.last()
        {
            let failed: Vec<_> = self.failed.iter().take(MAX_LISTED).collect();
            let failure = last.failure.clone().detail("failed_count", self.failed.len());
            return Err(failure.detail("failed", json!(failed)));
        }

        self.files.sort_by(|one, other| one.path.cmp(&other.path));
        self.file_count = self.files.len();
        self.total_bytes = self.files.iter().map(|file| file.size).sum();
        self.remaining = (remaining > 0).then_some(remaining);
        if is_paused {
            (self.status, self.hint) = ("downloading", Some(CONTINUE_HINT.into()));
        } else if !self.failed.is_empty() {
            self.status = "incomplete";
        }
        self.hint = self.hint.filter(|_| is_paused || self.files.is_empty());

        Ok(self)
    }
}

/// Returns why no file was requested.
fn explain_no_files(listing: &RunListing) -> Guidance {
    let count: usize = listing.players.iter().map(|player| player.files.len()).sum();
    if count > 0 {
        let none = format!("none of the run's {count} files matches");
        return Guidance::from(none + "[[: list them with `tool:list_run_artifacts`]]");
    }

    format!("the run has no files; its state is `{}`, and files are stored at its end", listing.state).into()
}

/// Saves the file behind a presigned address, whose last segment is the name of the file. Returns the path of the file and its
/// size in bytes.
///
/// # Errors
/// `file_error` if another file has its name or nothing can be written; failures of the storage host.
pub(crate) async fn save_link(
    tools: &CallerWithFiles,
    address: &str,
    replaces: bool,
    destination: &Destination,
    options: &CallOptions,
) -> Result<(String, u64), Failure> {
    let name = file_name_of(address)?;
    let context = TransferContext {
        directory: destination.open()?,
        replaces,
        max_unsized_bytes: MAX_UNSIZED_BYTES,
        progress: TransferProgress::new(0),
        clock: Arc::clone(tools.caller.clock()),
        deadline: None,
    };
    context.progress.start_clock();
    let path = context.directory.path.join(&name).display().to_string();

    let target = DownloadTarget { path: name, size: None, modified: None };
    let remote = RemoteFile::AtAddress(&tools.files.storage, address);
    let saving = save_file(&remote, target, &context);
    let (size, _) = context.progress.report_during(saving, options, PROGRESS_INTERVAL).await?;
    Ok((path, size))
}

/// Returns the last segment of an address.
///
/// # Errors
/// `bad_response` if it cannot be a file name.
fn file_name_of(address: &str) -> Result<String, Failure> {
    let url = Url::parse(address).ok();
    let last = url.as_ref().and_then(|url| url.path_segments()?.next_back()).unwrap_or_default();
    let name = percent_decode_str(last).decode_utf8_lossy().into_owned();
    let problem = if name.contains('/') { Some("has a directory") } else { path_problem(&name) };

    match problem {
        None => Ok(name),
        Some(problem) => {
            let message = format!("download: the name of the file {problem}: nothing was saved");
            Err(Failure::new(Code::BadResponse, message))
        }
    }
}
