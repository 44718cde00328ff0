//! The download of the files of a run.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tokio::time::Instant;

use super::{
    DownloadOptions, DownloadReport, DownloadRequest, FailedFile, SavedFile,
    file_ref::{FILE_REF_PREFIX, split_player_id},
    plan::{DownloadPlan, PlannedFile},
    progress::{PROGRESS_INTERVAL, TransferProgress},
    report::CONTINUE_HINT,
    run_listing::RunListing,
    source::ArtifactSource,
    target::{SaveError, SaveOutcome},
    transfer::save_file,
    transfer_context::TransferContext,
};
use crate::{
    call::gateway::{Artifact, Gateway},
    failure::Failure,
    tools::{
        caller::CallerContext,
        files::{Destination, sleep_until},
    },
};

/// Number of files that are downloaded at the same time.
const PARALLEL_FILES: usize = 4;

/// Maximum number of files that a failure lists.
const MAX_LISTED: usize = 50;

impl DownloadRequest {
    /// Saves the requested files. When the caller's wait limit passes, the remaining files are left to the next call. Dropping
    /// the future leaves no incomplete file under its own name.
    ///
    /// # Errors
    /// Failures of `get_run`; `file_error` if no file can be written any more; the failure of the first file if every file
    /// failed.
    pub async fn run(
        self,
        gateway: &Gateway,
        destination: &Destination,
        options: &DownloadOptions,
        caller: &CallerContext,
    ) -> Result<DownloadReport, Failure> {
        let deadline = caller.wait_limit.map(|limit| Instant::now() + limit);
        let patterns = self.compile_patterns()?;
        let run_id = split_player_id(&self.run_id).0;
        let listing = RunListing::read(gateway, self.project.as_deref(), run_id).await?;

        let DownloadPlan { files, failed, .. } = DownloadPlan::new(&self, patterns.as_deref(), &listing)?;
        let progress =
            Arc::new(TransferProgress::new(files.iter().filter_map(|file| file.target.size).sum()));
        let mut job = DownloadJob { failed, ..DownloadJob::default() };
        if files.is_empty() {
            return job.into_report(&listing, destination.requested(), &progress);
        }

        let directory = destination.open()?;
        let path = directory.path().display().to_string();
        let context = TransferContext {
            directory,
            options: options.clone(),
            progress: Arc::clone(&progress),
            clock: Arc::clone(gateway.clock()),
            deadline,
        };
        job.save_files(gateway, files, &context, caller).await?;

        job.into_report(&listing, &path, &progress)
    }
}

/// Outcomes of the files so far.
#[derive(Debug, Default)]
struct DownloadJob {
    /// Saved files, each with its position in the plan.
    saved: Vec<(usize, SavedFile)>,
    failed: Vec<FailedFile>,
    /// Local names of the files that were not saved before the deadline.
    remaining: Vec<String>,
}

/// A finished file.
struct FinishedFile {
    /// Position of the file in the plan.
    index: usize,
    artifact: Artifact,
    path: String,
    outcome: Result<SaveOutcome, SaveError>,
}

impl DownloadJob {
    /// Saves the files until all are finished, the deadline passes or the disk fails.
    async fn save_files(
        &mut self,
        gateway: &Gateway,
        files: Vec<PlannedFile>,
        context: &TransferContext,
        caller: &CallerContext,
    ) -> Result<(), Failure> {
        let mut unfinished: Vec<_> = files.iter().map(|file| Some(file.target.path.clone())).collect();
        let mut finished_files = stream::iter(files.into_iter().enumerate())
            .map(|(index, file)| save_planned_file(gateway.clone(), index, file, context.clone()))
            .buffer_unordered(PARALLEL_FILES);
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        let mut disk_failure = None;

        while disk_failure.is_none() {
            tokio::select! {
                finished = finished_files.next() => {
                    let Some(file) = finished else { break };
                    let index = file.index;
                    disk_failure = self.record(file);
                    if disk_failure.is_none() && let Some(path) = unfinished.get_mut(index) {
                        *path = None;
                    }
                }
                () = sleep_until(context.deadline) => break,
                _ = ticks.tick() => context.progress.report_to(caller),
            }
        }

        // Dropping the stream stops the transfers that are in progress.
        drop(finished_files);
        context.progress.report_to(caller);
        self.remaining = unfinished.into_iter().flatten().collect();

        match disk_failure {
            Some(failure) => Err(self.with_file_lists(failure)),
            None => Ok(()),
        }
    }

    /// Records the outcome of a file. Returns the failure if no other file can be written either.
    fn record(&mut self, file: FinishedFile) -> Option<Failure> {
        let FinishedFile { index, artifact, path, outcome } = file;
        match outcome {
            Ok(outcome) => self.saved.push((index, saved_file(&artifact, path, &outcome))),
            Err(SaveError::File(failure)) => {
                self.failed.push(FailedFile::new(&artifact.run_id, &artifact.filename, failure));
            }
            Err(SaveError::Disk(failure)) => return Some(failure),
        }
        None
    }

    /// Adds to the failure of the disk which files are saved and which are not.
    fn with_file_lists(&self, failure: Failure) -> Failure {
        let saved: Vec<_> = self.saved.iter().map(|(_, file)| file.path.as_str()).take(MAX_LISTED).collect();
        let remaining: Vec<_> = self.remaining.iter().take(MAX_LISTED).collect();
        failure
            .hint("free disk space or choose another destination, and call again: saved files are not downloaded again")
            .detail("saved_count", self.saved.len())
            .detail("saved", saved)
            .detail("remaining_count", self.remaining.len())
            .detail("remaining", json!(remaining))
    }

    fn into_report(
        mut self,
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

        // Files finish in any order. The report has the order of the plan.
        self.saved.sort_by_key(|(index, _)| *index);
        let files: Vec<_> = self.saved.into_iter().map(|(_, file)| file).collect();
        let is_paused = !self.remaining.is_empty();
        let status = match (is_paused, self.failed.is_empty()) {
            (true, _) => "downloading",
            (false, true) => "downloaded",
            (false, false) => "incomplete",
        };
        let hint = if is_paused {
            Some(CONTINUE_HINT.to_owned())
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
fn explain_no_files(listing: &RunListing) -> String {
    let count: usize = listing.players.iter().map(|player| player.files.len()).sum();
    if count > 0 {
        return format!("none of the run's {count} files matches: list them with `list_run_artifacts`");
    }
    format!("the run has no files; its state is `{}`, and files are stored at its end", listing.state)
}

async fn save_planned_file(
    gateway: Gateway,
    index: usize,
    file: PlannedFile,
    context: TransferContext,
) -> FinishedFile {
    let PlannedFile { artifact, target } = file;
    let path = target.path.clone();
    let source = ArtifactSource { gateway, artifact };
    let outcome = save_file(&source, target, context).await;
    FinishedFile { index, artifact: source.artifact, path, outcome }
}

fn saved_file(artifact: &Artifact, path: String, outcome: &SaveOutcome) -> SavedFile {
    SavedFile {
        run_id: artifact.run_id.clone(),
        file_ref: format!("{FILE_REF_PREFIX}{}", artifact.filename),
        path,
        size: outcome.size,
        kept: outcome.is_kept,
    }
}
