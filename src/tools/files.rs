//! Local files: the directory that tools may read and write, names, and patterns.

use std::io;

use globset::{GlobBuilder, GlobMatcher};
use tokio::time::Instant;

use crate::{
    failure::{Cause, Code, Failure},
    text::first_characters,
};

pub mod file_name;
mod progress;
mod root;

pub(crate) use progress::TransferProgress;
pub use root::{Destination, FilesRoot};
pub(crate) use root::{FileSlot, OpenDirectory};

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
    use io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};

    let mut failure = file_error(name, &format!("cannot be written: {error}"));
    if matches!(
        error.kind(),
        FileTooLarge | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull
    ) {
        failure.facts.cause = Some(Cause::Unwritable);
        return failure.hint(
            "free disk space or choose another destination, and call again: saved files are not downloaded again",
        );
    }

    failure
}

/// Returns whether a name was refused because it leads out of the directory in which it was resolved.
pub(crate) fn is_escape(error: &io::Error) -> bool {
    // The refusal does not come from a system call and therefore has no error number.
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// Sleeps until `deadline`. Never returns if there is none.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Returns the compiled pattern, such as `*.png` or `logs/**`. One without directories is matched with the last segment of a
/// name.
pub(crate) fn compile_pattern(pattern: &str) -> Result<GlobMatcher, String> {
    let anchored = match pattern.trim_start_matches('/') {
        below if pattern.contains('/') => below.to_owned(),
        last_segment => format!("**/{last_segment}"),
    };
    let glob = GlobBuilder::new(&anchored).literal_separator(true).backslash_escape(true).build();

    Ok(glob.map_err(|error| error.kind().to_string())?.compile_matcher())
}
