//! The state of an upload: what an equal upload needs to continue it, also in another process. It contains no API key and no
//! presigned address.
//!
//! It is one JSON file in the user's state directory, whose name follows from the file, the service, the project and the
//! arguments. It is replaced after each part and removed at the end.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{
    UploadIds,
    source::{SourceFile, hexadecimal},
};
use crate::{
    failure::{Code, Failure},
    service::api::uploads::InitiatedUpload,
    text::filled,
};

/// An unfinished upload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct UploadState {
    /// Path of the file, for users who read the state.
    path: PathBuf,
    /// Size and times of the file, which change with its content.
    stamp: String,
    size: u64,
    pub(super) ids: UploadIds,
    /// Size of each part in bytes; the last part may be shorter.
    part_size: u64,
    /// The `ETag`s of the parts that the storage host has, by part number.
    pub(super) etags: BTreeMap<u64, String>,
    /// Address of an upload in one piece.
    #[serde(skip)]
    pub(super) upload_url: Option<String>,
}

impl UploadState {
    /// Reads the answer to the initiation, which decides how the bytes are sent (service.md 10.4).
    ///
    /// # Errors
    /// `bad_response` if a field is missing or the number of parts does not match the size.
    pub(super) fn new(source: &SourceFile, answer: &InitiatedUpload) -> Result<Self, Failure> {
        let text = |field: &Option<String>| field.as_deref().and_then(filled);
        let missing = |name: &str| unusable_answer(&format!("lacks `{name}`"));
        let mut ids = UploadIds::of(answer);
        let (size, mut part_size, mut upload_url) = (source.size(), source.size(), None);

        // Only multipart uploads have an `upload_id`.
        let is_single_part =
            text(&answer.upload_type).map_or(ids.upload_id.is_none(), |kind| kind == "single-part");
        if is_single_part {
            upload_url = Some(text(&answer.upload_url).ok_or_else(|| missing("upload_url"))?);
            ids.upload_id = None;
        } else {
            part_size = answer.part_size.ok_or_else(|| missing("part_size"))?;
            let total_parts = answer.total_parts.ok_or_else(|| missing("total_parts"))?;
            if part_size == 0 || size.div_ceil(part_size) != total_parts {
                return Err(unusable_answer(&format!(
                    "states {total_parts} parts of {part_size} bytes, which does not match the {size} bytes of the file"
                )));
            }
            if ids.upload_id.is_none() {
                return Err(missing("upload_id"));
            }
        }
        if ids.build_id.is_empty() {
            return Err(missing("build_id"));
        }
        if ids.object_key.is_empty() {
            return Err(missing("object_key"));
        }

        let (path, stamp, etags) = (source.path().to_owned(), source.stamp(), BTreeMap::new());
        Ok(Self { path, stamp, size, ids, part_size, etags, upload_url })
    }

    /// Returns whether the upload can be continued: the file is the same, and is sent in parts.
    pub(super) fn can_continue(&self, source: &SourceFile) -> bool {
        self.stamp == source.stamp() && self.is_multipart()
    }

    pub(super) fn is_multipart(&self) -> bool {
        self.ids.upload_id.is_some()
    }

    pub(super) fn total_parts(&self) -> u64 {
        self.size.div_ceil(self.part_size.max(1))
    }

    /// Returns whether the storage host has all parts.
    pub(super) fn is_complete(&self) -> bool {
        self.missing_parts().is_empty()
    }

    pub(super) fn missing_parts(&self) -> Vec<u64> {
        (1..=self.total_parts()).filter(|number| !self.etags.contains_key(number)).collect()
    }

    /// Returns the bytes of part `number`, counted from 1.
    pub(super) fn part_range(&self, number: u64) -> Range<u64> {
        let start = number.saturating_sub(1).saturating_mul(self.part_size).min(self.size);
        start..start.saturating_add(self.part_size).min(self.size)
    }
}

fn unusable_answer(problem: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("initiate_build_upload: the service's answer {problem}"))
        .hint("nothing was uploaded; try again later")
}

/// The file of a state.
#[derive(Debug)]
pub(super) struct StateFile(Option<PathBuf>);

impl StateFile {
    /// Returns the file of the upload that `key` identifies. Without a directory nothing is recorded.
    pub(super) fn new(directory: Option<&Path>, key: [&str; 4]) -> Self {
        let name = format!("{}.json", hexadecimal(digest(&SHA256, key.join("\n").as_bytes())));
        Self(directory.map(|directory| directory.join(name)))
    }

    /// Returns the recorded upload. A damaged file records none.
    pub(super) fn read(&self) -> Option<UploadState> {
        serde_json::from_slice(&fs::read(self.0.as_ref()?).ok()?).ok()
    }

    /// Records the upload. A process that ends leaves the old state or the new one.
    pub(super) fn write(&self, state: &UploadState) {
        if let Some(path) = &self.0
            && let Err(error) = replace(path, state)
        {
            tracing::warn!("the upload cannot be continued if the process ends: {error}");
        }
    }

    pub(super) fn remove(&self) {
        if let Some(path) = &self.0 {
            // The error is ignored: the service tells the next upload that this one has ended.
            drop(fs::remove_file(path));
        }
    }
}

fn replace(path: &Path, state: &UploadState) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(state)?)?;
    file.persist(path)?;
    Ok(())
}
