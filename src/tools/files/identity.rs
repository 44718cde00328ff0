//! Which file it is, and whether somebody has written to it.

use cap_std::fs::Metadata;

/// What two looks at the same file have in common, and two files have not.
#[cfg(unix)]
pub fn file_id(found: &Metadata) -> (u64, u64) {
    use cap_std::fs::MetadataExt as _;
    (found.dev(), found.ino())
}

/// The same where files have no numbers: when it was made.
#[cfg(not(unix))]
pub fn file_id(found: &Metadata) -> Option<std::time::SystemTime> {
    found.created().ok().map(cap_std::time::SystemTime::into_std)
}

/// When anything of the file changed, in nanoseconds: who sets the time of writing cannot set this one.
#[cfg(unix)]
pub fn change_time(found: &Metadata) -> i128 {
    use cap_std::fs::MetadataExt as _;
    i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec())
}

/// The same where no such time is kept.
#[cfg(not(unix))]
pub fn change_time(_: &Metadata) -> i128 {
    0
}
