//! Files that one call has for itself. A lock on a file that has lost its name keeps nobody away: whoever comes next
//! finds another file of that name.

use std::{
    fs::{File, TryLockError},
    io,
};

use cap_std::fs::Metadata;

use super::identity::file_id;

/// How often a file may lose its name to another one before it counts as taken.
const MOST: usize = 16;

/// A file that has its name.
#[derive(Debug)]
pub struct LockedFile {
    /// Open.
    pub file: File,
    /// `false`: the file system has no locks.
    pub is_locked: bool,
}

/// Why a file is not ours.
#[derive(Debug)]
pub enum LockError {
    /// Somebody else has it.
    Busy,
    /// It cannot be opened.
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Locks the file that `open` opens; `named` says what has its name now, without following a link.
pub fn lock_file(
    open: impl Fn() -> io::Result<File>,
    named: impl Fn() -> io::Result<Metadata>,
) -> Result<LockedFile, LockError> {
    for _ in 0..MOST {
        let file = open()?;
        let is_locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => return Err(LockError::Busy),
            Err(TryLockError::Error(_)) => false,
        };

        match named() {
            Ok(named) if file_id(&named) == file_id(&Metadata::from_file(&file)?) => {
                return Ok(LockedFile { file, is_locked });
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
    }
    Err(LockError::Busy)
}
