//! The file that is uploaded: opened once for each part, and checked for change.

use std::{
    fs::{File, Metadata},
    io::{ErrorKind, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::SystemTime,
};

use bytes::Bytes;

use crate::{
    failure::Failure,
    files::{FilesRoot, file_error, unreadable},
};

/// Bytes that are read, hashed and sent at a time.
pub(super) const CHUNK: usize = 256 * 1024;

/// A regular file that was there, and how it was then.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    /// As the caller wrote it.
    shown: String,
    state: State,
}

/// What changes when somebody writes to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    size: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Source {
    /// The file of that name below the root.
    ///
    /// # Errors
    /// `file_error`: missing, unreadable, empty, no regular file, or outside the root.
    pub fn open(root: &FilesRoot, name: &str) -> Result<Self, Failure> {
        let path = root.existing_file(name)?;
        let file = File::open(&path).map_err(|error| unreadable(name, &error))?;
        let state = State::of(&file.metadata().map_err(|error| unreadable(name, &error))?);
        if state.size == 0 {
            return Err(file_error(name, "is empty").hint("the service takes no empty build"));
        }
        Ok(Self { path, shown: name.to_owned(), state })
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.state.size
    }

    /// The last segment of the path.
    pub fn file_name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What another content of the file would have otherwise: size and times. Tools that set the time of writing cannot
    /// set that of the change.
    pub(super) fn stamp(&self) -> String {
        let since = self.state.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map_or(0, |since| since.as_nanos());
        #[cfg(unix)]
        let changed = self.path.metadata().map_or(0, |now| {
            use std::os::unix::fs::MetadataExt as _;
            i128::from(now.ctime()) * 1_000_000_000 + i128::from(now.ctime_nsec())
        });
        #[cfg(not(unix))]
        let changed = 0;
        format!("{}-{written}-{changed}", self.state.size)
    }

    /// Fails when the file is not as it was at first.
    pub fn unchanged(&self) -> Result<(), Failure> {
        let now = self.path.metadata().map_err(|error| self.lost(&error))?;
        if State::of(&now) == self.state { Ok(()) } else { Err(self.changed()) }
    }

    /// Reads `length` bytes from `offset`, a chunk at a time, until `take` wants no more.
    pub(super) fn read(
        &self,
        offset: u64,
        length: u64,
        mut take: impl FnMut(Bytes) -> bool,
    ) -> Result<(), Failure> {
        let failed = |error: std::io::Error| self.lost(&error);
        let mut file = File::open(&self.path).map_err(failed)?;
        if State::of(&file.metadata().map_err(failed)?) != self.state {
            return Err(self.changed());
        }
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut left = length;
        while left > 0 {
            let wanted = left.min(CHUNK as u64);
            // A buffer of just this size, filled without being cleared first.
            let mut chunk = Vec::with_capacity(usize::try_from(wanted).unwrap_or(CHUNK));
            let read = (&mut file).take(wanted).read_to_end(&mut chunk).map_err(failed)?;
            if read == 0 {
                return Err(self.changed());
            }
            left -= read as u64;
            if !take(Bytes::from(chunk)) {
                break;
            }
        }
        Ok(())
    }

    fn lost(&self, error: &std::io::Error) -> Failure {
        match error.kind() {
            ErrorKind::NotFound => file_error(&self.shown, "vanished while it was uploaded")
                .hint("upload it again when nothing moves it any more"),
            _ => unreadable(&self.shown, error),
        }
    }

    fn changed(&self) -> Failure {
        file_error(&self.shown, "changed while it was uploaded")
            .hint("upload it again when nothing writes to it any more")
    }
}
