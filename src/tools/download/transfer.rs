//! One file from where it lies into its place.

use std::{io, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::task::spawn_blocking;

use super::{
    existing::{Existing, OVERWRITE},
    part::Part,
    work::{Origin, Saved, Target, Trouble, Work},
};
use crate::{
    call::gateway::Refusal,
    client::DownloadStream,
    failure::{Code, Failure},
    tools::files::{Spot, Unheld, file_error, is_escape, unreadable, unwritable},
};

/// Bytes that are written at a time.
const PIECE: usize = 256 * 1024;

/// How an attempt ended that did not bring the rest of the file.
enum End {
    /// The next one may.
    Passing(Failure, Option<Duration>),
    /// What is there is not of this file.
    Stale,
    Trouble(Trouble),
}

impl From<Trouble> for End {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Brings a file into its place, unless it is there already.
pub(super) async fn save(origin: &impl Origin, mut target: Target, work: Work) -> Result<Saved, Trouble> {
    let (directory, path) = (work.directory.clone(), target.path.clone());
    let found = blocking(move || {
        let spot = directory.spot(&path)?;
        let existing = spot.existing()?;
        Ok((spot, existing.map(|found| Existing::of(&found))))
    });
    let (spot, existing) = found.await.map_err(|error| trouble(&target.path, &error))?;

    if let Some(existing) = existing {
        if existing.is_file && target.size.is_none() && !target.replaces {
            work.describe(origin, &mut target).await?;
        }
        if let Some(mut saved) = existing.as_saved(&target)? {
            work.meter.found(saved.size);
            if target.hashes {
                let made = blocking(move || spot.digest()).await;
                saved.sha256 = Some(made.map_err(|error| Trouble::File(unreadable(&target.path, &error)))?);
            }
            return Ok(saved);
        }
    }

    let mut saving = Saving::begin(spot, target, work).await?;
    let brought = saving.bring(origin).await;

    saving.end(brought).await
}

/// A file that is being saved.
struct Saving {
    target: Target,
    work: Work,
    /// `None` only while a thread works on it.
    part: Option<Part>,
}

impl Saving {
    async fn begin(spot: Spot, target: Target, work: Work) -> Result<Self, Trouble> {
        let size = target.size;
        let opened = spawn_blocking(move || Part::open(spot, size)).await;
        let part = match opened {
            Ok(Ok(part)) => part,
            Ok(Err(Unheld::Busy)) => {
                let failure = file_error(&target.path, "is being downloaded by another call");
                return Err(Trouble::File(failure.hint("wait for its end, then call again")));
            }
            Ok(Err(Unheld::Io(error))) => return Err(trouble(&target.path, &error)),
            Err(stopped) => return Err(trouble(&target.path, &io::Error::other(stopped))),
        };

        work.meter.found(part.length);

        Ok(Self { target, work, part: Some(part) })
    }

    /// Tries until the whole file is there. Pauses count anew after each attempt that has come further than all before.
    async fn bring(&mut self, origin: &impl Origin) -> Result<(), Trouble> {
        let allowed = Arc::clone(&self.work.manner.pauses);
        let (mut pauses, mut has_been_stale, mut furthest) = (allowed.iter(), false, self.length());

        loop {
            match self.attempt(origin).await {
                Ok(()) => return Ok(()),
                Err(End::Stale) if !has_been_stale => {
                    has_been_stale = true;
                    self.work.meter.lost(self.length());
                    self.with(Part::forget).await?;
                }
                Err(End::Stale) => {
                    return Err(Trouble::File(
                        self.bad("the service answers with other parts than asked for"),
                    ));
                }
                Err(End::Trouble(trouble)) => return Err(trouble),
                Err(End::Passing(failure, wait)) => {
                    if self.length() > furthest {
                        (pauses, furthest) = (allowed.iter(), self.length());
                    }
                    let Some(pause) = pauses.next() else {
                        return Err(Trouble::File(self.given_up(failure)));
                    };
                    tracing::debug!(file = self.target.path, "a download has to go on: {failure}");
                    let failure = self.given_up(failure);
                    self.work.pause(*pause, wait, failure).await.map_err(Trouble::File)?;
                }
            }
        }
    }

    /// Asks for what is missing and writes what comes.
    async fn attempt(&mut self, origin: &impl Origin) -> Result<(), End> {
        let rest = self.part.as_ref().map(Part::rest).unwrap_or_default();
        let mut arriving = match origin.open(&rest).await {
            Ok(arriving) => arriving,
            Err(refusal) if refusal.failure.status == Some(416) && rest.from > 0 => return Err(End::Stale),
            Err(Refusal { failure, is_passing: true, wait }) => return Err(End::Passing(failure, wait)),
            Err(Refusal { failure, .. }) => return Err(Trouble::File(failure).into()),
        };
        self.check_size(arriving.total)?;
        if self.target.size.is_none()
            && let Some(total) = arriving.total
        {
            self.target.size = Some(total);
            self.work.meter.expect(total);
        }
        self.target.modified = self.target.modified.or(arriving.modified);

        let (etag, total) = (arriving.etag.clone(), arriving.total);
        let goes_on = rest.from > 0
            && arriving.offset == rest.from
            && self.part.as_ref().is_some_and(|part| part.is_of(etag.as_deref(), total));

        if !goes_on {
            if arriving.offset != 0 {
                return Err(End::Stale);
            }
            self.work.meter.lost(self.length());
            let size = total.or(self.target.size);
            self.with(move |part| part.begin(etag.as_deref(), size)).await?;
        }

        self.write(&mut arriving).await
    }

    async fn write(&mut self, arriving: &mut DownloadStream) -> Result<(), End> {
        let expected = self.target.size.or(arriving.total);
        let mut buffer = BytesMut::with_capacity(PIECE);

        loop {
            let chunk = arriving.chunk().await;
            if let Ok(Some(chunk)) = &chunk {
                buffer.extend_from_slice(chunk);
                self.work.meter.came(chunk.len() as u64);
            }

            let length = self.length() + buffer.len() as u64;
            if let Some(expected) = expected.filter(|expected| length > *expected) {
                let what = format!("more than the {expected} bytes came that it has");
                return Err(Trouble::File(self.bad(&what)).into());
            }

            let is_over = !matches!(&chunk, Ok(Some(_)));
            while buffer.len() >= PIECE || (is_over && !buffer.is_empty()) {
                let (bytes, disk) =
                    (buffer.split_to(PIECE.min(buffer.len())), Arc::clone(&self.work.manner.disk));
                self.with(move |part| part.append(&bytes, &*disk)).await?;
            }

            match (chunk, expected) {
                (Ok(Some(_)), _) => {}
                (Ok(None), Some(expected)) if length < expected => {
                    let cut = format!("`{}` ended after {length} of {expected} bytes", self.target.path);
                    return Err(End::Passing(Failure::new(Code::BadResponse, cut), None));
                }
                (Ok(None), _) => return Ok(()),
                (Err(broken), _) => {
                    let broken = format!("`{}` after {length} bytes: {broken}", self.target.path);
                    return Err(End::Passing(Failure::new(Code::ServiceUnavailable, broken), None));
                }
            }
        }
    }

    /// Gives the file its name, or says why there is none; what nobody can go on with is removed.
    async fn end(mut self, brought: Result<(), Trouble>) -> Result<Saved, Trouble> {
        let size = self.length();
        let Err(trouble) = brought else {
            let Target { modified, replaces, hashes, .. } = self.target;
            let disk = Arc::clone(&self.work.manner.disk);
            let finish = move |part: &mut Part| {
                let sha256 = hashes.then(|| part.digest()).transpose()?;
                part.finish(modified, replaces, &*disk).map(|()| sha256)
            };
            let finished = self.with(finish).await;
            if let Err(Trouble::File(_)) = &finished {
                // Nobody goes on with a file that is whole and cannot have its name.
                self.work.meter.lost(size);
                self.with(Part::forget).await?;
            }
            return Ok(Saved { size, is_kept: false, sha256: finished? });
        };

        let is_over =
            matches!(&trouble, Trouble::File(failure) if !failure.details.contains_key("bytes_saved"));
        if is_over {
            self.work.meter.lost(size);
            self.with(Part::forget).await?;
        }

        Err(trouble)
    }

    fn check_size(&self, total: Option<u64>) -> Result<(), Trouble> {
        match (self.target.size, total) {
            (Some(listed), Some(total)) if listed != total => {
                let what = format!("it is said to have {listed} bytes, and has {total}");
                Err(Trouble::File(self.bad(&what)))
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
        match self.part.as_ref().map_or(0, |part| part.rest().from) {
            0 => failure,
            length => failure.detail("bytes_saved", length).hint("call again: it goes on where it ended"),
        }
    }

    fn length(&self) -> u64 {
        self.part.as_ref().map_or(0, |part| part.length)
    }

    /// Works on the file in a thread where that may take its time.
    async fn with<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Part) -> io::Result<T> + Send + 'static,
    ) -> Result<T, Trouble> {
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
fn trouble(path: &str, error: &io::Error) -> Trouble {
    use io::ErrorKind::{
        AlreadyExists, IsADirectory, NotADirectory, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
        StorageFull,
    };
    match error.kind() {
        _ if is_escape(error) => {
            Trouble::File(file_error(path, "leads out of the destination through a link"))
        }
        AlreadyExists => Trouble::File(file_error(path, "has come into being meanwhile").hint(OVERWRITE)),
        IsADirectory => Trouble::File(file_error(path, "is a directory")),
        NotADirectory => Trouble::File(file_error(path, "would lie below a file that is there already")),
        PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull => {
            Trouble::Disk(unwritable(path, error))
        }
        _ => Trouble::File(unwritable(path, error)),
    }
}
