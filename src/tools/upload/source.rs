//! The file that is uploaded: it is opened once, checked for changes, and read at offsets.

use std::{
    io::{self, ErrorKind},
    path::Path,
    time::SystemTime,
};

use bytes::Bytes;
use cap_std::fs::Metadata;
use ring::digest::{Context, SHA256};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    failure::Failure,
    tools::files::{FileId, FilesRoot, OpenFile, change_time, file_error, file_id, hexadecimal, read_error},
};

/// Number of bytes that are read, hashed and sent at a time.
const CHUNK_SIZE: u64 = 256 * 1024;

/// An open regular file, and its state when it was opened.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    file: OpenFile,
    /// The name as the caller wrote it.
    requested: String,
    version: FileVersion,
}

/// It changes when the file is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileVersion {
    size: u64,
    modified: Option<SystemTime>,
    change_time: i128,
    file_id: FileId,
}

impl From<&Metadata> for FileVersion {
    fn from(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
            change_time: change_time(metadata),
            file_id: file_id(metadata),
        }
    }
}

impl SourceFile {
    /// Opens the file `name`.
    ///
    /// # Errors
    /// `file_error` if the file is missing, unreadable, empty, not a regular file, or outside the root.
    pub(super) fn open(root: &FilesRoot, name: &str) -> Result<Self, Failure> {
        let file = root.open(name)?;
        let metadata = file.metadata().map_err(|error| read_error(name, &error))?;

        let version = FileVersion::from(&metadata);
        if version.size == 0 {
            return Err(file_error(name, "is empty").hint("the service does not accept empty builds"));
        }

        Ok(Self { file, requested: name.to_owned(), version })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn size(&self) -> u64 {
        self.version.size
    }

    /// Returns the last segment of the name as the caller wrote it: a link may lead to another name.
    pub(super) fn file_name(&self) -> String {
        let name = Path::new(&self.requested).file_name().or_else(|| self.path().file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns size and times of the file as text. A file with other content has another stamp.
    pub(super) fn stamp(&self) -> String {
        let since_epoch = self.version.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = since_epoch.map_or(0, |since| since.as_nanos());
        format!("{}-{modified}-{}", self.version.size, self.version.change_time)
    }

    /// Checks that the file has not changed since it was opened and still has its name.
    ///
    /// # Errors
    /// `file_error` if the file was changed, replaced or removed.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        // The name may lead to another file now, and the open file may have been written to.
        for metadata in [self.file.current_metadata(), self.file.metadata()] {
            let metadata = metadata.map_err(|error| self.access_error(&error))?;
            if FileVersion::from(&metadata) != self.version {
                return Err(self.modified_error());
            }
        }
        Ok(())
    }

    /// Reads the first bytes between `start` and `end`, without blocking the runtime.
    pub(super) async fn read_chunk(&self, start: u64, end: u64) -> io::Result<Bytes> {
        let file = self.clone();
        let read = spawn_blocking(move || file.read_between(start, end)).await;
        read.unwrap_or_else(|stopped| Err(io::Error::other(stopped)))
    }

    fn read_between(&self, start: u64, end: u64) -> io::Result<Bytes> {
        let size = usize::try_from(end.saturating_sub(start).min(CHUNK_SIZE)).unwrap_or_default();
        let mut chunk = vec![0; size];
        let read = self.file.read_at(&mut chunk, start)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }

        chunk.truncate(read);
        Ok(Bytes::from(chunk))
    }

    /// Starts to compute the SHA-256 of the file in another thread, while the parts are sent.
    pub(super) fn start_digest(&self) -> FileDigest {
        let (source, file, stopped) = (self.clone(), self.clone(), CancellationToken::new());
        let stop_at_end = stopped.clone().drop_guard();

        let task = spawn_blocking(move || {
            let (mut context, mut position) = (Context::new(&SHA256), 0);
            while position < file.size() && !stopped.is_cancelled() {
                let chunk = file.read_between(position, file.size())?;
                context.update(&chunk);
                position += chunk.len() as u64;
            }
            Ok(hexadecimal(context.finish()))
        });

        FileDigest { source, task, _stop_at_end: stop_at_end }
    }

    /// Returns the failure for a file that changed during the upload.
    pub(super) fn modified_error(&self) -> Failure {
        file_error(&self.requested, "changed while it was uploaded")
            .hint("upload it again when no other program writes to it")
    }

    fn access_error(&self, error: &io::Error) -> Failure {
        match error.kind() {
            ErrorKind::NotFound => file_error(&self.requested, "was removed while it was uploaded")
                .hint("upload it again when no other program moves or deletes it"),
            ErrorKind::UnexpectedEof => self.modified_error(),
            _ => read_error(&self.requested, error),
        }
    }
}

/// The SHA-256 of the uploaded file, in progress. Dropping it ends the reading.
#[derive(Debug)]
pub(super) struct FileDigest {
    source: SourceFile,
    task: JoinHandle<io::Result<String>>,
    _stop_at_end: DropGuard,
}

impl FileDigest {
    /// Waits for the digest, in lower-case hexadecimal digits.
    pub(super) async fn finish(self) -> Result<String, Failure> {
        let digest = self.task.await.unwrap_or_else(|stopped| Err(io::Error::other(stopped)));
        digest.map_err(|error| self.source.access_error(&error))
    }
}
