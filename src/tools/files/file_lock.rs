//! Locked files: at most one call works on a file at a time.

use std::{
    fs::{File, TryLockError},
    io,
    ops::{Deref, DerefMut},
};

use cap_std::fs::Metadata;

use super::file_id;

/// Number of attempts to lock a file that another process keeps replacing.
const MAX_ATTEMPTS: usize = 16;

/// A locked file, which had the requested name when the lock was taken. The lock ends when this value is dropped.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    is_locked: bool,
}

impl LockedFile {
    /// Returns whether the file is locked. Some file systems do not support locks.
    pub fn is_locked(&self) -> bool {
        self.is_locked
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.file
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // Closing the file does not suffice: a process that is being started has a copy of the open file until it
        // executes its program, and the copy keeps the lock.
        drop(self.file.unlock());
    }
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
            // The file system does not support locks.
            Err(TryLockError::Error(_)) => false,
        };
        let locked = LockedFile { file, is_locked };

        // The file may have been renamed or removed before the lock was taken.
        match current_metadata() {
            Ok(current) if file_id(&current) == file_id(&Metadata::from_file(&locked)?) => {
                return Ok(locked);
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }

    Err(LockError::Busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_ends_although_a_started_process_has_a_copy_of_the_open_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let lock = || {
            lock_file(|| File::create(&path), || path.symlink_metadata().map(Metadata::from_just_metadata))
        };

        let first = lock().expect("a lock");
        let _copy = first.try_clone().expect("a copy");

        assert!(matches!(lock(), Err(LockError::Busy)));

        drop(first);

        assert!(lock().expect("a lock").is_locked());
    }
}
