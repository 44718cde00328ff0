//! Local files: the directory that tools may read and write, file names, locks, digests and patterns.

mod deadline;
mod destination;
mod digest;
mod errors;
mod file_lock;
pub mod file_name;
mod identity;
mod open_directory;
mod open_file;
mod pattern;
mod pattern_search;
mod progress;
mod root;

pub(crate) use deadline::sleep_until;
pub use destination::Destination;
pub(crate) use digest::{hexadecimal, sha256};
pub(crate) use errors::{file_error, read_error, write_error};
pub use file_lock::{LockError, LockedFile, lock_file};
pub(crate) use identity::{FileId, change_time, file_id};
pub(crate) use open_directory::{FileSlot, OpenDirectory, is_escape};
pub(crate) use open_file::OpenFile;
pub(crate) use pattern::{FilePattern, is_pattern};
pub(crate) use pattern_search::{SearchError, find_files};
pub(crate) use progress::format_progress;
pub use root::FilesRoot;
