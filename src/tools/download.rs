//! Downloading: the files of a run, and installers. Bytes go to a file of another name first, which gets its own when it
//! is whole; what was cut off is continued by the next call. Names that the service chooses are taken as they are or
//! refused, and nothing is written outside the destination.

use std::{fmt, fs::File, io, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, stream};
use serde_json::json;
use tokio::time::Instant;

mod context;
mod existing_file;
mod glob;
mod installer;
mod partial_file;
mod plan;
mod progress;
mod report;
mod run_listing;
mod transfer;

pub use installer::{InstallerRequest, SavedInstaller};
pub use report::{DownloadReport, FailedFile, SavedFile};

use self::{
    context::{DownloadSource, SaveError, SaveOutcome, TransferContext},
    plan::{ARTIFACT, DownloadPlan, PlannedFile},
    progress::DownloadProgress,
    run_listing::{RunListing, split},
    transfer::save,
};
use crate::{
    call::gateway::{Artifact, Gateway, Refusal},
    client::{DownloadStream, ResumeFrom},
    failure::Failure,
    service::api::Id,
    tools::{
        caller::CallerContext,
        files::{Destination, sleep_until},
    },
};

/// Files that come at once.
const AT_ONCE: usize = 4;

/// Most files that a failure names.
const MOST_NAMED: usize = 50;

/// How often somebody who waits is told how far it has come.
const INTERVAL: Duration = Duration::from_secs(1);

/// What to do when there was not enough time.
const LATE: &str = "nothing goes on meanwhile: make the same call again, it goes on where this one ended";

/// Pauses between attempts that bring nothing.
const PAUSES: [Duration; 4] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// What is wanted of a run.
#[derive(Clone, Debug, Default)]
pub struct DownloadRequest {
    /// Project that the caller named.
    pub project: Option<String>,
    /// Of a run, or of one of its players.
    pub run_id: String,
    /// Only these files.
    pub files: Option<Vec<RequestedFile>>,
    /// Only these players.
    pub players: Option<Vec<u64>>,
    /// Only files whose names one of these patterns means.
    pub patterns: Option<Vec<String>>,
    /// Whether other files of the same names are replaced.
    pub overwrite: bool,
}

/// A file that a caller names.
#[derive(Clone, Debug)]
pub struct RequestedFile {
    /// Of the player.
    pub run_id: Id,
    /// `artifact:<path>`
    pub file_ref: String,
    /// Where it goes, below the destination.
    pub relative_path: Option<String>,
}

/// How patiently bytes are fetched, and how they are written.
#[derive(Clone, Debug)]
pub struct DownloadOptions {
    /// Pauses between attempts that bring nothing; there are no more attempts than these and one.
    pub pauses: Arc<[Duration]>,
    /// Takes the bytes.
    pub disk: Arc<dyn Disk>,
}

impl Default for DownloadOptions {
    fn default() -> Self {
        Self { pauses: Arc::new(PAUSES), disk: Arc::new(SystemDisk) }
    }
}

/// Writes to files.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Writes all the bytes.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()>;

    /// Keeps what was written, also when the power is lost.
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
}

/// The disk that there is.
#[derive(Clone, Copy, Debug)]
struct SystemDisk;

impl Disk for SystemDisk {
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        io::Write::write_all(file, bytes)
    }
}

impl DownloadRequest {
    /// Why a place that the caller chose for a file cannot be one, if so.
    pub fn problem(path: &str) -> Option<&'static str> {
        plan::problem(path)
    }

    /// Whether a reference is one of a file (supplement 15).
    pub fn is_reference(file_ref: &str) -> bool {
        file_ref.strip_prefix(ARTIFACT).is_some_and(|name| !name.is_empty())
    }

    /// The run that an id is of, or of whose player it is.
    pub fn run_of(id: &str) -> &str {
        split(id).0
    }

    fn means(&self, name: &str) -> bool {
        let Some(patterns) = &self.patterns else { return true };
        patterns.iter().any(|pattern| glob::is_match(pattern, name))
    }

    /// Saves what is wanted. When the audience waits no longer, what has not come is left to the next call. Dropping the
    /// future leaves no file that is not whole under its own name.
    ///
    /// # Errors
    /// Those of `get_run`; `file_error` when nothing can be written any more; what went wrong with the first file when
    /// none came.
    pub async fn run(
        self,
        gateway: &Gateway,
        destination: &Destination,
        options: &DownloadOptions,
        audience: &CallerContext,
    ) -> Result<DownloadReport, Failure> {
        let end = audience.wait_limit.map(|patience| Instant::now() + patience);
        let listing = run_listing::read(gateway, self.project.as_deref(), split(&self.run_id).0).await?;
        let mut plan = DownloadPlan::of(&self, &listing)?;
        let wanted = std::mem::take(&mut plan.wanted);
        let progress = Arc::new(DownloadProgress::new(wanted.iter().filter_map(|one| one.target.size).sum()));
        let mut job = DownloadJob { failed: plan.failed, ..DownloadJob::default() };
        if wanted.is_empty() {
            return job.report(&listing, destination.shown(), &progress);
        }

        let directory = destination.open()?;
        let shown = directory.path().display().to_string();
        let (meter_of_all, clock) = (Arc::clone(&progress), Arc::clone(gateway.clock()));
        let work =
            TransferContext { directory, options: options.clone(), progress: meter_of_all, clock, end };

        job.fetch(gateway, wanted, &work, audience).await?;

        job.report(&listing, &shown, &progress)
    }
}

