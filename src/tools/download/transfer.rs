//! The transfer of one file to its place on the disk: into a temporary file, which gets its name when it is complete.
//!
//! After a broken connection, the next attempt requests only the missing bytes.

use std::{
    hash::{BuildHasher as _, RandomState},
    io::{self, ErrorKind},
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap_std::fs::{Metadata, OpenOptions};
use tokio::{
    fs::File,
    io::{AsyncSeekExt as _, AsyncWriteExt as _, BufWriter},
    task::spawn_blocking,
    time::Instant,
};

use crate::{
    backoff::{AttemptError, Backoff, RetryPolicy},
    call::{Artifact, Caller},
    client::{DownloadStream, ResumeFrom, StorageClient},
    clock::Clock,
    failure::{Code, Failure},
    tools::files::{FileSlot, OpenDirectory, TransferProgress, file_error, is_escape, write_error},
};

/// Number of bytes that are written at a time.
const WRITE_SIZE: usize = 256 * 1024;

/// Attempts to get the bytes of a file, without progress.
const RETRIES: RetryPolicy = RetryPolicy {
    attempts: 5,
    backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(4), 2.5),
};

/// Longest pause on request of the service in a call without a wait limit.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Maximum difference between the times of equal files. Some file systems store times in steps of two seconds.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);

/// Hint for a file name that is taken by another file.
const OVERWRITE_HINT: &str =
    "`overwrite: true` (`--overwrite`) replaces the file; or name another destination";

/// A remote file that can be opened repeatedly.
#[derive(Debug)]
pub(super) enum RemoteFile<'a> {
    OfRun(&'a Caller, &'a Artifact),
    AtAddress(&'a StorageClient, &'a str),
}

impl RemoteFile<'_> {
    /// Opens the file at the position `resume_from`, in one attempt.
    async fn open(&self, resume_from: &ResumeFrom) -> Result<DownloadStream, AttemptError> {
        match self {
            Self::OfRun(caller, artifact) => caller.open(artifact, resume_from).await,
            Self::AtAddress(storage, address) => {
                let opened = storage.get(address, resume_from).await;
                opened.map_err(|error| error.into_attempt_error("download"))
            }
        }
    }
}

/// The local file that a download produces.
#[derive(Clone, Debug)]
pub(super) struct DownloadTarget {
    /// File name below the destination.
    pub(super) path: String,
    /// Size in bytes, if it is known.
    pub(super) size: Option<u64>,
    /// Modification time, if it is known.
    pub(super) modified: Option<SystemTime>,
}

/// What the files of one download share.
#[derive(Debug)]
pub(super) struct TransferContext {
    pub(super) directory: OpenDirectory,
    /// Whether existing files with other content are replaced.
    pub(super) replaces: bool,
    pub(super) max_unsized_bytes: u64,
    pub(super) progress: TransferProgress,
    pub(super) clock: Arc<dyn Clock>,
    /// End of the caller's wait limit.
    pub(super) deadline: Option<Instant>,
}

/// Saves a file as `target`, unless an equal file exists there. Returns its size, and whether it existed.
pub(super) async fn save_file(
    remote: &RemoteFile<'_>,
    target: DownloadTarget,
    context: &TransferContext,
) -> Result<(u64, bool), Failure> {
    let (directory, path) = (context.directory.clone(), target.path.clone());
    let opened = run_blocking(&target.path, move || {
        let slot = directory.slot(&path)?;
        Ok((slot.existing()?, slot))
    });
    let (existing, slot) = opened.await?;

    if let Some(existing) = existing
        && keeps(&existing, &target, context.replaces)?
    {
        context.progress.add_present(existing.len());
        return Ok((existing.len(), true));
    }

    let mut transfer = FileTransfer::begin(target, slot, context).await?;
    transfer.receive_all(remote).await?;
    transfer.finish().await
}

