//! Where a name leads: to a file that may be replaced, or to something that is open already.

use std::{
    io::{Error, ErrorKind, Result},
    path::{Path, PathBuf},
};

/// Most links that are followed, as systems do.
const MOST_LINKS: usize = 40;

/// Names of the directory of our own open files.
const OPEN_FILES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];

/// Where a name leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Our standard output, wherever it leads.
    Output,
    /// Our standard error.
    Errors,
    /// A pipe, a device or another open file, which is written into.
    Open(PathBuf),
    /// A file that is or is to be; no link.
    File(PathBuf),
}

impl Place {
    /// Follows the links of a path one by one: behind `/dev/stdout` there may be a file, which is open and must stay.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            let parent = directory(&path).canonicalize()?;
            path = parent.join(path.file_name().ok_or(ErrorKind::InvalidInput)?);
            if let Some(place) = Self::in_system(&parent, &path) {
                return Ok(place);
            }

            match path.read_link() {
                Ok(target) => path = parent.join(target),
                Err(_) if path.metadata().is_ok_and(|found| !found.is_file()) => return Ok(Self::Open(path)),
                Err(_) => return Ok(Self::File(path)),
            }
        }

        Err(Error::other("its links lead nowhere"))
    }

    fn in_system(parent: &Path, path: &Path) -> Option<Self> {
        let is_ours =
            OPEN_FILES.iter().any(|ours| Path::new(ours).canonicalize().is_ok_and(|ours| ours == parent));
        let is_device = parent == Path::new("/dev") && path.read_link().is_err();

        match path.file_name().and_then(|name| name.to_str()) {
            Some("1") if is_ours => Some(Self::Output),
            Some("2") if is_ours => Some(Self::Errors),
            _ if is_ours || is_device || parent.starts_with("/proc") => Some(Self::Open(path.to_owned())),
            _ => None,
        }
    }
}

/// The directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
