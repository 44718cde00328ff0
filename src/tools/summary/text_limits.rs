//! Limits for texts of the service in the answer, in characters.

pub(super) use crate::tools::waiting::LONGEST_NAME;

/// Longest id.
pub(super) const LONGEST_ID: usize = 64;

/// Longest single word, such as a verdict or a timestamp.
pub(super) const LONGEST_WORD: usize = 40;

/// Longest file name.
pub(super) const LONGEST_FILE_NAME: usize = 60;
