//! The file that is uploaded: it is opened once, checked for changes, and read at offsets for its parts and its digest.

use std::{
    io::{self, ErrorKind},
    ops::Range,
    path::Path,
    time::SystemTime,
};

use bytes::Bytes;
use cap_std::fs::Metadata;
use ring::digest::{Context, SHA256};
use tokio::{
    sync::mpsc,
    task::{JoinHandle, spawn_blocking},
};

use crate::{
    failure::{Code, Failure},
    text::composed,
    tools::files::{FileId, FilesRoot, OpenFile, change_time, file_error, file_id, hexadecimal, read_error},
};

/// Number of bytes that are read, hashed and sent at a time.
const CHUNK_SIZE: usize = 256 * 1024;

/// An open regular file, and its state when it was opened.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    file: OpenFile,
    /// The name as the caller wrote it.
    requested: String,
    state: FileState,
}

/// State of a file. It changes when the file is written to or replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileState {
    size: u64,
    modified: Option<SystemTime>,
    change_time: i128,
    file_id: FileId,
}

impl From<&Metadata> for FileState {
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

        let state = FileState::from(&metadata);
        if state.size == 0 {
            return Err(file_error(name, "is empty").hint("the service does not accept empty builds"));
        }

        Ok(Self { file, requested: name.to_owned(), state })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the directory that the file must not leave, or `None` if the path is not confined.
    pub(super) fn confinement(&self) -> Option<&Path> {
        self.file.confinement()
    }

    pub(super) fn size(&self) -> u64 {
        self.state.size
    }

    /// Returns the last segment of the name as the caller wrote it, with composed characters. The resolved path may have
    /// another name if the name is a link.
    pub(super) fn file_name(&self) -> String {
        let name = Path::new(&self.requested).file_name().or_else(|| self.path().file_name());
        name.map(|name| composed(&name.to_string_lossy()).into_owned()).unwrap_or_default()
    }

    /// Returns size and times of the file as text. A file with other content has another stamp.
    pub(super) fn stamp(&self) -> String {
        let since_epoch = self.state.modified.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        let modified = since_epoch.map_or(0, |since| since.as_nanos());
        format!("{}-{modified}-{}", self.state.size, self.state.change_time)
    }

    /// Checks that the file has not changed since it was opened and still has its name.
    ///
    /// # Errors
    /// `file_error` if the file was changed, replaced or removed.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        // The name may lead to another file now, and the open file may have been written to.
        for metadata in [self.file.current_metadata(), self.file.metadata()] {
            let metadata = metadata.map_err(|error| self.access_error(&error))?;
            if FileState::from(&metadata) != self.state {
                return Err(self.modified_error());
            }
        }
        Ok(())
    }

    /// Reads the bytes of `range` in chunks, until `consume` returns `false`.
    pub(super) fn read_chunks(
        &self,
        range: Range<u64>,
        mut consume: impl FnMut(Bytes) -> bool,
    ) -> Result<(), Failure> {
        self.check_unchanged()?;
        let mut position = range.start;

        while position < range.end {
            let size = usize::try_from(range.end - position).unwrap_or(CHUNK_SIZE).min(CHUNK_SIZE);
            let mut chunk = vec![0; size];
            let read = self.file.read_at(&mut chunk, position).map_err(|error| self.access_error(&error))?;
            if read == 0 {
                return Err(self.modified_error());
            }

            chunk.truncate(read);
            position += read as u64;
            if !consume(Bytes::from(chunk)) {
                break;
            }
        }

        Ok(())
    }

    /// Returns the failure for a file that another upload is sending.
    pub(super) fn busy_error(&self) -> Failure {
        file_error(&self.requested, "is being uploaded by another process or call")
            .hint("wait until that upload has ended[[, then look for the build with `tool:list_builds`]]")
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
            _ => read_error(&self.requested, error),
        }
    }
}

/// The SHA-256 of the uploaded file, in progress.
///
/// It is computed while the parts are sent and never reads ahead of them, so that each byte is read from the disk once
/// and is still in the system's cache for the second reader.
#[derive(Debug)]
pub(super) struct FileDigest {
    /// Receives the position up to which parts are being sent.
    position: mpsc::UnboundedSender<u64>,
    task: JoinHandle<Result<String, Failure>>,
}

impl FileDigest {
    pub(super) fn start(source: &SourceFile) -> Self {
        let (position, receiver) = mpsc::unbounded_channel();
        let source = source.clone();
        let task = spawn_blocking(move || hash_file(&source, receiver));

        Self { position, task }
    }

    /// Lets the digest read all bytes before `end`.
    pub(super) fn advance_to(&self, end: u64) {
        // The task has ended if the file could not be read. `finish` returns that failure.
        self.position.send(end).unwrap_or_default();
    }

    /// Waits for the digest of the whole file of `size` bytes, in lower-case hexadecimal digits.
    pub(super) async fn finish(self, size: u64) -> Result<String, Failure> {
        self.advance_to(size);

        self.task.await.unwrap_or_else(|stopped| {
            Err(Failure::new(Code::Cancelled, format!("the file could not be hashed: {stopped}")))
        })
    }
}

fn hash_file(source: &SourceFile, mut position: mpsc::UnboundedReceiver<u64>) -> Result<String, Failure> {
    let (mut context, mut done) = (Context::new(&SHA256), 0);

    while let Some(end) = position.blocking_recv() {
        source.read_chunks(done..end, |chunk| {
            context.update(&chunk);
            // The channel is closed when the upload has ended and the digest is not needed any more.
            !position.is_closed()
        })?;

        done = end;
        if done == source.size() {
            break;
        }
    }

    Ok(hexadecimal(context.finish()))
}
