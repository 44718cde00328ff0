//! The state of an upload: what an equal upload needs to continue it, also in another process. It contains no API key and no
//! presigned address.
//!
//! It is one JSON file in the user's state directory, whose name follows from the file, the service, the project and the
//! arguments. It is replaced after each part and removed at the end.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::{
    UploadIds,
    session::{PartEtags, UploadPlan},
    source::SourceFile,
};
use crate::tools::files::hexadecimal;

/// An unfinished upload.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct UploadState {
    /// Path of the file, for users who read the state.
    path: PathBuf,
    /// Size and times of the file, which change with its content.
    stamp: String,
    pub(super) ids: UploadIds,
    part_size: u64,
    pub(super) etags: PartEtags,
}

impl UploadState {
    pub(super) fn new(source: &SourceFile, plan: &UploadPlan) -> Self {
        Self {
            path: source.path().to_owned(),
            stamp: source.stamp(),
            ids: plan.ids.clone(),
            part_size: plan.part_size,
            etags: PartEtags::new(),
        }
    }

    /// Returns the plan of the upload if it can be continued: the file is the same, and is sent in parts.
    pub(super) fn plan(&self, source: &SourceFile) -> Option<UploadPlan> {
        let can_continue = self.stamp == source.stamp() && self.ids.upload_id.is_some();
        let (ids, size, part_size) = (self.ids.clone(), source.size(), self.part_size);
        can_continue.then_some(UploadPlan { ids, size, part_size, upload_url: None })
    }

    fn is_valid(&self) -> bool {
        let UploadIds { build_id, object_key, upload_id } = &self.ids;
        let has_ids = !build_id.is_empty() && !object_key.is_empty() && upload_id.as_deref() != Some("");
        has_ids && self.part_size > 0 && self.etags.values().all(|etag| !etag.is_empty())
    }
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
        let bytes = fs::read(self.0.as_ref()?).ok()?;
        serde_json::from_slice(&bytes).ok().filter(UploadState::is_valid)
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

fn replace(path: &Path, state: &UploadState) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut file = NamedTempFile::new_in(directory)?;
    file.write_all(&serde_json::to_vec(state)?)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_a_damaged_one_is_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = StateFile::new(Some(directory.path()), ["game.apk", "https://host", "demo", "d"]);
        let ids = UploadIds {
            build_id: "b".to_owned(),
            upload_id: Some("u".to_owned()),
            object_key: "o".to_owned(),
        };
        let etags = PartEtags::from([(2, "e".to_owned())]);
        let state = UploadState { path: "game.apk".into(), stamp: "s".to_owned(), ids, part_size: 10, etags };

        assert_eq!(file.read(), None);
        file.write(&state);
        assert_eq!(file.read().as_ref(), Some(&state));

        let path = file.0.as_ref().expect("a path");
        let text = fs::read_to_string(path).expect("a text");
        let wrong_size = text.replace("\"part_size\":10", "\"part_size\":0");
        for damaged in ["", &text[..text.len() - 1], &text.replace("\"b\"", "\"\""), &wrong_size] {
            fs::write(path, damaged).expect("it can be written");
            assert_eq!(file.read(), None, "{damaged}");
        }

        file.remove();
        assert!(!path.exists());
    }
}
