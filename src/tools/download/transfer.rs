//! The transfer of one file to its place on the disk.
//!
//! A transfer continues the bytes of an earlier one, or starts again, once.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use bytes::BytesMut;
use tokio::task::spawn_blocking;

use super::{
    DownloadOptions,
    local_file::{
        DownloadTarget, ExistingFile, FullDisk, OVERWRITE_HINT, PartialFile, SaveError, SaveOutcome,
    },
};
use crate::{
    call::OpenRefusal,
    client::{DownloadStream, ResumeFrom},
    clock::Clock,
    failure::{Code, Failure},
    tools::{
        call_options::CallOptions,
        files::{
            FileSlot, LockError, OpenDirectory, file_error, format_progress, is_escape, read_error,
            write_error,
        },
    },
};

/// Interval of progress messages.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// Number of bytes that are written at a time.
const WRITE_SIZE: usize = 256 * 1024;

/// Longest pause on request of the service in a call without a wait limit.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A file of the service that can be opened repeatedly.
pub(super) trait DownloadSource: Sync {
    /// Opens the file at the position `resume_from`. Sends one request.
    fn open(
        &self,
        resume_from: &ResumeFrom,
    ) -> impl Future<Output = Result<DownloadStream, OpenRefusal>> + Send;
}

/// Counts the bytes of a download. All its files share the counters.
#[derive(Debug)]
pub(super) struct TransferProgress {
    total: AtomicU64,
    /// Bytes on the disk.
    done: AtomicU64,
    /// The part of `done` that this call has received.
    received: AtomicU64,
    /// Maximum that was ever reported, so that a file that starts again does not make the progress go back.
    reported: AtomicU64,
    started: Instant,
}

