//! The files root: the only directory from which files are read for an upload and into which they are saved.

use std::{
    io,
    path::{Path, PathBuf},
};

mod digest;
mod directory;
mod file_lock;
pub mod file_name;
mod identity;
mod open_file;
mod progress;

pub use digest::{hexadecimal, sha256};
pub use directory::{Destination, FileSlot, OpenDirectory, is_escape};
pub use file_lock::{LockError, LockedFile, lock_file};
pub use identity::{change_time, file_id};
pub use open_file::OpenFile;
pub use progress::{format_progress, sleep_until};

use crate::failure::{Code, Failure};

/// A directory, resolved, where relative names begin. Nothing outside it is read or written, whatever links lie inside.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    root: PathBuf,
    /// `false`: a person names the files, and names what lies outside on purpose.
    is_bound: bool,
}

impl FilesRoot {
    /// Takes an existing directory; the problem if it is none.
    pub fn new(path: &Path) -> Result<Self, String> {
        let root = path.canonicalize().map_err(|error| format!("cannot be opened: {error}"))?;
        if root.is_dir() { Ok(Self { root, is_bound: true }) } else { Err("is not a directory".to_owned()) }
    }

    /// The working directory.
    ///
    /// # Errors
    /// `not_configured`: it cannot be opened.
    pub fn working_directory() -> Result<Self, Failure> {
        Self::new(Path::new(".")).map_err(|problem| {
            Failure::new(Code::NotConfigured, format!("the working directory {problem}"))
                .hint("ask the person to set TAS_FILES_ROOT")
        })
    }

    /// The same directory, for a person at the command line, who may also name files outside it.
    #[must_use]
    pub fn unbound(self) -> Self {
        Self { is_bound: false, ..self }
    }

    /// Every directory, for a person at the command line who names it; relative names begin at the working directory.
    pub fn anywhere() -> Self {
        Self { root: PathBuf::new(), is_bound: false }
    }

    /// The directory that nothing leaves, if there is one.
    fn bound(&self) -> Option<&Path> {
        self.is_bound.then_some(self.root.as_path())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The regular file of that name, resolved: relative names begin at the root.
    ///
    /// # Errors
    /// `file_error`: missing, unreadable, no regular file, or outside the root.
    pub fn existing_file(&self, name: &str) -> Result<PathBuf, Failure> {
        let resolved = self.root.join(name).canonicalize().map_err(|error| read_error(name, &error))?;
        self.inside(name, &resolved)?;
        let kind = resolved.metadata().map_err(|error| read_error(name, &error))?;

        if kind.is_file() {
            Ok(resolved)
        } else {
            let what = if kind.is_dir() { "a directory" } else { "no regular file" };
            Err(file_error(name, &format!("is {what}"))
                .hint("name one file; a directory has to be packed first"))
        }
    }

    fn inside(&self, name: &str, resolved: &Path) -> Result<(), Failure> {
        if self.bound().is_none_or(|root| resolved.starts_with(root)) {
            return Ok(());
        }
        let root = self.root.display();
        Err(file_error(name, &format!("is outside the files root `{root}`"))
            .hint("name a file below it, or ask the person to set TAS_FILES_ROOT"))
    }
}

/// A failure of a local file.
pub fn file_error(name: &str, what: &str) -> Failure {
    let shown: String = name.chars().take(300).collect();
    Failure::new(Code::FileError, format!("`{shown}` {what}")).detail("path", shown)
}

/// A file cannot be read.
pub fn read_error(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => file_error(name, "does not exist")
            .hint("relative paths begin at TAS_FILES_ROOT, or the working directory"),
        _ => file_error(name, &format!("cannot be read: {error}")),
    }
}

/// A file cannot be written.
pub fn write_error(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::StorageFull => file_error(name, "cannot be written: the disk is full")
            .hint("make room and call again: what was saved is not fetched again"),
        _ => file_error(name, &format!("cannot be written: {error}")),
    }
}