/// Returns whether the existing file is equal to `target` and kept, or is replaced.
///
/// # Errors
/// The existing file is another file and must not be replaced.
fn keeps(existing: &Metadata, target: &DownloadTarget, replaces: bool) -> Result<bool, Failure> {
    let modified = existing.modified().map(cap_std::time::SystemTime::into_std).ok();
    let has_equal_time = match modified.zip(target.modified) {
        Some((existing, expected)) => {
            let difference = existing.duration_since(expected).unwrap_or_else(|error| error.duration());
            difference < TIME_TOLERANCE
        }
        // A caller who wants to replace the file does not want to keep a file of unknown age.
        None => !replaces,
    };
    if existing.is_file() && Some(existing.len()) == target.size && has_equal_time {
        return Ok(true);
    }
    if replaces && !existing.is_dir() {
        return Ok(false);
    }

    let what = if existing.is_dir() { "is a directory" } else { "exists already and is another file" };
    Err(file_error(&target.path, what).hint(OVERWRITE_HINT))
}

/// The transfer of one file. Its temporary file is removed with this value, unless it has got its name.
struct FileTransfer<'a> {
    target: DownloadTarget,
    context: &'a TransferContext,
    slot: FileSlot,
    /// Name of the temporary file.
    name: String,
    file: BufWriter<File>,
    /// Number of bytes so far.
    length: u64,
    /// `ETag` of the remote file that the bytes belong to, if it identifies the content byte by byte.
    etag: Option<String>,
}

impl<'a> FileTransfer<'a> {
    async fn begin(
        target: DownloadTarget,
        slot: FileSlot,
        context: &'a TransferContext,
    ) -> Result<Self, Failure> {
        // Calls with the same destination must not write to one file.
        let number = RandomState::new().hash_one(&slot.name) & 0xffff_ffff;
        let name = format!(".{}.{number:08x}.part", slot.name);

        let (directory, file_name) = (Arc::clone(&slot.dir), name.clone());
        let options = OpenOptions::new().write(true).create_new(true).clone();
        let file = run_blocking(&target.path, move || directory.open_with(&file_name, &options)).await?;
        let file = BufWriter::with_capacity(WRITE_SIZE, File::from_std(file.into_std()));

        Ok(Self { target, context, slot, name, file, length: 0, etag: None })
    }

    /// Makes attempts until the file is complete. They begin anew after each one that reaches a new position.
    async fn receive_all(&mut self, remote: &RemoteFile<'_>) -> Result<(), Failure> {
        let TransferContext { clock, deadline, .. } = self.context;
        let (mut attempts, mut furthest) = (RETRIES.start(), 0);

        loop {
            let Err(error) = self.attempt(remote).await else { return Ok(()) };

            if self.length > furthest {
                furthest = self.length;
                attempts.begin_anew();
            }
            let left = deadline.map_or(LONGEST_PAUSE, |end| end.saturating_duration_since(Instant::now()));
            attempts.pause_after(error, &**clock, left).await?;
        }
    }

    /// Requests the missing bytes and writes them.
    async fn attempt(&mut self, remote: &RemoteFile<'_>) -> Result<(), AttemptError> {
        let offset = if self.etag.is_some() { self.length } else { 0 };
        let mut stream = match remote.open(&ResumeFrom { offset, etag: self.etag.clone() }).await {
            // 416: the file has fewer bytes than the temporary file.
            Err(error) if error.failure.status == Some(416) && offset > 0 => {
                self.restart(None).await?;
                return Err(AttemptError::transient(self.wrong_part()));
            }
            opened => opened?,
        };
        self.adopt_metadata(&stream)?;

        let continues = offset > 0 && stream.offset == offset && self.is_version(stream.etag.as_deref());
        if !continues {
            self.restart(stream.etag.take()).await?;
            // Bytes from the middle of the file cannot replace the bytes so far.
            if stream.offset != 0 {
                return Err(AttemptError::transient(self.wrong_part()));
            }
        }

        self.write_stream(&mut stream).await
    }

    /// Returns whether the bytes so far belong to the version of the file with this `ETag`.
    fn is_version(&self, etag: Option<&str>) -> bool {
        let unquoted = |etag: &str| etag.trim().trim_matches('"').to_owned();
        etag.is_none_or(|etag| self.etag.as_deref().map(unquoted) == Some(unquoted(etag)))
    }

