//! The files root: the only directory from which tools read files for an upload, and into which they save files.

use std::path::{Path, PathBuf};

use super::{file_error, read_error};
use crate::failure::{Code, Failure};

/// A directory at which relative names begin.
///
/// A confined root is the default: nothing outside it is read or written, even if a link inside it leads out. A root
/// for a person at the command line may be unconfined, because a person names files outside it on purpose.
#[derive(Clone, Debug)]
pub struct FilesRoot {
    path: PathBuf,
    is_confined: bool,
}

impl FilesRoot {
    /// Returns the confined root at `path`, with all links resolved.
    ///
    /// # Errors
    /// The reason why `path` is not a directory that can be opened.
    pub fn new(path: &Path) -> Result<Self, String> {
        let path = path.canonicalize().map_err(|error| format!("cannot be opened: {error}"))?;
        if path.is_dir() {
            Ok(Self { path, is_confined: true })
        } else {
            Err("is not a directory".to_owned())
        }
    }

    /// Returns the working directory as a confined root.
    ///
    /// # Errors
    /// `not_configured` if the working directory cannot be opened.
    pub(crate) fn working_directory() -> Result<Self, Failure> {
        Self::new(Path::new(".")).map_err(|problem| {
            Failure::new(Code::NotConfigured, format!("the working directory {problem}"))
                .hint("ask the person to set TAS_FILES_ROOT")
        })
    }

    /// Returns the same root without the confinement.
    #[must_use]
    pub(crate) fn unconfined(self) -> Self {
        Self { is_confined: false, ..self }
    }

    /// Returns an unconfined root at which relative names begin at the working directory.
    pub(crate) fn anywhere() -> Self {
        Self { path: PathBuf::new(), is_confined: false }
    }

    /// Returns the directory that files must not leave, or `None` if the root is unconfined.
    pub(super) fn confinement(&self) -> Option<&Path> {
        self.is_confined.then_some(self.path.as_path())
    }

    /// Returns the directory.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the resolved path of the regular file `name`.
    ///
    /// # Errors
    /// `file_error` if the file is missing, unreadable, not a regular file, or outside the root.
    pub(crate) fn resolve_file(&self, name: &str) -> Result<PathBuf, Failure> {
        let resolved = self.path.join(name).canonicalize().map_err(|error| read_error(name, &error))?;
        self.check_inside(name, &resolved)?;
        let metadata = resolved.metadata().map_err(|error| read_error(name, &error))?;

        if metadata.is_file() {
            Ok(resolved)
        } else {
            let kind = if metadata.is_dir() { "a directory" } else { "not a regular file" };
            Err(file_error(name, &format!("is {kind}"))
                .hint("name a single file; a directory must be packed into a file first"))
        }
    }

    /// Checks that the resolved path of `name` is inside the root.
    pub(super) fn check_inside(&self, name: &str, resolved: &Path) -> Result<(), Failure> {
        if self.confinement().is_none_or(|root| resolved.starts_with(root)) {
            return Ok(());
        }

        let root = self.path.display();
        Err(file_error(name, &format!("is outside the files root `{root}`"))
            .hint("name a file inside it, or ask the person to set TAS_FILES_ROOT"))
    }
}
