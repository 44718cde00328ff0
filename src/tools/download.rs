//! Downloads of files to the local disk: the files of a run, and the file behind a link.
//!
//! A file is first written under a temporary name and gets its own name when it is complete. File names that the service
//! chooses are used unchanged or refused, and nothing is written outside the destination.

mod plan;
mod remote;
mod transfer;

use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use serde_with::skip_serializing_none;
use tokio::time::Instant;

pub(crate) use self::plan::RunListing;
pub use self::remote::{LinkRequest, SavedLink};
use self::{
    plan::{DownloadPlan, FILE_REF_PREFIX, PlannedFile, split_player_id},
    remote::RemoteFile,
    transfer::{SaveError, SaveOutcome, TransferContext, save_file},
};
use crate::{
    backoff::{Backoff, RetryPolicy},
    call::{Artifact, Caller},
    failure::{Code, Failure},
    service::api::Id,
    text::guidance::Guidance,
    tools::{
        call_options::CallOptions,
        files::{Destination, FilePattern, TransferProgress, sleep_until},
    },
    violation::Violation,
};

/// Hint for a download that the wait limit has interrupted.
const CONTINUE_HINT: &str = "the download is paused: make the same call again to continue it";

/// Number of files that are downloaded at the same time.
const PARALLEL_FILES: usize = 4;

/// Maximum number of files that a failure lists.
const MAX_LISTED: usize = 50;

/// Interval of progress messages.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// A request to download files of a run.
#[derive(Clone, Debug, Default)]
pub struct DownloadRequest {
    /// Project, if the caller names one.
    pub project: Option<String>,
    /// Id of a run, or of one of its players.
    pub run_id: String,
    /// Downloads only these files.
    pub files: Option<Vec<RequestedFile>>,
    /// Downloads only files of these players.
    pub players: Option<Vec<u64>>,
    /// Downloads only files whose names match one of these patterns.
    pub patterns: Option<Vec<String>>,
    /// Whether existing files with other content are replaced.
    pub overwrite: bool,
}

/// A file that a caller names.
#[derive(Clone, Debug)]
pub struct RequestedFile {
    /// Id of the player.
    pub run_id: Id,
    /// `artifact:<path>`
    pub file_ref: String,
    /// File name below the destination, if the caller chooses one.
    pub relative_path: Option<String>,
}

impl DownloadRequest {
    /// Returns whether `file_ref` is a reference to a file (service.md 15).
    pub(crate) fn is_file_ref(file_ref: &str) -> bool {
        file_ref.strip_prefix(FILE_REF_PREFIX).is_some_and(|name| !name.is_empty())
    }

    /// Returns the id of the run to which `id`, the id of a run or of a player, belongs.
    pub(crate) fn run_id_of(id: &str) -> &str {
        split_player_id(id).0
    }

    /// Returns the compiled patterns, or `None` if all files match.
    ///
    /// # Errors
    /// `invalid_arguments` with all invalid patterns.
    fn compile_patterns(&self) -> Result<Option<Vec<FilePattern>>, Failure> {
        let Some(patterns) = &self.patterns else { return Ok(None) };

        let (mut compiled, mut violations) = (Vec::new(), Vec::new());
        for (index, pattern) in patterns.iter().enumerate() {
            match FilePattern::new(pattern) {
                Ok(pattern) => compiled.push(pattern),
                Err(problem) => violations.push(Violation::new(
                    format!("patterns.{index}"),
                    format!("is not a pattern: {problem}"),
                )),
            }
        }

        if violations.is_empty() {
            Ok(Some(compiled))
        } else {
            Err(Failure::invalid_arguments("download_run_files", &violations))
        }
    }
}

/// Options of downloads. Programs use the default; tests use shorter pauses.
#[derive(Clone, Debug)]
pub struct DownloadOptions {
    /// Attempts to get the bytes of a file.
    pub retries: RetryPolicy,
    /// Largest file that is saved if neither the list of files nor the answer states its size, in bytes. An endless
    /// answer would fill the disk.
    pub max_unsized_bytes: u64,
}

impl Default for DownloadOptions {
    fn default() -> Self {
        Self {
            retries: RetryPolicy {
                attempts: 5,
                backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(4), 2.5),
            },
            max_unsized_bytes: 1 << 30,
        }
    }
}

/// The files of a run, saved or not.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
        Self {
            run_id: run_id.to_owned(),
            file_ref: file_ref(name),
            code: failure.code,
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            failure,
        }
    }
}

impl DownloadRequest {
    /// Saves the requested files. After the caller's wait limit no further file is begun: the remaining files are left to the
    /// next call. Dropping the future leaves no incomplete file.
    ///
    /// # Errors
    /// Failures of `get_run`; `file_error` if no file can be written any more; the failure of the first file if every
    /// file failed.
    pub async fn run(
        self,
        caller: &Caller,
        destination: &Destination,
        options: &DownloadOptions,
        call_options: &CallOptions,
    ) -> Result<DownloadReport, Failure> {
        let deadline = call_options.wait_limit.map(|limit| Instant::now() + limit);
        let patterns = self.compile_patterns()?;
        let run_id = split_player_id(&self.run_id).0;
        let listing = RunListing::read(caller, self.project.as_deref(), run_id).await?;

        let DownloadPlan { files, failed, .. } = DownloadPlan::new(&self, patterns.as_deref(), &listing)?;
        let progress =
            Arc::new(TransferProgress::new(files.iter().filter_map(|file| file.target.size).sum()));
        progress.start_clock();
        let paths = files.iter().map(|file| file.target.path.clone());
        let mut job = DownloadJob { saved: BTreeMap::new(), failed, remaining: paths.enumerate().collect() };
        if files.is_empty() {
            return job.into_report(&listing, destination.requested(), &progress);
        }

        let directory = destination.open()?;
        let path = directory.path().display().to_string();
        let context = TransferContext {
            directory,
            options: options.clone(),
            progress: Arc::clone(&progress),
            clock: Arc::clone(caller.clock()),
            deadline,
        };
        run_with_progress(job.save_files(caller, files, &context), &progress, call_options).await?;

        job.into_report(&listing, &path, &progress)
    }
}

