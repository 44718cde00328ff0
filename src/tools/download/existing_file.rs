//! Local files that exist before a download.

use std::time::{Duration, SystemTime};

use cap_std::fs::Metadata;

use super::target::{DownloadTarget, SaveError, SaveOutcome};
use crate::tools::files::file_error;

/// Maximum difference between the times of equal files. Some file systems store times in steps of two seconds.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);

/// Hint for a file name that is taken by another file.
pub(super) const OVERWRITE_HINT: &str =
    "`overwrite: true` (`--overwrite`) replaces the file; or name another destination";

/// A file, directory or link that has the name of a download.
pub(super) struct ExistingFile {
    pub(super) is_file: bool,
    is_directory: bool,
    size: u64,
    modified: Option<SystemTime>,
}

impl From<&Metadata> for ExistingFile {
    fn from(metadata: &Metadata) -> Self {
        Self {
            is_file: metadata.is_file(),
            is_directory: metadata.is_dir(),
            size: metadata.len(),
            modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
        }
    }
}

impl ExistingFile {
    /// Returns the existing file as the outcome if it is equal to `target`, or `None` if it is to be replaced.
    ///
    /// # Errors
    /// The existing file is another file and must not be replaced.
    pub(super) fn as_outcome(&self, target: &DownloadTarget) -> Result<Option<SaveOutcome>, SaveError> {
        if self.is_equal(target) {
            return Ok(Some(SaveOutcome { size: self.size, is_kept: true, sha256: None }));
        }
        if self.is_directory {
            return Err(SaveError::File(file_error(&target.path, "is a directory")));
        }
        if target.replaces {
            return Ok(None);
        }

        let failure = file_error(&target.path, "exists already and is another file");
        Err(SaveError::File(failure.hint(OVERWRITE_HINT)))
    }

    fn is_equal(&self, target: &DownloadTarget) -> bool {
        let has_equal_time = match (self.modified, target.modified) {
            (Some(existing), Some(expected)) => {
                let difference =
                    existing.duration_since(expected).or_else(|_| expected.duration_since(existing));
                difference.is_ok_and(|difference| difference < TIME_TOLERANCE)
            }
            // A caller who wants to replace the file does not want to keep a file of unknown age.
            _ => !target.replaces,
        };
        self.is_file && Some(self.size) == target.size && has_equal_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_time_decide_whether_a_file_is_kept() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let existing = ExistingFile { is_file: true, is_directory: false, size: 3, modified: at(100) };
        let cases = [
            (Some(3), at(100), false, true),
            (Some(3), at(101), false, true),
            (Some(3), at(98), false, false),
            (Some(4), at(100), false, false),
            (None, at(100), false, false),
            (Some(3), None, false, true),
            (Some(3), None, true, false),
        ];

        for (size, modified, replaces, expected) in cases {
            let path = "agent.log".to_owned();
            let target = DownloadTarget { path, size, modified, replaces, hashes: false };
            assert_eq!(existing.is_equal(&target), expected, "{target:?}");
        }
    }
}
