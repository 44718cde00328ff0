//! A directory that files are saved into. It is held open, and names are looked up below it by the system itself: a
//! link that leads out of it is an error, also one that is put there meanwhile.

use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};

use super::{FilesRoot, file_error, file_name, read_error, sha256, write_error};
use crate::failure::Failure;

/// Where files are to be saved; nothing has been made yet.
#[derive(Clone, Debug)]
pub struct Destination {
    /// As the caller wrote it.
    shown: String,
    /// The directory of which nothing may lead out; `None`: the destination itself.
    root: Option<PathBuf>,
    /// Below the root, or as it is.
    path: PathBuf,
}

/// An open directory.
#[derive(Clone, Debug)]
pub struct OpenDirectory {
    dir: Arc<Dir>,
    path: PathBuf,
}

/// The place of a file in an open directory.
#[derive(Clone, Debug)]
pub struct FileSlot {
    /// The directory that the file itself lies in.
    pub dir: Arc<Dir>,
    /// Last segment.
    pub name: String,
    /// With its directories, for messages.
    pub shown: String,
}

impl FilesRoot {
    /// The directory of that name, to save into: relative names begin at the root.
    ///
    /// # Errors
    /// `file_error`: it leaves the root, or cannot be a name.
    pub fn destination(&self, name: &str) -> Result<Destination, Failure> {
        let wanted = Path::new(name);
        let shown = name.to_owned();
        let Some(root) = self.bound() else {
            return Ok(Destination { shown, root: None, path: wanted.to_owned() });
        };
        if wanted.components().any(|part| part == Component::ParentDir) {
            return Err(file_error(name, "must not contain `..`"));
        }

        let wanted = root.join(wanted);
        // What exists of it is resolved: a root has several names where links lead to it.
        let existing = wanted.ancestors().find(|part| part.exists()).unwrap_or(root);
        let resolved = existing.canonicalize().map_err(|error| read_error(name, &error))?;

        self.inside(name, &resolved)?;
        let new = wanted.strip_prefix(existing).unwrap_or(Path::new(""));

        for part in new.components() {
            let part = part.as_os_str().to_string_lossy();
            if let Some(problem) = file_name::segment_problem(&part) {
                return Err(file_error(name, &format!("cannot be made: it {problem}")));
            }
        }

        let path = resolved.join(new);
        let path = path.strip_prefix(root).unwrap_or(Path::new("")).to_owned();

        Ok(Destination { shown, root: Some(root.to_owned()), path })
    }
}

impl Destination {
    /// As the caller wrote it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Makes the directory where it is not there, and opens it.
    ///
    /// # Errors
    /// `file_error`: it cannot be made, is none, or a link on the way to it leaves the root.
    pub fn open(&self) -> Result<OpenDirectory, Failure> {
        let (dir, path) = match &self.root {
            None => self.open_anywhere(),
            Some(root) => self.open_below(root),
        }
        .map_err(|error| self.unusable(&error))?;
        Ok(OpenDirectory { dir: Arc::new(dir), path: path.canonicalize().unwrap_or(path) })
    }

    fn open_anywhere(&self) -> io::Result<(Dir, PathBuf)> {
        std::fs::create_dir_all(&self.path)?;
        Ok((Dir::open_ambient_dir(&self.path, ambient_authority())?, self.path.clone()))
    }

    fn open_below(&self, root: &Path) -> io::Result<(Dir, PathBuf)> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        if self.path.as_os_str().is_empty() {
            return Ok((dir, root.to_owned()));
        }
        dir.create_dir_all(&self.path)?;
        Ok((dir.open_dir(&self.path)?, root.join(&self.path)))
    }

    fn unusable(&self, error: &io::Error) -> Failure {
        match error.kind() {
            _ if is_escape(error) => file_error(&self.shown, "leads out of the files root through a link"),
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                file_error(&self.shown, "is not a directory")
            }
            _ => write_error(&self.shown, error),
        }
    }
}

impl OpenDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a file of that relative name; its directories are made.
    pub fn slot(&self, name: &str) -> io::Result<FileSlot> {
        let (parent, last) =
            name.rsplit_once('/').map_or((None, name), |(parent, last)| (Some(parent), last));
        let dir = match parent {
            None => Arc::clone(&self.dir),
            Some(parent) => {
                let dir = match self.dir.open_dir(parent) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        self.dir.create_dir_all(parent)?;
                        self.dir.open_dir(parent)
                    }
                    opened => opened,
                };
                Arc::new(dir?)
            }
        };

        Ok(FileSlot { dir, name: last.to_owned(), shown: name.to_owned() })
    }
}

impl FileSlot {
    /// What is there already; a link is not followed.
    pub fn existing(&self) -> io::Result<Option<Metadata>> {
        match self.dir.symlink_metadata(&self.name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The SHA-256 of the file that is there already.
    pub fn digest(&self) -> io::Result<String> {
        sha256(self.dir.open(&self.name)?)
    }
}

/// Whether a name was refused because it leads out of the directory that it was looked up in: then no system call failed.
pub fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}
