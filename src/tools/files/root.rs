//! The files root: the only directory from which tools read files for an upload, and into which they save files.
//!
//! Names are resolved relative to an open handle by the operating system, not by path. A link that leads out of the
//! directory is therefore an error, even if another process creates it after the check.

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata, OpenOptions},
};

use super::{file_error, is_escape, read_error, segment_problem, write_error};
use crate::{
    failure::{Code, Failure},
    home_path::{expand_home, home_directory},
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
        let root = Self::new(Path::new(".")).map_err(|problem| unusable_working_directory(&problem))?;
        let home = home_directory().and_then(|home| home.canonicalize().ok());
        let place = match root.path.parent() {
            None => "the whole file system",
            Some(_) if Some(&root.path) == home.as_ref() => "the home directory",
            Some(_) => return Ok(root),
        };

        Err(unusable_working_directory(&format!("is {place}, which is too wide for files of tests")))
    }

    /// Returns the working directory as an unconfined root.
    ///
    /// # Errors
    /// `not_configured` if the working directory cannot be opened.
    pub(crate) fn unconfined_working_directory() -> Result<Self, Failure> {
        let root = Self::new(Path::new(".")).map_err(|problem| unusable_working_directory(&problem))?;
        Ok(Self { is_confined: false, ..root })
    }

    /// Refuses to read `file`, under whatever name.
    #[must_use]
    pub(crate) fn refusing(self, file: Option<PathBuf>) -> Self {
        Self { refused_file: file, ..self }
    }

    /// Returns the metadata of the file that is never read, if there is one.
    pub(crate) fn refused_file(&self) -> Option<Metadata> {
        self.refused_file.as_ref()?.metadata().map(Metadata::from_just_metadata).ok()
    }

    /// Returns the directory that files must not leave, or `None` if the root is unconfined.
    pub(crate) fn confinement(&self) -> Option<&Path> {
        self.is_confined.then_some(self.path.as_path())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
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

    fn outside_error(&self, name: &str) -> Failure {
        let root = self.path.display();
        file_error(name, &format!("is outside the files root `{root}`"))
            .hint("name a file inside it, or set TAS_FILES_ROOT")
    }
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

/// File that marks a directory of downloads. The service names no file with a dot at its beginning.
const MARK: &str = ".tas-mcp-files";

/// A directory to save files into. It need not exist: `Destination::open` creates it.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The name as the caller wrote it.
    pub(crate) requested: String,
    /// The directory that the path must not leave; `None` if the path is not confined.
    root: Option<PathBuf>,
    /// Relative to `root`, if there is one.
    path: PathBuf,
    /// Whether the directory becomes marked as one of downloads when it is opened.
    pub(crate) is_marked: bool,
}

impl FilesRoot {
    /// Returns the directory `name` as a destination. Relative names begin at the root.
    ///
    /// # Errors
    /// `file_error` if the name leaves the root or cannot be a directory name.
    pub fn destination(&self, name: &str) -> Result<Destination, Failure> {
        let (requested, expanded) = (name.to_owned(), expand_home(name));
        let Some(root) = self.confinement() else {
            let path = PathBuf::from(&*expanded);
            return Ok(Destination { requested, root: None, path, is_marked: false });
        };

        let relative = Path::new(&*expanded);
        if relative.components().any(|component| component == Component::ParentDir) {
            return Err(file_error(name, "must not contain `..`"));
        }

        // The part of the path that exists is resolved, because the caller may name the root through a link.
        let absolute = root.join(relative);
        let existing = absolute.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(root);
        let resolved = existing.canonicalize().map_err(|error| read_error(name, &error))?;
        if !resolved.starts_with(root) {
            return Err(self.outside_error(name));
        }

        let missing = absolute.strip_prefix(existing).unwrap_or(Path::new(""));
        let path = resolved.join(missing);
        let path = path.strip_prefix(root).unwrap_or(Path::new("")).to_owned();

        // Existing directories count too: programs act on files in directories such as `.git`.
        for component in path.components() {
            let segment = component.as_os_str().to_string_lossy();
            if let Some(problem) = segment_problem(&segment) {
                return Err(file_error(name, &format!("cannot be used: it {problem}")));
            }
        }

        Ok(Destination { requested, root: Some(root.to_owned()), path, is_marked: false })
    }
}

impl Destination {
    /// Returns whether the directory is new or empty, or marked and nothing in it `is_replaced`.
    pub(crate) fn is_own(&self, is_replaced: bool) -> bool {
        let path: PathBuf = self.root.iter().chain([&self.path]).collect();
        let is_empty = path.read_dir().map_or(true, |mut entries| entries.next().is_none());
        is_empty || (!is_replaced && path.join(MARK).exists())
    }

    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// `file_error` if the directory cannot be created, is not a directory, or leaves the root through a link.
    pub(crate) fn open(&self) -> Result<OpenDirectory, Failure> {
        let (dir, path) = self.open_dir().map_err(|error| self.open_error(&error))?;
        if self.is_marked {
            // A mark that exists may be a link, and is not written to.
            let mark = dir.open_with(MARK, OpenOptions::new().write(true).create_new(true));
            let is_marked = mark.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists);
            mark.map(drop).or_else(|error| if is_marked { Ok(()) } else { Err(self.open_error(&error)) })?;
        }
        Ok(OpenDirectory { dir: Arc::new(dir), path: path.canonicalize().unwrap_or(path) })
    }

    fn open_dir(&self) -> io::Result<(Dir, PathBuf)> {
        let Some(root) = &self.root else {
            std::fs::create_dir_all(&self.path)?;
            return Ok((Dir::open_ambient_dir(&self.path, ambient_authority())?, self.path.clone()));
        };

        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        if self.path.as_os_str().is_empty() {
            return Ok((dir, root.clone()));
        }
        dir.create_dir_all(&self.path)?;
        Ok((dir.open_dir(&self.path)?, root.join(&self.path)))
    }

    fn open_error(&self, error: &io::Error) -> Failure {
        match error.kind() {
            _ if is_escape(error) => {
                file_error(&self.requested, "leads out of the files root through a link")
            }
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                file_error(&self.requested, "is not a directory")
            }
            _ => write_error(&self.requested, error),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct OpenDirectory {
    dir: Arc<Dir>,
    pub(crate) path: PathBuf,
}

/// A file name in an open directory. The file need not exist.
#[derive(Clone, Debug)]
pub(crate) struct FileSlot {
    /// The directory that directly contains the file.
    pub(crate) dir: Arc<Dir>,
    /// Last segment of the file's name.
    pub(crate) name: String,
}

impl OpenDirectory {
    pub(crate) fn slot(&self, name: &str) -> io::Result<FileSlot> {
        let Some((parent, last)) = name.rsplit_once('/') else {
            return Ok(FileSlot { dir: Arc::clone(&self.dir), name: name.to_owned() });
        };

        let dir = match self.dir.open_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.dir.create_dir_all(parent)?;
                self.dir.open_dir(parent)?
            }
            opened => opened?,
        };

        Ok(FileSlot { dir: Arc::new(dir), name: last.to_owned() })
    }
}

impl FileSlot {
    /// Returns the metadata of the existing file, or `None` if there is none. Links are not followed.
    pub(crate) fn existing(&self) -> io::Result<Option<Metadata>> {
        match self.dir.symlink_metadata(&self.name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}
