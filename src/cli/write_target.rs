//! The target of a path: a file that may be replaced, or a file that is already open.

use std::{
    io::{Error, ErrorKind, Result},
    path::{Path, PathBuf},
};

/// Maximum number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Directories of the open files of this process.
const OPEN_FILE_DIRECTORIES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// The target of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WriteTarget {
    /// Standard output of this process, whatever it is connected to.
    StandardOutput,
    /// Standard error of this process.
    StandardError,
    /// A pipe, a device or another open file, to which the document is appended.
    OpenFile(PathBuf),
    /// A regular file or a file that does not exist yet; not a link.
    File(PathBuf),
}

impl WriteTarget {
    /// Follows the links of `path` one by one. The kernel would resolve `/dev/stdout` to the file behind it, which is
    /// open and must not be replaced.
    pub(super) fn from_path(path: &Path) -> Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            let parent = parent_directory(&path).canonicalize()?;
            path = parent.join(path.file_name().ok_or(ErrorKind::InvalidInput)?);
            if let Some(target) = Self::from_system_path(&parent, &path) {
                return Ok(target);
            }

            match path.read_link() {
                Ok(link) => path = parent.join(link),
                Err(_) if path.metadata().is_ok_and(|metadata| !metadata.is_file()) => {
                    return Ok(Self::OpenFile(path));
                }
                Err(_) => return Ok(Self::File(path)),
            }
        }

        Err(Error::other("it is a link that leads to no file"))
    }

    /// Returns the target of a path in `/dev` or `/proc`; `None` for any other path.
    fn from_system_path(parent: &Path, path: &Path) -> Option<Self> {
        let is_parent =
            |directory: &&str| Path::new(directory).canonicalize().is_ok_and(|directory| directory == parent);
        let is_open_file = OPEN_FILE_DIRECTORIES.iter().any(is_parent);
        let is_device = parent == Path::new("/dev") && path.read_link().is_err();

        match path.file_name().and_then(|name| name.to_str()) {
            Some("1") if is_open_file => Some(Self::StandardOutput),
            Some("2") if is_open_file => Some(Self::StandardError),
            _ if is_open_file || is_device || parent.starts_with("/proc") => {
                Some(Self::OpenFile(path.to_owned()))
            }
            _ => None,
        }
    }
}

/// Returns the directory of a file; the working directory for a plain name.
pub(super) fn parent_directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
