//! Locked files: at most one call works on a file at a time. The lock holds for a name only while the name leads to the
//! same file, so that the identity of files belongs here too.

use std::{
    fs::{File, TryLockError},
    io,
    ops::{Deref, DerefMut},
};

use cap_std::fs::Metadata;

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

/// Identifier of a file: device and inode number.
#[cfg(unix)]
pub(crate) type FileId = (u64, u64);

/// Identifier of a file: its creation time, because there is no inode number.
#[cfg(not(unix))]
pub(crate) type FileId = Option<std::time::SystemTime>;

/// Returns the identifier of a file. It is equal for two records of the same file and different for two files.
#[cfg(unix)]
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    use cap_std::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

/// Returns the identifier of a file. It is equal for two records of the same file and different for two files.
#[cfg(not(unix))]
pub(crate) fn file_id(metadata: &Metadata) -> FileId {
    metadata.created().ok().map(cap_std::time::SystemTime::into_std)
}

/// Returns the time of the last change to the content or attributes of a file, in nanoseconds. Unlike the modification
/// time, a program cannot set it.
#[cfg(unix)]
pub(crate) fn change_time(metadata: &Metadata) -> i128 {
    use cap_std::fs::MetadataExt as _;
    i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec())
}

/// Returns 0: this system does not record the time of the last change.
#[cfg(not(unix))]
pub(crate) fn change_time(_: &Metadata) -> i128 {
    0
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
