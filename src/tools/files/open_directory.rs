//! An open directory in which files are saved.
//!
//! Names are resolved relative to the open handle by the operating system, not by path. A link that leads out of the
//! directory is therefore an error, even if another process creates it after the check.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::{Dir, Metadata};

use super::sha256;

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

    /// Returns the path of the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the slot of the file `name`, and creates the directories in `name`.
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

    /// Returns the SHA-256 of the existing file.
    pub(crate) fn digest(&self) -> io::Result<String> {
        sha256(self.dir.open(&self.name)?)
    }
}

/// Returns whether a name was refused because it leads out of the directory in which it was resolved.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    // The refusal does not come from a system call and therefore has no error number.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}
