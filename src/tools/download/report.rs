//! The result of a download of run files (supplement 15).
#![expect(missing_docs, reason = "the names are those of the service")]

use schemars::JsonSchema;
use serde::Serialize;

use super::file_ref::FILE_REF_PREFIX;
use crate::failure::{Code, Failure};

/// Hint for a download that the wait limit has interrupted.
pub(super) const CONTINUE_HINT: &str = "the download is paused: make the same call again to continue it";

/// The files of a run, saved or not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DownloadReport {
    /// `downloaded`; `incomplete`: see `failed`; `downloading`: repeat the same call to continue.
    pub status: &'static str,
    pub run_id: String,
    pub destination: String,
    /// Number of saved files.
    pub file_count: usize,
    pub total_bytes: u64,
    pub files: Vec<SavedFile>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedFile>,
    /// Number of files that are not saved yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A saved file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SavedFile {
    /// Per-player id `<run>-<player>`.
    pub run_id: String,
    pub file_ref: String,
    /// Below `destination`.
    pub path: String,
    /// Bytes.
    pub size: u64,
    /// `true`: the file existed before, with the same size and modification time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// A file that could not be saved.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FailedFile {
    pub run_id: String,
    pub file_ref: String,
    #[schemars(with = "String")]
    pub code: Code,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    #[serde(skip)]
    pub(super) failure: Failure,
}

impl FailedFile {
    /// Creates the entry of the file `name` of the player `run_id`.
    pub(super) fn new(run_id: &str, name: &str, failure: Failure) -> Self {
        Self {
            run_id: run_id.to_owned(),
            file_ref: format!("{FILE_REF_PREFIX}{name}"),
            code: failure.code,
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            failure,
        }
    }
}
