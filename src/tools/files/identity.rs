//! Identity of files: whether two metadata records are of the same file, and whether the file was changed.

use cap_std::fs::Metadata;

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
