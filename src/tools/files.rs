//! Local files: the directory that tools may read and write, names, locks, digests and patterns.

use std::{
    io::{self, Read},
    time::Duration,
};

use indicatif::HumanBytes;
use ring::digest::{Context, SHA256};
use tokio::time::Instant;

use crate::{
    failure::{Code, Failure},
    text::first_characters,
};

mod destination;
mod equal_name;
pub mod file_name;
mod lock;
mod pattern;
mod root;

pub use destination::Destination;
pub(crate) use destination::{FileSlot, OpenDirectory};
pub(crate) use lock::{FileId, change_time, file_id};
pub use lock::{LockError, LockedFile, lock_file};
pub(crate) use pattern::{FilePattern, SearchError, find_files, is_pattern};
pub use root::FilesRoot;
pub(crate) use root::OpenFile;

/// Longest file name in a failure, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Number of bytes that are hashed at a time.
const BUFFER_SIZE: usize = 256 * 1024;

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

/// Reads `source` to its end and returns the SHA-256 in hexadecimal digits.
pub(crate) fn sha256(mut source: impl Read) -> io::Result<String> {
    let (mut context, mut buffer) = (Context::new(&SHA256), vec![0; BUFFER_SIZE]);

    loop {
        match source.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(context.finish())),
            Ok(read) => context.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the progress of a transfer for a user: `done` of `total` bytes, and the rate at which `transferred` bytes
/// moved within `elapsed`.
pub(crate) fn format_progress(done: u64, total: u64, transferred: u64, elapsed: Duration) -> String {
    let rate = u128::from(transferred) * 1000 / elapsed.as_millis().max(1);
    let [done, total, rate] = [done, total, u64::try_from(rate).unwrap_or(u64::MAX)].map(HumanBytes);
    format!("{done} of {total}, {rate}/s")
}

/// Sleeps until `deadline`. Never returns if there is none.
pub(crate) async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_counts_only_transferred_bytes() {
        const MIB: u64 = 1_048_576;

        let cases = [
            ((0, 0, 0, 0), "0 B of 0 B, 0 B/s"),
            ((12, 12, 12, 1), "12 B of 12 B, 12 B/s"),
            ((3 * MIB, 4 * MIB, 2 * MIB, 4), "3.00 MiB of 4.00 MiB, 512.00 KiB/s"),
        ];
        for ((done, total, transferred, seconds), expected) in cases {
            assert_eq!(format_progress(done, total, transferred, Duration::from_secs(seconds)), expected);
        }
    }
}