/// What has come of the files so far.
#[derive(Debug, Default)]
struct DownloadJob {
    files: Vec<(usize, SavedFile)>,
    failed: Vec<FailedFile>,
    remaining: Vec<String>,
}

impl DownloadJob {
    async fn fetch(
        &mut self,
        gateway: &Gateway,
        wanted: Vec<PlannedFile>,
        work: &TransferContext,
        audience: &CallerContext,
    ) -> Result<(), Failure> {
        let mut waiting: Vec<_> = wanted.iter().map(|one| Some(one.target.path.clone())).collect();
        let mut coming = stream::iter(wanted.into_iter().enumerate())
            .map(|(place, one)| fetch_one(gateway.clone(), place, one, work.clone()))
            .buffer_unordered(AT_ONCE);
        let mut ticks = tokio::time::interval(INTERVAL);
        let mut full = None;

        while full.is_none() {
            tokio::select! {
                ended = coming.next() => {
                    let Some((place, artifact, path, ended)) = ended else { break };
                    match ended {
                        Ok(saved) => self.files.push((place, saved_file(&artifact, path, &saved))),
                        Err(SaveError::File(failure)) => {
                            self.failed.push(FailedFile::new(&artifact.run_id, &artifact.filename, failure));
                        }
                        Err(SaveError::Disk(failure)) => {
                            full = Some(failure);
                            continue;
                        }
                    }
                    if let Some(waiting) = waiting.get_mut(place) {
                        *waiting = None;
                    }
                }
                () = sleep_until(work.end) => break,
                _ = ticks.tick() => tell(&work.progress, audience),
            }
        }

        drop(coming);
        tell(&work.progress, audience);
        self.remaining = waiting.into_iter().flatten().collect();

        full.map_or(Ok(()), |failure| Err(self.stopped(failure)))
    }

    /// Nothing more can be written: says what is there and what is not.
    fn stopped(&self, failure: Failure) -> Failure {
        let saved: Vec<_> = self.files.iter().map(|(_, file)| file.path.as_str()).take(MOST_NAMED).collect();
        let remaining: Vec<_> = self.remaining.iter().take(MOST_NAMED).collect();
        failure
            .hint("make room or choose another destination, and call again: what was saved is not fetched again")
            .detail("saved_count", self.files.len())
            .detail("saved", saved)
            .detail("remaining_count", self.remaining.len())
            .detail("remaining", json!(remaining))
    }

    fn report(
        mut self,
        listing: &RunListing,
        destination: &str,
        progress: &DownloadProgress,
    ) -> Result<DownloadReport, Failure> {
        if self.files.is_empty()
            && self.remaining.is_empty()
            && let Some(first) = self.failed.first()
        {
            let failed = json!(self.failed.iter().take(MOST_NAMED).collect::<Vec<_>>());
            return Err(first
                .failure
                .clone()
                .detail("failed_count", self.failed.len())
                .detail("failed", failed));
        }
        self.files.sort_by_key(|(place, _)| *place);

        let files: Vec<_> = self.files.into_iter().map(|(_, file)| file).collect();
        let is_late = !self.remaining.is_empty();
        let status = match (is_late, self.failed.is_empty()) {
            (true, _) => "downloading",
            (false, true) => "downloaded",
            (false, false) => "incomplete",
        };
        let none = (files.is_empty() && !is_late).then(|| nothing(listing));
        let hint = if is_late { Some(LATE.to_owned()) } else { none };

        Ok(DownloadReport {
            status,
            run_id: listing.run_id.clone(),
            destination: destination.to_owned(),
            file_count: files.len(),
            total_bytes: files.iter().map(|file| file.size).sum(),
            files,
            failed: self.failed,
            remaining: is_late.then_some(self.remaining.len()),
            progress: is_late.then(|| progress.describe()),
            hint,
        })
    }
}

/// Why there was nothing to save.
fn nothing(listing: &RunListing) -> String {
    let files: usize = listing.players.iter().map(|player| player.files.len()).sum();
    if files > 0 {
        return format!("none of the run's {files} files is meant: see them with `list_run_artifacts`");
    }
    format!("the run has no files; its state is `{}`, and files come at its end", listing.state)
}

async fn fetch_one(
    gateway: Gateway,
    place: usize,
    one: PlannedFile,
    work: TransferContext,
) -> (usize, Artifact, String, Result<SaveOutcome, SaveError>) {
    let PlannedFile { artifact, target } = one;
    let path = target.path.clone();
    let origin = ArtifactSource { gateway, artifact };
    let ended = save(&origin, target, work).await;
    (place, origin.artifact, path, ended)
}

/// A file of a player, on the knowledge host or where that leads.
struct ArtifactSource {
    gateway: Gateway,
    artifact: Artifact,
}

impl DownloadSource for ArtifactSource {
    async fn open(&self, rest: &ResumeFrom) -> Result<DownloadStream, Refusal> {
        self.gateway.open(&self.artifact, rest).await
    }
}

fn saved_file(artifact: &Artifact, path: String, saved: &SaveOutcome) -> SavedFile {
    SavedFile {
        run_id: artifact.run_id.clone(),
        file_ref: format!("{ARTIFACT}{}", artifact.filename),
        path,
        size: saved.size,
        kept: saved.is_kept,
    }
}

fn tell(progress: &DownloadProgress, audience: &CallerContext) {
    audience.progress.report(progress.there(), progress.total(), &progress.describe());
}
