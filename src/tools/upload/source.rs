//! The file that is uploaded: it is opened once, checked for changes, and read at offsets.

use std::{
    fs::File,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Arc,
    time::UNIX_EPOCH,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};
use ring::digest::{Context, Digest, SHA256};
use tokio::{sync::oneshot, task::spawn_blocking};
use tokio_util::bytes::Bytes;

use crate::{
    failure::Failure,
    tools::files::{FilesRoot, file_error, is_escape, read_error},
};

/// Number of bytes that are read, hashed and sent at a time.
const CHUNK_SIZE: u64 = 256 * 1024;

/// The files root, and the name of a file relative to it. A path that is not confined has none.
type Location = (Arc<Dir>, PathBuf);

/// An open regular file, and its state when it was opened.
#[derive(Clone, Debug)]
pub(super) struct SourceFile {
    file: Arc<File>,
    path: PathBuf,
    location: Option<Location>,
    /// The name as the caller wrote it.
    requested: String,
    version: FileVersion,
}

impl SourceFile {
    /// Opens the file `name`. It is inside a confined root even if another process replaces a directory of its path by a link at
    /// the same time.
    ///
    /// # Errors
    /// `file_error` if the file is missing, unreadable, empty, not a regular file, outside the root, or that of the key.
    pub(super) fn open(root: &FilesRoot, name: &str) -> Result<Self, Failure> {
        let path = root.resolve_file(name)?;
        let opened = open_file(root, &path).and_then(|(file, location)| {
            let metadata = Metadata::from_file(&file)?;
            Ok((file, location, metadata))
        });
        let (file, location, metadata) = opened.map_err(|error| match error {
            _ if is_escape(&error) => file_error(name, "leads out of the files root through a link"),
            _ => read_error(name, &error),
        })?;

        // Another process may have replaced the file since the name was resolved.
        if !metadata.is_file() {
            return Err(file_error(name, "is not a regular file"));
        }
        let version = FileVersion::from(&metadata);
        if root.refused_file().is_some_and(|refused| FileVersion::from(&refused) == version) {
            let failure = file_error(name, "holds the API key, which must not leave this machine");
            return Err(failure.hint("name another file"));
        }
        if version.size == 0 {
            return Err(file_error(name, "is empty").hint("the service does not accept empty builds"));
        }

        Ok(Self { file: Arc::new(file), path, location, requested: name.to_owned(), version })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn size(&self) -> u64 {
        self.version.size
    }

    /// Returns size and times of the file as text. A file with other content has another stamp.
    pub(super) fn stamp(&self) -> String {
        let FileVersion { size, modified, changed, .. } = self.version;
        format!("{size}-{modified}-{changed}")
    }

    /// Returns the last segment of the name as the caller wrote it: a link may lead to another name.
    pub(super) fn file_name(&self) -> String {
        let name = Path::new(&self.requested).file_name().or_else(|| self.path.file_name());
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Checks that the file has not changed since it was opened and still has its name.
    ///
    /// # Errors
    /// `file_error` if the file was changed, replaced or removed.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        // The name may lead to another file now, and the open file may have been written to.
        let named = match &self.location {
            Some((dir, name)) => dir.metadata(name),
            None => self.path.metadata().map(Metadata::from_just_metadata),
        };
        for metadata in [named, Metadata::from_file(&self.file)] {
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
        #[cfg(unix)]
        use std::os::unix::fs::FileExt as _;
        #[cfg(windows)]
        use std::os::windows::fs::FileExt as _;

        let size = usize::try_from(end.saturating_sub(start).min(CHUNK_SIZE)).unwrap_or_default();
        let mut chunk = vec![0; size];
        #[cfg(unix)]
        let read = self.file.read_at(&mut chunk, start)?;
        #[cfg(windows)]
        let read = self.file.seek_read(&mut chunk, start)?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }

        chunk.truncate(read);
        Ok(Bytes::from(chunk))
    }

    /// Starts to compute the SHA-256 of the file in another thread, while the parts are sent. Dropping the receiver ends it.
    pub(super) fn start_digest(&self) -> oneshot::Receiver<Result<String, Failure>> {
        let (file, (sender, receiver)) = (self.clone(), oneshot::channel());
        spawn_blocking(move || {
            let digest = file.digest(|| !sender.is_closed());
            drop(sender.send(digest.map_err(|error| file.access_error(&error))));
        });

        receiver
    }

    fn digest(&self, is_wanted: impl Fn() -> bool) -> io::Result<String> {
        let (mut context, mut position) = (Context::new(&SHA256), 0);
        while position < self.size() && is_wanted() {
            let chunk = self.read_between(position, self.size())?;
            context.update(&chunk);
            position += chunk.len() as u64;
        }

        Ok(hexadecimal(context.finish()))
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

pub(super) fn hexadecimal(digest: Digest) -> String {
    digest.as_ref().iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

/// Opens the file at `path`, which was resolved below `root`. Returns also its location, if the root is confined.
fn open_file(root: &FilesRoot, path: &Path) -> io::Result<(File, Option<Location>)> {
    let Some(root) = root.confinement() else { return Ok((File::open(path)?, None)) };

    let dir = Dir::open_ambient_dir(root, ambient_authority())?;
    let name = path.strip_prefix(root).map_err(io::Error::other)?.to_owned();
    let file = dir.open(&name)?.into_std();

    Ok((file, Some((Arc::new(dir), name))))
}

/// State of a file. It differs for two files, and changes when the file is written to or replaced. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FileVersion {
    size: u64,
    modified: u128,
    /// Time of the last change to content or attributes, which no program can set. On Windows, of the creation.
    changed: u128,
    /// Device and inode number, where the system has them.
    identity: (u64, u64),
}

impl From<&Metadata> for FileVersion {
    fn from(metadata: &Metadata) -> Self {
        let nanoseconds = |time: io::Result<cap_std::time::SystemTime>| {
            let since_epoch = time.ok().and_then(|time| time.into_std().duration_since(UNIX_EPOCH).ok());
            since_epoch.unwrap_or_default().as_nanos()
        };
        #[cfg(unix)]
        let (changed, identity) = {
            use cap_std::fs::MetadataExt as _;
            let [seconds, rest] = [metadata.ctime(), metadata.ctime_nsec()].map(i64::unsigned_abs);
            (u128::from(seconds) * 1_000_000_000 + u128::from(rest), (metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let (changed, identity) = (nanoseconds(metadata.created()), (0, 0));

        Self { size: metadata.len(), modified: nanoseconds(metadata.modified()), changed, identity }
    }
}