/// Outcomes of the files so far, by their places in the plan.
struct DownloadJob {
    saved: BTreeMap<usize, SavedFile>,
    failed: Vec<FailedFile>,
    /// Local names of the files that are neither saved nor failed.
    remaining: BTreeMap<usize, String>,
}

impl DownloadJob {
    /// Saves the files until all are finished, the deadline passes or the disk fails.
    async fn save_files(
        &mut self,
        caller: &Caller,
        files: Vec<PlannedFile>,
        context: &TransferContext,
    ) -> Result<(), Failure> {
        let transfers = files.into_iter().enumerate().map(|(place, file)| async move {
            let PlannedFile { artifact, target } = file;
            let remote = RemoteFile::OfRun(Box::new(caller.clone()), artifact.clone());
            (place, artifact, save_file(&remote, target, context.clone()).await)
        });
        // A file that has begun is finished after the deadline, because another call would begin it anew.
        let started = stream::iter(transfers).take_until(sleep_until(context.deadline));
        let mut finished = pin!(started.buffer_unordered(PARALLEL_FILES));

        while let Some((place, artifact, outcome)) = finished.next().await {
            if let Err(failure) = self.record(place, &artifact, outcome) {
                return Err(self.with_file_lists(failure));
            }
        }

        Ok(())
    }

    /// Records the outcome of a file.
    ///
    /// # Errors
    /// The failure of the disk, if no other file can be written either.
    fn record(
        &mut self,
        place: usize,
        artifact: &Artifact,
        outcome: Result<SaveOutcome, SaveError>,
    ) -> Result<(), Failure> {
        let outcome = match outcome {
            Err(SaveError::Disk(failure)) => return Err(failure),
            Err(SaveError::File(failure)) => Err(failure),
            Ok(outcome) => Ok(outcome),
        };

        let path = self.remaining.remove(&place).unwrap_or_default();
        match outcome {
            Ok(SaveOutcome { size, is_kept: kept }) => {
                let (run_id, file_ref) = (artifact.run_id.clone(), file_ref(&artifact.filename));
                self.saved.insert(place, SavedFile { run_id, file_ref, path, size, kept });
            }
            Err(failure) => self.failed.push(FailedFile::new(&artifact.run_id, &artifact.filename, failure)),
        }

        Ok(())
    }

    /// Adds to the failure of the disk which files are saved and which are not.
    fn with_file_lists(&self, failure: Failure) -> Failure {
        let saved: Vec<_> = self.saved.values().map(|file| file.path.as_str()).take(MAX_LISTED).collect();
        let remaining: Vec<_> = self.remaining.values().take(MAX_LISTED).collect();
        failure
            .hint("free disk space or choose another destination, and call again: saved files are not downloaded again")
            .detail("saved_count", self.saved.len())
            .detail("saved", saved)
            .detail("remaining_count", self.remaining.len())
            .detail("remaining", json!(remaining))
    }

    fn into_report(
        self,
        listing: &RunListing,
        destination: &str,
        progress: &TransferProgress,
    ) -> Result<DownloadReport, Failure> {
        if self.saved.is_empty()
            && self.remaining.is_empty()
            && let Some(first) = self.failed.first()
        {
            let failed: Vec<_> = self.failed.iter().take(MAX_LISTED).collect();
            let failure = first.failure.clone().detail("failed_count", self.failed.len());
            return Err(failure.detail("failed", json!(failed)));
        }

        let files: Vec<_> = self.saved.into_values().collect();
        let is_paused = !self.remaining.is_empty();
        let status = match (is_paused, self.failed.is_empty()) {
            (true, _) => "downloading",
            (false, true) => "downloaded",
            (false, false) => "incomplete",
        };
        let hint = if is_paused {
            Some(CONTINUE_HINT.into())
        } else {
            files.is_empty().then(|| explain_no_files(listing))
        };

        Ok(DownloadReport {
            status,
            run_id: listing.run_id.clone(),
            destination: destination.to_owned(),
            file_count: files.len(),
            total_bytes: files.iter().map(|file| file.size).sum(),
            files,
            failed: self.failed,
            remaining: is_paused.then_some(self.remaining.len()),
            progress: is_paused.then(|| progress.describe()),
            hint,
        })
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

/// Waits for `work` and reports the progress.
async fn run_with_progress<T>(
    work: impl Future<Output = T>,
    progress: &TransferProgress,
    call_options: &CallOptions,
) -> T {
    let mut work = pin!(work);
    let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);

    loop {
        tokio::select! {
            done = &mut work => {
                progress.report_to(call_options);
                return done;
            }
            _ = ticks.tick() => progress.report_to(call_options),
        }
    }
}

/// Returns the reference to a file of a player.
fn file_ref(name: &str) -> String {
    format!("{FILE_REF_PREFIX}{name}")
}
