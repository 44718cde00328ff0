//! The local file that a download produces, and the outcome for it.

use std::time::SystemTime;

use crate::failure::Failure;

/// The local file that a download produces.
#[derive(Clone, Debug)]
pub(super) struct DownloadTarget {
    /// File name below the destination.
    pub(super) path: String,
    /// Size in bytes, if it is known.
    pub(super) size: Option<u64>,
    /// Modification time, if it is known.
    pub(super) modified: Option<SystemTime>,
    /// Whether an existing file with other content is replaced.
    pub(super) replaces: bool,
    /// Whether the SHA-256 of the file is computed.
    pub(super) hashes: bool,
}

/// A saved file.
#[derive(Clone, Debug)]
pub(super) struct SaveOutcome {
    pub(super) size: u64,
    /// Whether the file existed before and was not downloaded.
    pub(super) is_kept: bool,
    /// Present if it was requested.
    pub(super) sha256: Option<String>,
}

/// Reason why a file was not saved.
#[derive(Debug)]
pub(super) enum SaveError {
    /// Other files may still be saved.
    File(Failure),
    /// No other file can be written either.
    Disk(Failure),
}
