//! Failures of local files.

use std::io;

use crate::{
    failure::{Code, Failure},
    text::first_characters,
};

/// Longest file name in a failure, in characters.
const MAX_NAME_CHARS: usize = 300;

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
