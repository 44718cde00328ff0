//! One file from where it lies into its place.

use std::{io, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::task::spawn_blocking;

use super::{
    context::{DownloadSource, DownloadTarget, SaveError, SaveOutcome, TransferContext},
    existing_file::{ExistingFile, OVERWRITE},
    partial_file::PartialFile,
};
use crate::{
    call::gateway::Refusal,
    client::DownloadStream,
    failure::{Code, Failure},
    tools::files::{FileSlot, LockError, file_error, is_escape, read_error, write_error},
};

/// Bytes that are written at a time.
const PIECE: usize = 256 * 1024;

/// How an attempt ended that did not bring the rest of the file.
enum AttemptError {
    /// The next one may.
    Passing(Failure, Option<Duration>),
    /// What is there is not of this file.
    Stale,
    SaveError(SaveError),
}

impl From<SaveError> for AttemptError {
    fn from(trouble: SaveError) -> Self {
        Self::SaveError(trouble)
    }
}

/// Brings a file into its place, unless it is there already.
pub(super) async fn save(
    origin: &impl DownloadSource,
    mut target: DownloadTarget,
    work: TransferContext,
) -> Result<SaveOutcome, SaveError> {
    let (directory, path) = (work.directory.clone(), target.path.clone());
    let found = blocking(move || {
        let slot = directory.slot(&path)?;
        let existing = slot.existing()?;
        Ok((slot, existing.map(|found| ExistingFile::of(&found))))
    });
    let (slot, existing) = found.await.map_err(|error| trouble(&target.path, &error))?;

    if let Some(existing) = existing {
        if existing.is_file && target.size.is_none() && !target.replaces {
            work.describe(origin, &mut target).await?;
        }
        if let Some(mut saved) = existing.as_saved(&target)? {
            work.progress.found(saved.size);
            if target.hashes {
                let made = blocking(move || slot.digest()).await;
                saved.sha256 = Some(made.map_err(|error| SaveError::File(read_error(&target.path, &error)))?);
            }
            return Ok(saved);
        }
    }

    let mut saving = FileTransfer::begin(slot, target, work).await?;
    let brought = saving.bring(origin).await;

    saving.end(brought).await
}

/// A file that is being saved.
struct FileTransfer {
    target: DownloadTarget,
    work: TransferContext,
    /// `None` only while a thread works on it.
    part: Option<PartialFile>,
}

impl FileTransfer {
    async fn begin(slot: FileSlot, target: DownloadTarget, work: TransferContext) -> Result<Self, SaveError> {
        let size = target.size;
        let opened = spawn_blocking(move || PartialFile::open(slot, size)).await;
        let part = match opened {
            Ok(Ok(part)) => part,
            Ok(Err(LockError::Busy)) => {
                let failure = file_error(&target.path, "is being downloaded by another call");
                return Err(SaveError::File(failure.hint("wait for its end, then call again")));
            }
            Ok(Err(LockError::Io(error))) => return Err(trouble(&target.path, &error)),
            Err(stopped) => return Err(trouble(&target.path, &io::Error::other(stopped))),
        };

        work.progress.found(part.length);

        Ok(Self { target, work, part: Some(part) })
    }

    /// Tries until the whole file is there. Pauses count anew after each attempt that has come further than all before.
    async fn bring(&mut self, origin: &impl DownloadSource) -> Result<(), SaveError> {
        let allowed = Arc::clone(&self.work.options.pauses);
        let (mut pauses, mut has_been_stale, mut furthest) = (allowed.iter(), false, self.length());

        loop {
            match self.attempt(origin).await {
                Ok(()) => return Ok(()),
                Err(AttemptError::Stale) if !has_been_stale => {
                    has_been_stale = true;
                    self.work.progress.lost(self.length());
                    self.with(PartialFile::forget).await?;
                }
                Err(AttemptError::Stale) => {
                    return Err(SaveError::File(
                        self.bad("the service answers with other parts than asked for"),
                    ));
                }
                Err(AttemptError::SaveError(trouble)) => return Err(trouble),
                Err(AttemptError::Passing(failure, wait)) => {
                    if self.length() > furthest {
                        (pauses, furthest) = (allowed.iter(), self.length());
                    }
                    let Some(pause) = pauses.next() else {
                        return Err(SaveError::File(self.given_up(failure)));
                    };
                    tracing::debug!(file = self.target.path, "a download has to go on: {failure}");
                    let failure = self.given_up(failure);
                    self.work.pause(*pause, wait, failure).await.map_err(SaveError::File)?;
                }
            }
        }
    }

    /// Asks for what is missing and writes what comes.
    async fn attempt(&mut self, origin: &impl DownloadSource) -> Result<(), AttemptError> {
        let rest = self.part.as_ref().map(PartialFile::rest).unwrap_or_default();
        let mut arriving = match origin.open(&rest).await {
            Ok(arriving) => arriving,
            Err(refusal) if refusal.failure.status == Some(416) && rest.offset > 0 => {
                return Err(AttemptError::Stale);
            }
            Err(Refusal { failure, is_transient: true, wait }) => {
                return Err(AttemptError::Passing(failure, wait));
            }
            Err(Refusal { failure, .. }) => return Err(SaveError::File(failure).into()),
        };
        self.check_size(arriving.total)?;
        if self.target.size.is_none()
            && let Some(total) = arriving.total
        {
            self.target.size = Some(total);
            self.work.progress.expect(total);
        }
        self.target.modified = self.target.modified.or(arriving.modified);

        let (etag, total) = (arriving.etag.clone(), arriving.total);
        let goes_on = rest.offset > 0
            && arriving.offset == rest.offset
            && self.part.as_ref().is_some_and(|part| part.is_of(etag.as_deref(), total));

        if !goes_on {
            if arriving.offset != 0 {
                return Err(AttemptError::Stale);
            }
            self.work.progress.lost(self.length());
            let size = total.or(self.target.size);
            self.with(move |part| part.begin(etag.as_deref(), size)).await?;
        }

        self.write(&mut arriving).await
    }

    async fn write(&mut self, arriving: &mut DownloadStream) -> Result<(), AttemptError> {
        let expected = self.target.size.or(arriving.total);
        let mut buffer = BytesMut::with_capacity(PIECE);

        loop {
            let chunk = arriving.chunk().await;
            if let Ok(Some(chunk)) = &chunk {
                buffer.extend_from_slice(chunk);
                self.work.progress.came(chunk.len() as u64);
            }

            let length = self.length() + buffer.len() as u64;
            if let Some(expected) = expected.filter(|expected| length > *expected) {
                let what = format!("more than the {expected} bytes came that it has");
                return Err(SaveError::File(self.bad(&what)).into());
            }

            let is_over = !matches!(&chunk, Ok(Some(_)));
            while buffer.len() >= PIECE || (is_over && !buffer.is_empty()) {
                let (bytes, disk) =
                    (buffer.split_to(PIECE.min(buffer.len())), Arc::clone(&self.work.options.disk));
                self.with(move |part| part.append(&bytes, &*disk)).await?;
            }

            match (chunk, expected) {
                (Ok(Some(_)), _) => {}
                (Ok(None), Some(expected)) if length < expected => {
                    let cut = format!("`{}` ended after {length} of {expected} bytes", self.target.path);
                    return Err(AttemptError::Passing(Failure::new(Code::BadResponse, cut), None));
                }
                (Ok(None), _) => return Ok(()),
                (Err(broken), _) => {
                    let broken = format!("`{}` after {length} bytes: {broken}", self.target.path);
                    return Err(AttemptError::Passing(Failure::new(Code::ServiceUnavailable, broken), None));
                }
            }
        }
    }

    /// Gives the file its name, or says why there is none; what nobody can go on with is removed.
    async fn end(mut self, brought: Result<(), SaveError>) -> Result<SaveOutcome, SaveError> {
        let size = self.length();
        let Err(trouble) = brought else {
            let DownloadTarget { modified, replaces, hashes, .. } = self.target;
            let disk = Arc::clone(&self.work.options.disk);
            let finish = move |part: &mut PartialFile| {
                let sha256 = hashes.then(|| part.digest()).transpose()?;
                part.finish(modified, replaces, &*disk).map(|()| sha256)
            };
            let finished = self.with(finish).await;
            if let Err(SaveError::File(_)) = &finished {
                // Nobody goes on with a file that is whole and cannot have its name.
                self.work.progress.lost(size);
                self.with(PartialFile::forget).await?;
            }
            return Ok(SaveOutcome { size, is_kept: false, sha256: finished? });
        };

        let is_over = matches!(&trouble, SaveError::File(failure) if failure.facts.bytes_saved.is_none());
        if is_over {
            self.work.progress.lost(size);
            self.with(PartialFile::forget).await?;
        }

        Err(trouble)
    }

    fn check_size(&self, total: Option<u64>) -> Result<(), SaveError> {
        match (self.target.size, total) {
            (Some(listed), Some(total)) if listed != total => {
                let what = format!("it is said to have {listed} bytes, and has {total}");
                Err(SaveError::File(self.bad(&what)))
            }
            _ => Ok(()),
        }
    }

    fn bad(&self, what: &str) -> Failure {
        Failure::new(Code::BadResponse, format!("`{}`: {what}", self.target.path))
            .hint("nothing of it was kept; call again later")
    }

    /// The failure of the last attempt. What came is kept where it can be continued.
    fn given_up(&self, failure: Failure) -> Failure {
        match self.part.as_ref().map_or(0, |part| part.rest().offset) {
            0 => failure,
            length => failure.bytes_saved(length).hint("call again: it goes on where it ended"),
        }
    }

    fn length(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.length)
    }

    /// Works on the file in a thread where that may take its time.
    async fn with<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut PartialFile) -> io::Result<T> + Send + 'static,
    ) -> Result<T, SaveError> {
        let Some(mut part) = self.part.take() else {
            return Err(trouble(&self.target.path, &io::Error::other("it was left alone by its thread")));
        };
        let worked = spawn_blocking(move || {
            let outcome = work(&mut part);
            (part, outcome)
        });
        let (part, outcome) =
            worked.await.map_err(|stopped| trouble(&self.target.path, &io::Error::other(stopped)))?;

        self.part = Some(part);

        outcome.map_err(|error| trouble(&self.target.path, &error))
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    spawn_blocking(work).await.unwrap_or_else(|stopped| Err(io::Error::other(stopped)))
}

/// What an error of the file system means for the other files.
fn trouble(path: &str, error: &io::Error) -> SaveError {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    match error.kind() {
        _ if is_escape(error) => {
            SaveError::File(file_error(path, "leads out of the destination through a link"))
        }
        AlreadyExists => SaveError::File(file_error(path, "has come into being meanwhile").hint(OVERWRITE)),
        IsADirectory => SaveError::File(file_error(path, "is a directory")),
        NotADirectory => SaveError::File(file_error(path, "would lie below a file that is there already")),
        PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull => {
            SaveError::Disk(write_error(path, error))
        }
        _ => SaveError::File(write_error(path, error)),
    }
}
