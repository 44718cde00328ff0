//! Local files: the directory that tools may read and write, names, and patterns.

use std::io;

use globset::{GlobBuilder, GlobMatcher};
use tokio::time::Instant;

use crate::{
    failure::{Code, Failure},
    text::first_characters,
};

mod destination;
pub mod file_name;
mod progress;
mod root;

pub use destination::Destination;
pub(crate) use destination::{FileSlot, OpenDirectory};
pub(crate) use progress::TransferProgress;
pub use root::FilesRoot;
pub(crate) use root::{FileId, OpenFile, change_time, file_id};

/// Longest file name in a failure, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Returns the failure of the file `name` with the problem `what`.
pub(crate) fn file_error(name: &str, what: &str) -> Failure {
    let name = first_characters(name, MAX_NAME_CHARS);
    Failure::new(Code::FileError, format!("`{name}` {what}")).detail("path", name)
}

/// Returns the failure of a file that cannot be read.
pub(crate) fn read_error(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => file_error(name, "does not exist")
            .hint("relative paths begin at TAS_FILES_ROOT, or at the working directory if it is not set"),
        _ => file_error(name, &format!("cannot be read: {error}")),
    }
}

/// Returns the failure of a file that cannot be written.
pub(crate) fn write_error(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::StorageFull => file_error(name, "cannot be written: the disk is full")
            .hint("free disk space and call again: saved files are not downloaded again"),
        _ => file_error(name, &format!("cannot be written: {error}")),
    }
}

/// Returns whether a name was refused because it leads out of the directory in which it was resolved.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    // The refusal does not come from a system call and therefore has no error number.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Returns `bytes` as lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

/// Sleeps until `deadline`. Never returns if there is none.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// A compiled pattern such as `*.png` or `logs/**`. One without directories is matched with the last segment of a name.
#[derive(Clone, Debug)]
pub(crate) struct FilePattern {
    matcher: GlobMatcher,
    has_directories: bool,
}

impl FilePattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let mut builder = GlobBuilder::new(pattern.trim_start_matches('/'));
        let glob = builder.literal_separator(true).backslash_escape(true).build();
        let matcher = glob.map_err(|error| error.kind().to_string())?.compile_matcher();

        Ok(Self { matcher, has_directories: pattern.contains('/') })
    }

    /// Returns whether `name`, with `/` between its segments, matches the pattern.
    pub(crate) fn is_match(&self, name: &str) -> bool {
        let last_segment = name.rsplit('/').next().unwrap_or(name);
        self.matcher.is_match(if self.has_directories { name } else { last_segment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_segment_unless_doubled() {
        for (pattern, name, expected) in [
            ("*.png", "end.png", true),
            ("*.png", "screenshots/end.png", true),
            ("/*.png", "screenshots/end.png", false),
            ("logs/*", "logs/old/agent.log", false),
            ("logs/**", "logs/old/agent.log", true),
            ("**/agent.log", "agent.log", true),
            ("{a,b}?.log", "b1.log", true),
        ] {
            let compiled = FilePattern::new(pattern).expect("a valid pattern");
            assert_eq!(compiled.is_match(name), expected, "{pattern} {name}");
        }

        assert!(FilePattern::new("[a").is_err());
    }
}
