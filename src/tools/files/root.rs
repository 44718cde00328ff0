//! The files root: the only directory from which tools read files for an upload, and into which they save files.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};

use super::{file_error, is_escape, read_error};
use crate::{
    failure::{Code, Failure},
    home_path::expand_home,
};

/// A directory at which relative names begin.
///
/// A confined root is the default: nothing outside it is read or written, even if a link inside it leads out. A root
/// for a user at the command line may be unconfined, because a user names files outside it on purpose.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    path: PathBuf,
    is_confined: bool,
    /// File that is never read, although it may be inside: the file of the API key.
    refused_file: Option<PathBuf>,
}

impl FilesRoot {
    /// Returns the confined root at `path`, with all links resolved.
    ///
    /// # Errors
    /// The reason why `path` is not a directory that can be opened.
    pub fn new(path: &Path) -> Result<Self, String> {
        let path = path.canonicalize().map_err(|error| format!("cannot be opened: {error}"))?;
        if path.is_dir() {
            Ok(Self { path, is_confined: true, refused_file: None })
        } else {
            Err("is not a directory".to_owned())
        }
    }

    /// Returns the working directory as a confined root.
    ///
    /// # Errors
    /// `not_configured` if the working directory cannot be opened, or if it is a root of the file system or the home
    /// directory. Hosts start servers there, and most files there are none of the tools' business.
    pub(crate) fn working_directory() -> Result<Self, Failure> {
        Self::working_directory_at(Path::new("."))
    }

    /// Returns what [`Self::working_directory`] returns to a process with the working directory `path`.
    pub(crate) fn working_directory_at(path: &Path) -> Result<Self, Failure> {
        let root = Self::new(path).map_err(|problem| unusable_working_directory(&problem))?;
        let home = dirs::home_dir().and_then(|home| home.canonicalize().ok());
        if root.path.parent().is_none() || Some(&root.path) == home.as_ref() {
            let place =
                if root.path.parent().is_none() { "the whole file system" } else { "the home directory" };
            return Err(unusable_working_directory(&format!(
                "is {place}, which is too wide for files of tests"
            )));
        }

        Ok(root)
    }

    /// Returns the working directory as an unconfined root.
    ///
    /// # Errors
    /// `not_configured` if the working directory cannot be opened.
    pub(crate) fn unconfined_working_directory() -> Result<Self, Failure> {
        let root = Self::new(Path::new(".")).map_err(|problem| unusable_working_directory(&problem))?;
        Ok(Self { is_confined: false, ..root })
    }

    /// Returns an unconfined root at which relative names begin at the working directory.
    pub(crate) fn anywhere() -> Self {
        Self { path: PathBuf::new(), is_confined: false, refused_file: None }
    }

    /// Refuses to read `file`, under whatever name.
    #[must_use]
    pub(crate) fn refusing(self, file: Option<PathBuf>) -> Self {
        Self { refused_file: file, ..self }
    }

    pub(super) fn refuses(&self, file: FileId) -> bool {
        let refused = self.refused_file.as_ref().and_then(|path| path.metadata().ok());
        refused.is_some_and(|refused| file_id(&Metadata::from_just_metadata(refused)) == file)
    }

