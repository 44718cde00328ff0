//! A request to download files of a run.

use super::{
    file_ref::{FILE_REF_PREFIX, split_player_id},
    partial_file,
};
use crate::{
    failure::Failure,
    service::api::Id,
    tools::files::{FilePattern, file_name},
    violation::Violation,
};

/// A request to download files of a run.
#[derive(Clone, Debug, Default)]
pub struct DownloadRequest {
    /// Project, if the caller names one.
    pub project: Option<String>,
    /// Id of a run, or of one of its players.
    pub run_id: String,
    /// Downloads only these files.
    pub files: Option<Vec<RequestedFile>>,
    /// Downloads only files of these players.
    pub players: Option<Vec<u64>>,
    /// Downloads only files whose names match one of these patterns.
    pub patterns: Option<Vec<String>>,
    /// Whether existing files with other content are replaced.
    pub overwrite: bool,
}

/// A file that a caller names.
#[derive(Clone, Debug)]
pub struct RequestedFile {
    /// Id of the player.
    pub run_id: Id,
    /// `artifact:<path>`
    pub file_ref: String,
    /// File name below the destination, if the caller chooses one.
    pub relative_path: Option<String>,
}

impl DownloadRequest {
    /// Returns why `path` cannot be the name of a downloaded file, or `None` if it can.
    pub fn path_problem(path: &str) -> Option<&'static str> {
        let is_reserved = || path.rsplit('/').next().is_some_and(partial_file::is_reserved_name);
        file_name::path_problem(path)
            .or_else(|| is_reserved().then_some("is reserved for files that are incomplete"))
    }

    /// Returns whether `file_ref` is a reference to a file (supplement 15).
    pub(crate) fn is_file_ref(file_ref: &str) -> bool {
        file_ref.strip_prefix(FILE_REF_PREFIX).is_some_and(|name| !name.is_empty())
    }

    /// Returns the id of the run to which `id`, the id of a run or of a player, belongs.
    pub(crate) fn run_id_of(id: &str) -> &str {
        split_player_id(id).0
    }

    /// Returns the compiled patterns, or `None` if all files match.
    ///
    /// # Errors
    /// `invalid_arguments` with all invalid patterns.
    pub(super) fn compile_patterns(&self) -> Result<Option<Vec<FilePattern>>, Failure> {
        let Some(patterns) = &self.patterns else { return Ok(None) };

        let (mut compiled, mut violations) = (Vec::new(), Vec::new());
        for (index, pattern) in patterns.iter().enumerate() {
            match FilePattern::new(pattern) {
                Ok(pattern) => compiled.push(pattern),
                Err(problem) => violations.push(Violation::new(
                    format!("patterns.{index}"),
                    format!("is not a pattern: {problem}"),
                )),
            }
        }

        if violations.is_empty() {
            Ok(Some(compiled))
        } else {
            Err(Failure::invalid_arguments("download_run_files", &violations))
        }
    }
}