    /// Compares the size of the stream with the listed size, and takes over what was not listed.
    fn adopt_metadata(&mut self, stream: &DownloadStream) -> Result<(), Failure> {
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
        let max = self.target.size.unwrap_or(self.context.max_unsized_bytes);
        let path = self.target.path.clone();

        let problem = loop {
            match stream.chunk().await {
                Ok(Some(chunk)) => {
                    let size = chunk.len() as u64;
                    if self.length + size > max {
                        let expected = if self.target.size.is_some() { "expected " } else { "allowed " };
                        let problem = format!("the service sends more than the {expected}{max} bytes");
                        return Err(self.bad_response(&problem).into());
                    }
                    let written = self.file.write_all(&chunk).await;
                    written.map_err(|error| write_error(&path, &error))?;
                    self.length += size;
                    self.context.progress.add_transferred(size);
                }
                Ok(None) if self.target.size.is_none_or(|size| self.length == size) => return Ok(()),
                // A body without a stated length can end early without an error.
                Ok(None) => break format!("`{path}` ended after {} of {max} bytes", self.length),
                Err(error) => break format!("`{path}` after {} bytes: {error}", self.length),
            }
        };

        Err(AttemptError::transient(Failure::new(Code::ServiceUnavailable, problem)))
    }

    /// Begins again with an empty file, for the version `etag` of the remote file. A weak `ETag` does not identify the content
    /// byte by byte.
    async fn restart(&mut self, etag: Option<String>) -> Result<(), Failure> {
        self.etag = etag.filter(|etag| !etag.is_empty() && !etag.starts_with("W/"));
        self.context.progress.take_back(self.length);
        self.length = 0;

        let emptied = async {
            self.file.rewind().await?;
            self.file.get_ref().set_len(0).await
        };
        emptied.await.map_err(|error| write_error(&self.target.path, &error))
    }

    /// Gives the complete file its name and modification time. Returns its size, and that it did not exist.
    async fn finish(mut self) -> Result<(u64, bool), Failure> {
        let (path, size) = (self.target.path.clone(), self.length);
        let flushed = async {
            self.file.flush().await?;
            Ok(self.file.get_ref().try_clone().await?.into_std().await)
        };
        let file = flushed.await.map_err(|error| write_error(&path, &error))?;
        let (slot, name) = (self.slot.clone(), self.name.clone());
        let (modified, replaces) = (self.target.modified, self.context.replaces);

        run_blocking(&path, move || {
            if let Some(modified) = modified {
                // The error is ignored: not every file system supports modification times.
                drop(file.set_modified(modified));
            }
            // The name promises complete content, also after a power failure.
            file.sync_all()?;

            if !replaces && slot.existing()?.is_some() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            slot.dir.rename(&name, &slot.dir, &slot.name)
        })
        .await?;

        Ok((size, false))
    }

    fn wrong_part(&self) -> Failure {
        self.bad_response("the service answers with other parts than requested")
    }

    fn bad_response(&self, problem: &str) -> Failure {
        let failure = Failure::new(Code::BadResponse, format!("`{}`: {problem}", self.target.path));
        failure.hint("none of its bytes were kept; call again later")
    }
}

impl Drop for FileTransfer<'_> {
    fn drop(&mut self) {
        // After the renaming there is no such file.
        drop(self.slot.dir.remove_file(&self.name));
    }
}

/// Runs `work` on the file `path` in a blocking thread, because file operations block.
async fn run_blocking<T: Send + 'static>(
    path: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let done = spawn_blocking(work).await.unwrap_or_else(|stopped| Err(io::Error::other(stopped)));
    done.map_err(|error| match error.kind() {
        _ if is_escape(&error) => file_error(path, "leads out of the destination through a link"),
        ErrorKind::AlreadyExists => file_error(path, "was created by another program").hint(OVERWRITE_HINT),
        _ => write_error(path, &error),
    })
}
