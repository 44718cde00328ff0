//! What has the name of a file already.

use std::time::{Duration, SystemTime};

use super::context::{DownloadTarget, SaveError, SaveOutcome};
use crate::tools::files::file_error;

/// How far the times of the same file may differ: some file systems count in steps of two seconds.
const SAME_TIME: Duration = Duration::from_secs(2);

/// What to do about another file of the name.
pub(super) const OVERWRITE: &str =
    "`overwrite: true` (`--overwrite`) replaces it; or name another destination";

/// What has the name of the file already.
pub(super) struct ExistingFile {
    pub(super) is_file: bool,
    is_directory: bool,
    size: u64,
    modified: Option<SystemTime>,
}

impl ExistingFile {
    pub(super) fn of(found: &cap_std::fs::Metadata) -> Self {
        let modified = found.modified().ok().map(cap_std::time::SystemTime::into_std);
        Self { is_file: found.is_file(), is_directory: found.is_dir(), size: found.len(), modified }
    }

    /// The same file, saved before; `None`: it is to be replaced.
    pub(super) fn as_saved(&self, target: &DownloadTarget) -> Result<Option<SaveOutcome>, SaveError> {
        let same_time = match (self.modified, target.modified) {
            (Some(one), Some(other)) => {
                let apart = one.duration_since(other).or_else(|_| other.duration_since(one));
                apart.is_ok_and(|apart| apart < SAME_TIME)
            }
            // Unknown is not the same to somebody who wants it replaced.
            _ => !target.replaces,
        };
        if self.is_file && Some(self.size) == target.size && same_time {
            return Ok(Some(SaveOutcome { size: self.size, is_kept: true, sha256: None }));
        }
        if self.is_directory {
            return Err(SaveError::File(file_error(&target.path, "is a directory")));
        }
        if target.replaces {
            return Ok(None);
        }

        let failure = file_error(&target.path, "is there already, and is another file");

        Err(SaveError::File(failure.hint(OVERWRITE)))
    }
}
