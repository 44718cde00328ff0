//! Directories that files are saved into.
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
    fs::{Dir, Metadata},
};

use super::{FilesRoot, file_error, file_name, is_escape, read_error, write_error};
use crate::{failure::Failure, home_path::expand_home};

/// A directory to save files into. It need not exist: `Destination::open` creates it.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The name as the caller wrote it.
    requested: String,
    /// The directory that the path must not leave; `None` if the path is not confined.
    root: Option<PathBuf>,
    /// Relative to `root`, if there is one.
    path: PathBuf,
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
            return Ok(Destination { requested, root: None, path });
        };

        let relative = Path::new(&*expanded);
        if relative.components().any(|component| component == Component::ParentDir) {
            return Err(file_error(name, "must not contain `..`"));
        }

        // The part of the path that exists is resolved, because the caller may name the root through a link.
        let absolute = root.join(relative);
        let existing = absolute.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(root);
        let resolved = existing.canonicalize().map_err(|error| read_error(name, &error))?;
        self.check_inside(name, &resolved)?;

        let missing = absolute.strip_prefix(existing).unwrap_or(Path::new(""));
        let path = resolved.join(missing);
        let path = path.strip_prefix(root).unwrap_or(Path::new("")).to_owned();

        // Existing directories count too: programs act on files in directories such as `.git`.
        for component in path.components() {
            let segment = component.as_os_str().to_string_lossy();
            if let Some(problem) = file_name::segment_problem(&segment) {
                return Err(file_error(name, &format!("cannot be used: it {problem}")));
            }
        }

        Ok(Destination { requested, root: Some(root.to_owned()), path })
    }
}

impl Destination {
    /// Returns the name as the caller wrote it.
    pub(crate) fn requested(&self) -> &str {
        &self.requested
    }

    /// Opens the directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// `file_error` if the directory cannot be created, is not a directory, or leaves the root through a link.
    pub(crate) fn open(&self) -> Result<OpenDirectory, Failure> {
        let opened = match &self.root {
            None => self.open_unconfined(),
            Some(root) => self.open_inside(root),
        };
        let (dir, path) = opened.map_err(|error| self.open_error(&error))?;

        Ok(OpenDirectory::new(dir, path.canonicalize().unwrap_or(path)))
    }

    fn open_unconfined(&self) -> io::Result<(Dir, PathBuf)> {
        std::fs::create_dir_all(&self.path)?;
        Ok((Dir::open_ambient_dir(&self.path, ambient_authority())?, self.path.clone()))
    }

    fn open_inside(&self, root: &Path) -> io::Result<(Dir, PathBuf)> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        if self.path.as_os_str().is_empty() {
            return Ok((dir, root.to_owned()));
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

/// An open directory.
#[derive(Clone, Debug)]
pub(crate) struct OpenDirectory {
    dir: Arc<Dir>,
    path: PathBuf,
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
    pub(super) fn new(dir: Dir, path: PathBuf) -> Self {
        Self { dir: Arc::new(dir), path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

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
