//! The transfer of one file to its place on the disk: into a temporary file, which gets its name when it is complete.
//!
//! After a broken connection, the transfer requests the missing bytes, or starts again, once.

use std::{
    hash::{BuildHasher as _, RandomState},
    io::{self, ErrorKind},
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap_std::fs::{Metadata, OpenOptions};
use tokio::{
    fs::File,
    io::{AsyncWriteExt as _, BufWriter},
    task::spawn_blocking,
    time::Instant,
};

use super::{DownloadOptions, remote::RemoteFile};
use crate::{
    call::OpenRefusal,
    client::{DownloadStream, ResumeFrom},
    clock::Clock,
    failure::{Code, Failure},
    tools::files::{FileSlot, OpenDirectory, TransferProgress, file_error, is_escape, write_error},
};

/// Number of bytes that are written at a time.
const WRITE_SIZE: usize = 256 * 1024;

/// Longest pause on request of the service in a call without a wait limit.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Maximum difference between the times of equal files. Some file systems store times in steps of two seconds.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);

/// Hint for a file name that is taken by another file.
const OVERWRITE_HINT: &str =
    "`overwrite: true` (`--overwrite`) replaces the file; or name another destination";

/// The local file that a download produces.
#[derive(Clone, Debug)]
pub(super) struct DownloadTarget {
    /// File name below the destination.
    pub(super) path: String,
    /// Size in bytes, if it is known.
    pub(super) size: Option<u64>,
    /// Modification time, if it is known.
    pub(super) modified: Option<SystemTime>,
    /// Whether an existing file with other content is replaced.
    pub(super) replaces: bool,
}

/// A saved file.
#[derive(Clone, Debug)]
pub(super) struct SaveOutcome {
    pub(super) size: u64,
    /// Whether the file existed before and was not downloaded.
    pub(super) is_kept: bool,
}

/// Reason why a file was not saved.
#[derive(Debug)]
pub(super) enum SaveError {
    /// Other files may still be saved.
    File(Failure),
    /// No other file can be written either.
    Disk(Failure),
}

/// Reason why an attempt did not complete the file.
enum AttemptError {
    /// Another attempt may succeed.
    Transient(Failure),
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

/// What the files of one download share.
#[derive(Clone, Debug)]
pub(super) struct TransferContext {
    pub(super) directory: OpenDirectory,
    pub(super) options: DownloadOptions,
    pub(super) progress: Arc<TransferProgress>,
    pub(super) clock: Arc<dyn Clock>,
    /// End of the caller's wait limit.
    pub(super) deadline: Option<Instant>,
}

/// Saves a file as `target`, unless an equal file exists there.
pub(super) async fn save_file(
    remote: &RemoteFile,
    target: DownloadTarget,
    context: TransferContext,
) -> Result<SaveOutcome, SaveError> {
    let (directory, path) = (context.directory.clone(), target.path.clone());
    let opened = run_blocking(move || {
        let slot = directory.slot(&path)?;
        let existing = slot.existing()?;
        Ok((slot, existing))
    });
    let (slot, existing) = opened.await.map_err(|error| disk_error(&target.path, &error))?;

    if let Some(existing) = existing
        && keeps(&existing, &target)?
    {
        context.progress.add_present(existing.len());
        return Ok(SaveOutcome { size: existing.len(), is_kept: true });
    }

    let partial = PartialFile::create(slot).await.map_err(|error| disk_error(&target.path, &error))?;
    let mut transfer = FileTransfer { target, context, partial };
    transfer.receive_all(remote).await?;
    transfer.finish().await
}

/// Returns whether the existing file is equal to `target` and kept, or is replaced.
///
/// # Errors
/// The existing file is another file and must not be replaced.
fn keeps(existing: &Metadata, target: &DownloadTarget) -> Result<bool, SaveError> {
    let modified = existing.modified().ok().map(cap_std::time::SystemTime::into_std);
    let has_equal_time = match (modified, target.modified) {
        (Some(existing), Some(expected)) => {
            let difference = existing.duration_since(expected).or_else(|_| expected.duration_since(existing));
            difference.is_ok_and(|difference| difference < TIME_TOLERANCE)
        }
        // A caller who wants to replace the file does not want to keep a file of unknown age.
        _ => !target.replaces,
    };
    if existing.is_file() && Some(existing.len()) == target.size && has_equal_time {
        return Ok(true);
    }

    if existing.is_dir() {
        return Err(SaveError::File(file_error(&target.path, "is a directory")));
    }
    if target.replaces {
        return Ok(false);
    }
    let failure = file_error(&target.path, "exists already and is another file");
    Err(SaveError::File(failure.hint(OVERWRITE_HINT)))
}

/// The transfer of one file.
struct FileTransfer {
    target: DownloadTarget,
    context: TransferContext,
    partial: PartialFile,
}

impl FileTransfer {
    /// Makes attempts until the file is complete. The pauses begin anew after each attempt that reaches a new position.
    async fn receive_all(&mut self, remote: &RemoteFile) -> Result<(), SaveError> {
        let mut attempts = self.context.options.retries.start();
        let (mut was_stale, mut furthest) = (false, 0);

        loop {
            match self.attempt(remote).await {
                Ok(()) => return Ok(()),
                // The remote file may have changed between two attempts. One restart is enough to get its new version.
                Err(AttemptError::Stale) if !was_stale => {
                    was_stale = true;
                    self.restart(None).await?;
                }
                Err(AttemptError::Stale) => {
                    return Err(self.bad_response("the service answers with other parts than requested"));
                }
                Err(AttemptError::Final(error)) => return Err(error),
                Err(AttemptError::Transient(failure)) => {
                    if self.partial.length > furthest {
                        furthest = self.partial.length;
                        attempts.begin_anew();
                    }
                    let TransferContext { clock, deadline, .. } = &self.context;
                    let left =
                        deadline.map_or(LONGEST_PAUSE, |end| end.saturating_duration_since(Instant::now()));
                    attempts.pause_after(failure, &**clock, left).await.map_err(SaveError::File)?;
                }
            }
        }
    }

    /// Requests the missing bytes and writes them.
    async fn attempt(&mut self, remote: &RemoteFile) -> Result<(), AttemptError> {
        let resume_from = self.partial.resume_from();
        let mut stream = match remote.open(&resume_from).await {
            Ok(stream) => stream,
            // 416: the file has fewer bytes than the incomplete file.
            Err(refusal) if refusal.failure.status == Some(416) && resume_from.offset > 0 => {
                return Err(AttemptError::Stale);
            }
            Err(OpenRefusal { failure, is_transient: true, wait }) => {
                let failure = match wait {
                    Some(wait) => failure.retry_after(wait),
                    None => failure,
                };
                return Err(AttemptError::Transient(failure));
            }
            Err(OpenRefusal { failure, .. }) => return Err(SaveError::File(failure).into()),
        };
        self.adopt_metadata(&stream)?;

        let continues = resume_from.offset > 0
            && stream.offset == resume_from.offset
            && self.partial.belongs_to(stream.etag.as_deref());
        if !continues {
            // Bytes from the middle of the file cannot replace the bytes so far.
            if stream.offset != 0 {
                return Err(AttemptError::Stale);
            }
            self.restart(stream.etag.take()).await?;
        }

        self.write_stream(&mut stream).await
    }

    /// Compares the size of the stream with the listed size, and takes over what was not listed.
    fn adopt_metadata(&mut self, stream: &DownloadStream) -> Result<(), SaveError> {
        match (self.target.size, stream.total) {
            (Some(listed), Some(total)) if listed != total => {
                let problem = format!("the service lists {listed} bytes, but the file has {total}");
                return Err(self.bad_response(&problem));
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
        let max = self.target.size.unwrap_or(self.context.options.max_unsized_bytes);
        let path = self.target.path.clone();

        let problem = loop {
            match stream.chunk().await {
                Ok(Some(chunk)) => {
                    let length = self.partial.length + chunk.len() as u64;
                    if length > max {
                        let expected = if self.target.size.is_some() { "expected " } else { "allowed " };
                        let problem = format!("the service sends more than the {expected}{max} bytes");
                        return Err(self.bad_response(&problem).into());
                    }
                    let written = self.partial.write(&chunk).await;
                    written.map_err(|error| disk_error(&path, &error))?;
                    self.context.progress.add_transferred(chunk.len() as u64);
                }
                Ok(None) if self.target.size.is_none_or(|size| self.partial.length == size) => return Ok(()),
                // A body without a stated length can end early without an error.
                Ok(None) => break format!("`{path}` ended after {} of {max} bytes", self.partial.length),
                Err(error) => break format!("`{path}` after {} bytes: {error}", self.partial.length),
            }
        };

        Err(AttemptError::Transient(Failure::new(Code::ServiceUnavailable, problem)))
    }

    /// Begins again with an empty file, for the version `etag` of the remote file.
    async fn restart(&mut self, etag: Option<String>) -> Result<(), SaveError> {
        if self.partial.length > 0 {
            self.context.progress.take_back(self.partial.length);
            let created = PartialFile::create(self.partial.slot.clone()).await;
            self.partial = created.map_err(|error| disk_error(&self.target.path, &error))?;
        }
        self.partial.etag = etag;
        Ok(())
    }

    /// Gives the complete file its name.
    async fn finish(self) -> Result<SaveOutcome, SaveError> {
        let Self { target, partial, .. } = self;
        let size = partial.length;

        let finished = partial.finish(target.modified, target.replaces).await;
        finished.map_err(|error| disk_error(&target.path, &error))?;
        Ok(SaveOutcome { size, is_kept: false })
    }

    fn bad_response(&self, problem: &str) -> SaveError {
        let failure = Failure::new(Code::BadResponse, format!("`{}`: {problem}", self.target.path));
        SaveError::File(failure.hint("none of its bytes were kept; call again later"))
    }
}

/// The file that a transfer writes. It is removed with this value, unless it has got its name.
#[derive(Debug)]
struct PartialFile {
    slot: FileSlot,
    /// Temporary name.
    name: String,
    file: BufWriter<File>,
    length: u64,
    /// `ETag` of the remote file, as the service wrote it.
    etag: Option<String>,
}

impl PartialFile {
    async fn create(slot: FileSlot) -> io::Result<Self> {
        // Calls with the same destination must not write to one file.
        let number = RandomState::new().hash_one(&slot.name) & 0xffff_ffff;
        let name = format!(".{}.{number:08x}.part", slot.name);

        let (directory, file_name) = (Arc::clone(&slot.dir), name.clone());
        let options = OpenOptions::new().write(true).create_new(true).clone();
        let file = run_blocking(move || directory.open_with(&file_name, &options)).await?;
        let file = BufWriter::with_capacity(WRITE_SIZE, File::from_std(file.into_std()));

        Ok(Self { slot, name, file, length: 0, etag: None })
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Returns the position at which the download continues. A weak `ETag` does not identify the content byte by byte.
    fn resume_from(&self) -> ResumeFrom {
        let etag = self.etag.clone().filter(|etag| !etag.is_empty() && !etag.starts_with("W/"));
        etag.map_or_else(ResumeFrom::default, |etag| ResumeFrom { offset: self.length, etag: Some(etag) })
    }

    /// Returns whether the bytes so far belong to the file of an answer with this `ETag`.
    fn belongs_to(&self, etag: Option<&str>) -> bool {
        let unquoted = |etag: &str| etag.trim().trim_matches('"').to_owned();
        etag.is_none_or(|etag| self.etag.as_deref().map(unquoted) == Some(unquoted(etag)))
    }

    /// Gives the complete file its name and modification time. An existing file is replaced only if `replaces` is set.
    async fn finish(mut self, modified: Option<SystemTime>, replaces: bool) -> io::Result<()> {
        self.file.flush().await?;
        let file = self.file.get_ref().try_clone().await?.into_std().await;

        run_blocking(move || {
            let slot = &self.slot;
            if let Some(modified) = modified {
                // The error is ignored: not every file system supports modification times.
                drop(file.set_modified(modified));
            }
            // The name promises complete content, also after a power failure.
            file.sync_all()?;

            if !replaces && slot.existing()?.is_some() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            slot.dir.rename(&self.name, &slot.dir, &slot.name)
        })
        .await
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // After the renaming there is no such file.
        drop(self.slot.dir.remove_file(&self.name));
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
    use ErrorKind::{
        AlreadyExists, FileTooLarge, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded,
        ReadOnlyFilesystem, StorageFull,
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
        FileTooLarge | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull => {
            SaveError::Disk(write_error(path, error))
        }
        _ => SaveError::File(write_error(path, error)),
    }
}