impl TransferProgress {
    /// Creates the progress of a download of `total` bytes.
    pub(super) fn new(total: u64) -> Self {
        Self {
            total: AtomicU64::new(total),
            done: AtomicU64::new(0),
            received: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// Adds the size of a file whose size was not known before.
    fn add_expected(&self, bytes: u64) {
        self.total.fetch_add(bytes, Relaxed);
    }

    /// Counts bytes that an earlier call has saved.
    fn add_existing(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
    }

    fn add_received(&self, bytes: u64) {
        self.done.fetch_add(bytes, Relaxed);
        self.received.fetch_add(bytes, Relaxed);
    }

    /// Takes back bytes that have to be downloaded again.
    fn take_back(&self, bytes: u64) {
        self.done.fetch_sub(bytes, Relaxed);
    }

    /// Returns the number of bytes of all files whose size is known.
    fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// Returns the number of bytes on the disk. It never decreases.
    fn done(&self) -> u64 {
        let done = self.done.load(Relaxed).min(self.total());
        self.reported.fetch_max(done, Relaxed).max(done)
    }

    /// Returns the progress as text: bytes on the disk, total bytes and rate.
    pub(super) fn describe(&self) -> String {
        format_progress(self.done(), self.total(), self.received.load(Relaxed), self.started.elapsed())
    }

    /// Reports the progress to the caller.
    pub(super) fn report_to(&self, options: &CallOptions) {
        options.progress.report(self.done(), self.total(), &self.describe());
    }
}

/// The context that the files of one download share.
#[derive(Clone, Debug)]
pub(super) struct TransferContext {
    pub(super) directory: OpenDirectory,
    pub(super) options: DownloadOptions,
    pub(super) progress: Arc<TransferProgress>,
    pub(super) clock: Arc<dyn Clock>,
    /// End of the caller's wait limit.
    pub(super) deadline: Option<tokio::time::Instant>,
    pub(super) full_disk: FullDisk,
}

impl TransferContext {
    /// Opens the file and closes it at once, to find its size and modification time for `target`.
    async fn read_metadata(
        &self,
        source: &impl DownloadSource,
        target: &mut DownloadTarget,
    ) -> Result<(), SaveError> {
        let mut remaining_pauses = self.options.pauses();

        loop {
            let refusal = match source.open(&ResumeFrom::default()).await {
                Ok(stream) => {
                    (target.size, target.modified) = (stream.total, stream.modified);
                    self.progress.add_expected(stream.total.unwrap_or_default());
                    return Ok(());
                }
                Err(refusal) => refusal,
            };
            match remaining_pauses.next() {
                Some(pause) if refusal.is_transient => {
                    let outcome = self.pause_after(refusal.failure, pause, refusal.wait).await;
                    outcome.map_err(SaveError::File)?;
                }
                _ => return Err(SaveError::File(refusal.failure)),
            }
        }
    }

    /// Pauses before a repetition of what failed with `failure`: for `pause`, or for `retry_after` if the service asks for
    /// more.
    ///
    /// # Errors
    /// `failure`, if the service asks for a pause beyond the deadline.
    async fn pause_after(
        &self,
        failure: Failure,
        pause: Duration,
        retry_after: Option<Duration>,
    ) -> Result<(), Failure> {
        let time_left = self.deadline.map_or(LONGEST_PAUSE, |deadline| {
            deadline.saturating_duration_since(tokio::time::Instant::now())
        });

        if let Some(retry_after) = retry_after.filter(|retry_after| *retry_after > time_left) {
            let seconds = retry_after.as_secs();
            return Err(failure
                .retry_after(retry_after)
                .hint(format!("the service asks to wait {seconds} s: make the same call again after that")));
        }

        self.clock.sleep(retry_after.unwrap_or_default().max(pause)).await;

        Ok(())
    }
}

/// Reason why an attempt did not complete the file.
enum AttemptError {
    /// Another attempt may succeed. The service may ask for a wait.
    Transient(Failure, Option<Duration>),
    /// The bytes so far do not belong to the remote file.
    Stale,
    /// No further attempt is made.
    Final(SaveError),
}

impl From<SaveError> for AttemptError {
    fn from(error: SaveError) -> Self {
        Self::Final(error)
    }
}

/// Saves a file as `target`, unless an equal file exists there.
pub(super) async fn save_file(
    source: &impl DownloadSource,
    mut target: DownloadTarget,
    context: TransferContext,
) -> Result<SaveOutcome, SaveError> {
    let (directory, path) = (context.directory.clone(), target.path.clone());
    let opened = run_blocking(move || {
        let slot = directory.slot(&path)?;
        let existing = slot.existing()?.as_ref().map(ExistingFile::from);
        Ok((slot, existing))
    });
    let (slot, existing) = opened.await.map_err(|error| disk_error(&target.path, &error))?;

    if let Some(existing) = existing {
        // Without a listed size, only the remote file shows whether the existing file is equal.
        if existing.is_file && target.size.is_none() && !target.replaces {
            context.read_metadata(source, &mut target).await?;
        }
        if let Some(mut outcome) = existing.as_outcome(&target)? {
            context.progress.add_existing(outcome.size);
            if target.hashes {
                let digest = run_blocking(move || slot.digest()).await;
                let digest = digest.map_err(|error| SaveError::File(read_error(&target.path, &error)))?;
                outcome.sha256 = Some(digest);
            }
            return Ok(outcome);
        }
    }

    let mut transfer = FileTransfer::begin(slot, target, context).await?;
    match transfer.receive_all(source).await {
        Ok(()) => transfer.finish().await,
        Err(error) => Err(transfer.abandon(error).await),
    }
}

/// The transfer of one file.
struct FileTransfer {
    target: DownloadTarget,
    context: TransferContext,
    /// `None` only while a blocking thread works on the file.
    partial: Option<PartialFile>,
}

impl FileTransfer {
    /// Opens the incomplete file.
    async fn begin(
        slot: FileSlot,
        target: DownloadTarget,
        context: TransferContext,
    ) -> Result<Self, SaveError> {
        let (size, full_disk) = (target.size, context.full_disk.clone());
        let partial = match spawn_blocking(move || PartialFile::open(slot, size, full_disk)).await {
            Ok(Ok(partial)) => partial,
            Ok(Err(LockError::Busy)) => {
                let failure = file_error(&target.path, "is being downloaded by another call");
                return Err(SaveError::File(failure.hint("wait until that call has ended, then call again")));
            }
            Ok(Err(LockError::Io(error))) => return Err(disk_error(&target.path, &error)),
            Err(stopped) => return Err(disk_error(&target.path, &io::Error::other(stopped))),
        };

        context.progress.add_existing(partial.length);

        Ok(Self { target, context, partial: Some(partial) })
    }

    /// Makes attempts until the file is complete. The pauses begin anew after each attempt that reaches a new position.
    async fn receive_all(&mut self, source: &impl DownloadSource) -> Result<(), SaveError> {
        let options = self.context.options.clone();
        let (mut remaining_pauses, mut was_stale, mut furthest) = (options.pauses(), false, self.length());

        loop {
            match self.attempt(source).await {
                Ok(()) => return Ok(()),
                // The remote file may have changed between two attempts. One restart is enough to get its new
                // version.
                Err(AttemptError::Stale) if !was_stale => {
                    was_stale = true;
                    self.context.progress.take_back(self.length());
                    self.with_partial(PartialFile::clear).await?;
                }
                Err(AttemptError::Stale) => {
                    let problem = "the service answers with other parts than requested";
                    return Err(SaveError::File(self.bad_response(problem)));
                }
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Transient(failure, retry_after)) => {
                    if self.length() > furthest {
                        (remaining_pauses, furthest) = (options.pauses(), self.length());
                    }
                    let Some(pause) = remaining_pauses.next() else {
                        return Err(SaveError::File(self.with_saved_bytes(failure)));
                    };
                    tracing::debug!(file = self.target.path, "a download is continued: {failure}");
                    let failure = self.with_saved_bytes(failure);
                    let outcome = self.context.pause_after(failure, pause, retry_after).await;
                    outcome.map_err(SaveError::File)?;
                }
            }
        }
    }

    /// Requests the missing bytes and writes them.
    async fn attempt(&mut self, source: &impl DownloadSource) -> Result<(), AttemptError> {
        let resume_from = self.partial.as_ref().map(PartialFile::resume_from).unwrap_or_default();
        let mut stream = match source.open(&resume_from).await {
            Ok(stream) => stream,
            // 416: the file has fewer bytes than the incomplete file.
            Err(refusal) if refusal.failure.status == Some(416) && resume_from.offset > 0 => {
                return Err(AttemptError::Stale);
            }
            Err(OpenRefusal { failure, is_transient: true, wait }) => {
                return Err(AttemptError::Transient(failure, wait));
            }
            Err(OpenRefusal { failure, .. }) => return Err(SaveError::File(failure).into()),
        };
        self.adopt_metadata(&stream)?;

        let (etag, total) = (stream.etag.clone(), stream.total);
        let continues = resume_from.offset > 0
            && stream.offset == resume_from.offset
            && self.partial.as_ref().is_some_and(|partial| partial.belongs_to(etag.as_deref(), total));

        if !continues {
            // Bytes from the middle of the file cannot replace the bytes so far.
            if stream.offset != 0 {
                return Err(AttemptError::Stale);
            }
            self.context.progress.take_back(self.length());
            let size = total.or(self.target.size);
            self.with_partial(move |partial| partial.restart(etag.as_deref(), size)).await?;
        }

        self.write_stream(&mut stream).await
    }

    /// Compares the size of the stream with the listed size, and takes over what was not listed.
    fn adopt_metadata(&mut self, stream: &DownloadStream) -> Result<(), SaveError> {
        match (self.target.size, stream.total) {
            (Some(listed), Some(total)) if listed != total => {
                let problem = format!("the service lists {listed} bytes, but the file has {total}");
                return Err(SaveError::File(self.bad_response(&problem)));
            }
            (None, Some(total)) => {
                self.target.size = Some(total);
                self.context.progress.add_expected(total);
            }
            _ => {}
        }
        self.target.modified = self.target.modified.or(stream.modified);

        Ok(())
    }

    async fn write_stream(&mut self, stream: &mut DownloadStream) -> Result<(), AttemptError> {
        let expected = self.target.size.or(stream.total);
        let mut buffer = BytesMut::with_capacity(WRITE_SIZE);

        loop {
            let chunk = stream.chunk().await;
            if let Ok(Some(chunk)) = &chunk {
                buffer.extend_from_slice(chunk);
                self.context.progress.add_received(chunk.len() as u64);
            }

            let length = self.length() + buffer.len() as u64;
            if let Some(expected) = expected.filter(|expected| length > *expected) {
                let problem = format!("the service sends more than the expected {expected} bytes");
                return Err(SaveError::File(self.bad_response(&problem)).into());
            }

            let max = self.context.options.max_unsized_bytes;
            if expected.is_none() && length > max {
                let problem = format!("the service states no size and sends more than {max} bytes");
                return Err(SaveError::File(self.bad_response(&problem)).into());
            }

            let is_end = !matches!(&chunk, Ok(Some(_)));
            self.write_buffer(&mut buffer, is_end).await?;

            let path = &self.target.path;
            match (chunk, expected) {
                (Ok(Some(_)), _) => {}
                // A body without a stated length can end early without an error.
                (Ok(None), Some(expected)) if length < expected => {
                    let message = format!("`{path}` ended after {length} of {expected} bytes");
                    return Err(AttemptError::Transient(Failure::new(Code::BadResponse, message), None));
                }
                (Ok(None), _) => return Ok(()),
                (Err(error), _) => {
                    let message = format!("`{path}` after {length} bytes: {error}");
                    let failure = Failure::new(Code::ServiceUnavailable, message);
                    return Err(AttemptError::Transient(failure, None));
                }
            }
        }
    }

    /// Writes full blocks of the buffer, and at the end of the stream also the rest.
    async fn write_buffer(&mut self, buffer: &mut BytesMut, is_end: bool) -> Result<(), SaveError> {
        while buffer.len() >= WRITE_SIZE || (is_end && !buffer.is_empty()) {
            let bytes = buffer.split_to(WRITE_SIZE.min(buffer.len()));
            let disk = Arc::clone(&self.context.options.disk);
            self.with_partial(move |partial| partial.append(&bytes, &*disk)).await?;
        }
        Ok(())
    }

    /// Gives the complete file its name.
    async fn finish(mut self) -> Result<SaveOutcome, SaveError> {
        let size = self.length();
        let DownloadTarget { modified, replaces, hashes, .. } = self.target;
        let disk = Arc::clone(&self.context.options.disk);
        let finished = self
            .with_partial(move |partial| {
                let sha256 = hashes.then(|| partial.digest()).transpose()?;
                partial.finish(modified, replaces, &*disk)?;
                Ok(sha256)
            })
            .await;

        if let Err(SaveError::File(_)) = &finished {
            // A complete file that cannot have its name cannot be continued either.
            self.context.progress.take_back(size);
            self.with_partial(PartialFile::clear).await?;
        }

        Ok(SaveOutcome { size, is_kept: false, sha256: finished? })
    }

    /// Removes the bytes of a transfer that failed with `error`, unless the next call can continue it.
    async fn abandon(mut self, error: SaveError) -> SaveError {
        let can_continue = match &error {
            SaveError::File(failure) => failure.facts.bytes_saved.is_some(),
            // Without a known size, nothing tells whether a further call can ever complete the file.
            SaveError::Disk(_) => {
                let is_resumable = self.target.size.is_some() && self.resume_offset() > 0;
                is_resumable && !self.context.full_disk.is_noted()
            }
        };

        if !can_continue {
            self.context.progress.take_back(self.length());
            if let Err(error) = self.with_partial(PartialFile::clear).await {
                return error;
            }
        }

        error
    }

    fn bad_response(&self, problem: &str) -> Failure {
        Failure::new(Code::BadResponse, format!("`{}`: {problem}", self.target.path))
            .hint("none of its bytes were kept; call again later")
    }

    /// Adds to `failure` how many bytes the next call can continue from.
    fn with_saved_bytes(&self, failure: Failure) -> Failure {
        match self.resume_offset() {
            0 => failure,
            bytes => failure.bytes_saved(bytes).hint("call again to continue the download"),
        }
    }

    /// Returns the position from which another call can continue.
    fn resume_offset(&self) -> u64 {
        self.partial.as_ref().map_or(0, |partial| partial.resume_from().offset)
    }

    fn length(&self) -> u64 {
        self.partial.as_ref().map_or(0, |partial| partial.length)
    }

    /// Runs `work` with the incomplete file in a blocking thread.
    async fn with_partial<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut PartialFile) -> io::Result<T> + Send + 'static,
    ) -> Result<T, SaveError> {
        let Some(mut partial) = self.partial.take() else {
            let error = io::Error::other("the thread that wrote the file has ended");
            return Err(disk_error(&self.target.path, &error));
        };

        let worked = spawn_blocking(move || {
            let result = work(&mut partial);
            (partial, result)
        });
        let (partial, result) =
            worked.await.map_err(|stopped| disk_error(&self.target.path, &io::Error::other(stopped)))?;
        self.partial = Some(partial);

        result.map_err(|error| {
            self.context.full_disk.note(&error);
            disk_error(&self.target.path, &error)
        })
    }
}

/// Runs `work` in a blocking thread, because file operations block.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|stopped| Err(io::Error::other(stopped)))
}

/// Returns the failure for an error of the file system. The variant tells whether other files can still be written.
fn disk_error(path: &str, error: &io::Error) -> SaveError {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };

    match error.kind() {
        _ if is_escape(error) => {
            SaveError::File(file_error(path, "leads out of the destination through a link"))
        }
        AlreadyExists => {
            SaveError::File(file_error(path, "was created by another program").hint(OVERWRITE_HINT))
        }
        IsADirectory => SaveError::File(file_error(path, "is a directory")),
        NotADirectory => SaveError::File(file_error(path, "would be inside a path that is a file")),
        PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull => {
            SaveError::Disk(write_error(path, error))
        }
        _ => SaveError::File(write_error(path, error)),
    }
}
