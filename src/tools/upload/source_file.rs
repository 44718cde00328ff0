//! The file that is uploaded: opened once, read at offsets, and checked for change.

use std::{io, io::ErrorKind, path::Path, time::SystemTime};

use bytes::Bytes;
use cap_std::fs::Metadata;

use crate::{
    failure::Failure,
    tools::files::{FilesRoot, OpenFile, change_time, file_error, file_id, read_error},
};

/// Bytes that are read, hashed and sent at a time.
pub(super) const CHUNK: usize = 256 * 1024;

/// A regular file that is held open, and how it was when it was opened.
#[derive(Clone, Debug)]
pub struct SourceFile {
    file: OpenFile,
    /// As the caller wrote it.
    shown: String,
    state: FileState,
}

/// What is another one when somebody writes to a file, or puts another one in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileState {
    size: u64,
    modified: Option<SystemTime>,
    changed: i128,
    #[cfg(unix)]
    file_id: (u64, u64),
    #[cfg(not(unix))]
    file_id: Option<SystemTime>,
}

impl FileState {
    fn of(found: &Metadata) -> Self {
        let modified = found.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self { size: found.len(), modified, changed: change_time(found), file_id: file_id(found) }
    }
}

impl SourceFile {
    /// The file of that name below the root.
    ///
    /// # Errors
    /// `file_error`: missing, unreadable, empty, no regular file, or outside the root.
    pub fn open(root: &FilesRoot, name: &str) -> Result<Self, Failure> {
        let file = root.open(name)?;
        let state = FileState::of(&file.metadata().map_err(|error| read_error(name, &error))?);
        if state.size == 0 {
            return Err(file_error(name, "is empty").hint("the service takes no empty build"));
        }
        Ok(Self { file, shown: name.to_owned(), state })
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Bytes.
    pub fn size(&self) -> u64 {
        self.state.size
    }

    /// The last segment of the path as the caller wrote it: a link may lead to a file of any name.
    pub fn file_name(&self) -> String {
        let name = Path::new(&self.shown).file_name().or_else(|| self.path().file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// What another content of the file would have otherwise: size and times.
    pub(super) fn stamp(&self) -> String {
        let since = self.state.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let written = since.map_or(0, |since| since.as_nanos());
        format!("{}-{written}-{}", self.state.size, self.state.changed)
    }

    /// Fails when the file is not as it was at first, or another one has its name.
    pub fn unchanged(&self) -> Result<(), Failure> {
        for now in [self.file.named(), self.file.metadata()] {
            if FileState::of(&now.map_err(|error| self.lost(&error))?) != self.state {
                return Err(self.changed());
            }
        }
        Ok(())
    }

    /// Reads `length` bytes from `offset`, a chunk at a time, until `take` wants no more.
    pub(super) fn read(
        &self,
        offset: u64,
        length: u64,
        mut take: impl FnMut(Bytes) -> bool,
    ) -> Result<(), Failure> {
        self.unchanged()?;
        let (mut at, end) = (offset, offset + length);

        while at < end {
            let wanted = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
            let mut chunk = vec![0; wanted];
            let read = self.file.read_at(&mut chunk, at).map_err(|error| self.lost(&error))?;
            if read == 0 {
                return Err(self.changed());
            }

            chunk.truncate(read);
            at += read as u64;
            if !take(Bytes::from(chunk)) {
                break;
            }
        }

        Ok(())
    }

    /// Another upload of it is under way.
    pub(super) fn taken(&self) -> Failure {
        file_error(&self.shown, "is being uploaded by another process or call")
            .hint("wait for its end, then look with `list_builds` whether the build is there")
    }

    fn lost(&self, error: &io::Error) -> Failure {
        match error.kind() {
            ErrorKind::NotFound => file_error(&self.shown, "vanished while it was uploaded")
                .hint("upload it again when nothing moves it any more"),
            _ => read_error(&self.shown, error),
        }
    }

    /// It is not what it was.
    pub(super) fn changed(&self) -> Failure {
        file_error(&self.shown, "changed while it was uploaded")
            .hint("upload it again when nothing writes to it any more")
    }
}