    /// Returns the directory that files must not leave, or `None` if the root is unconfined.
    pub(super) fn confinement(&self) -> Option<&Path> {
        self.is_confined.then_some(self.path.as_path())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the regular file `name`. The open file is inside a confined root even if another process replaces a
    /// directory of its path by a link at the same time.
    pub(crate) fn open(&self, name: &str) -> Result<OpenFile, Failure> {
        let open_error = |error: io::Error| {
            if is_escape(&error) {
                return file_error(name, "leads out of the files root through a link");
            }
            read_error(name, &error)
        };

        let path = self.resolve_file(name)?;
        let opened = match self.confinement() {
            None => OpenFile::open_unconfined(path),
            Some(root) => OpenFile::open_inside(root, path),
        };
        let opened = opened.map_err(open_error)?;

        let metadata = opened.metadata().map_err(open_error)?;
        // Another process may have replaced the file since the name was resolved.
        if !metadata.is_file() {
            return Err(file_error(name, "is not a regular file"));
        }
        if self.refuses(file_id(&metadata)) {
            let failure = file_error(name, "holds the API key, which must not leave this machine");
            return Err(failure.hint("name another file"));
        }

        Ok(opened)
    }

    /// Returns the resolved path of the regular file `name`.
    ///
    /// # Errors
    /// `file_error` if the file is missing, unreadable, not a regular file, or outside the root.
    pub(crate) fn resolve_file(&self, name: &str) -> Result<PathBuf, Failure> {
        let resolved = if let Some(root) = self.confinement() {
            self.resolve_inside(root, name)?
        } else {
            self.path.join(&*expand_home(name)).canonicalize().map_err(|error| read_error(name, &error))?
        };
        let metadata = resolved.metadata().map_err(|error| read_error(name, &error))?;

        if metadata.is_file() {
            Ok(resolved)
        } else {
            let kind = if metadata.is_dir() { "a directory" } else { "not a regular file" };
            Err(file_error(name, &format!("is {kind}"))
                .hint("name a single file; a directory must be packed into a file first"))
        }
    }

    /// Returns the resolved path of `name`. Nothing outside the root is examined, so that the failure does not tell
    /// whether a file exists there.
    fn resolve_inside(&self, root: &Path, name: &str) -> Result<PathBuf, Failure> {
        let expanded = expand_home(name);
        let relative = relative_name(root, &expanded).ok_or_else(|| self.outside_error(name))?;
        let dir =
            Dir::open_ambient_dir(root, ambient_authority()).map_err(|error| read_error(name, &error))?;

        match dir.canonicalize(relative) {
            Ok(path) => Ok(root.join(path)),
            Err(error) if is_escape(&error) => Err(self.outside_error(name)),
            Err(error) => Err(read_error(name, &error)),
        }
    }

    pub(super) fn check_inside(&self, name: &str, resolved: &Path) -> Result<(), Failure> {
        if self.confinement().is_none_or(|root| resolved.starts_with(root)) {
            Ok(())
        } else {
            Err(self.outside_error(name))
        }
    }

    fn outside_error(&self, name: &str) -> Failure {
        let root = self.path.display();
        file_error(name, &format!("is outside the files root `{root}`"))
            .hint("name a file inside it, or set TAS_FILES_ROOT")
    }
}

/// An open file, and the name through which it was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    file: Arc<File>,
    path: PathBuf,
    /// The files root and the name relative to it; `None` if the path is not confined.
    location: Option<(Arc<Dir>, PathBuf)>,
}

impl OpenFile {
    fn open_unconfined(path: PathBuf) -> io::Result<Self> {
        Ok(Self { file: Arc::new(File::open(&path)?), path, location: None })
    }

    fn open_inside(root: &Path, path: PathBuf) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        let name = path.strip_prefix(root).map_err(io::Error::other)?.to_owned();
        let file = dir.open(&name)?.into_std();

        Ok(Self { file: Arc::new(file), path, location: Some((Arc::new(dir), name)) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        Metadata::from_file(&self.file)
    }

    /// Returns the metadata of the file that has the name now.
    pub(crate) fn current_metadata(&self) -> io::Result<Metadata> {
        match &self.location {
            Some((dir, name)) => dir.metadata(name),
            None => self.path.metadata().map(Metadata::from_just_metadata),
        }
    }

    /// Reads bytes at `offset` and returns how many were read; 0 at the end of the file.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        use std::os::unix::fs::FileExt as _;
        #[cfg(windows)]
        use std::os::windows::fs::FileExt as _;

        loop {
            #[cfg(unix)]
            let read = self.file.read_at(bytes, offset);
            #[cfg(windows)]
            let read = self.file.seek_read(bytes, offset);

            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Identifier of a file: device and inode number.
#[cfg(unix)]
pub(crate) type FileId = (u64, u64);

/// Identifier of a file: its creation time, because there is no inode number.
#[cfg(not(unix))]
pub(crate) type FileId = Option<std::time::SystemTime>;

/// Returns the identifier of a file. It is equal for two records of the same file and different for two files.
#[cfg(unix)]
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    use cap_std::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Returns the identifier of a file. It is equal for two records of the same file and different for two files.
#[cfg(not(unix))]
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    metadata.created().ok().map(cap_std::time::SystemTime::into_std)
}

/// Returns the time of the last change to the content or attributes of a file, in nanoseconds. Unlike the modification
/// time, a program cannot set it.
#[cfg(unix)]
pub(crate) fn change_time(metadata: &Metadata) -> i128 {
    use cap_std::fs::MetadataExt as _;
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

/// Returns 0: this system does not record the time of the last change.
#[cfg(not(unix))]
pub(crate) fn change_time(_: &Metadata) -> i128 {
    0
}

/// Returns `name` relative to `root`. An absolute name may lead to the root through a link. Returns `None` if it does
/// not lead there.
fn relative_name<'a>(root: &Path, name: &'a str) -> Option<&'a Path> {
    // The empty name stands for the root itself.
    let path = Path::new(if name.is_empty() { "." } else { name });
    if path.is_relative() {
        return Some(path);
    }

    let is_root = |ancestor: &&Path| ancestor.canonicalize().is_ok_and(|ancestor| ancestor == root);
    path.strip_prefix(path.ancestors().find(is_root)?).ok()
}

fn unusable_working_directory(problem: &str) -> Failure {
    Failure::new(Code::NotConfigured, format!("the working directory {problem}"))
        .hint("set TAS_FILES_ROOT to the directory of the files, and restart the server")
}
