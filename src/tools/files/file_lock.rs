//! Locked files: at most one call works on a file at a time.

use std::{
    fs::{File, TryLockError},
    io,
};

use cap_std::fs::Metadata;

use super::file_id;

/// Number of attempts to lock a file that another process keeps replacing.
const MAX_ATTEMPTS: usize = 16;

/// A file that was locked while it had its name.
#[derive(Debug)]
pub struct LockedFile {
    /// The open file.
    pub file: File,
    /// `false` if the file system does not support locks.
    pub is_locked: bool,
}

/// Reason why a file could not be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process or call holds the lock.
    Busy,
    /// The file cannot be opened or examined.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Locks the file that `open` opens. `current_metadata` returns the metadata of the file that has the name now,
/// without following links.
///
/// The identity of the file is checked after the lock is taken: if the file was renamed or removed in between, the
/// lock does not protect the name, and the file that has the name now is opened instead.
///
/// # Errors
/// [`LockError::Busy`] if the file is locked, or replaced again and again; otherwise the I/O error.
pub fn lock_file(
    open: impl Fn() -> io::Result<File>,
    current_metadata: impl Fn() -> io::Result<Metadata>,
) -> Result<LockedFile, LockError> {
    for _ in 0..MAX_ATTEMPTS {
        let file = open()?;
        let is_locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(LockError::Busy),
            // Some file systems do not support locks.
            Err(TryLockError::Error(_)) => false,
        };

        // The file may have been renamed or removed before the lock was taken.
        match current_metadata() {
            Ok(current) if file_id(&current) == file_id(&Metadata::from_file(&file)?) => {
                return Ok(LockedFile { file, is_locked });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }

    Err(LockError::Busy)
}
