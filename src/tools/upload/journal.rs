//! The journal of an upload: everything that is needed to resume the upload after its process was killed. It contains
//! no API key and no presigned address. Its lock shows that the file is being uploaded.
//!
//! A journal is a file of JSON lines in the user's state directory. The first line is the header, and one line follows
//! for each part that the storage host has accepted. The file name is derived from the uploaded file, the service and
//! the project. Lines that cannot be read are ignored.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use cap_std::fs::Metadata;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::{
    session::{PartEtags, UploadPlan, is_part_count},
    source::SourceFile,
};
use crate::tools::files::{LockError, LockedFile, hexadecimal, lock_file};

/// Largest journal that is read, in bytes. An upload with the largest number of parts writes less than 2 MiB.
const MAX_JOURNAL_BYTES: u64 = 16 << 20;

/// First line of a journal: the upload.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct JournalHeader {
    /// Path of the file, for users who read the journal.
    path: PathBuf,
    /// Size and times of the file, which change with its content.
    stamp: String,
    /// Digest of the arguments of the caller.
    request_digest: String,
    pub(super) plan: UploadPlan,
    /// Repeats what follows from the plan: a damaged plan is recognized.
    total_parts: u64,
}

impl JournalHeader {
    pub(super) fn new(source: &SourceFile, request_digest: &str, plan: &UploadPlan) -> Self {
        Self {
            path: source.path().to_owned(),
            stamp: source.stamp(),
            request_digest: request_digest.to_owned(),
            plan: plan.clone(),
            total_parts: plan.total_parts(),
        }
    }

    /// Returns whether this is an upload of the same content with the same request.
    pub(super) fn records(&self, source: &SourceFile, request_digest: &str) -> bool {
        self.stamp == source.stamp() && self.request_digest == request_digest
    }

    fn is_valid(&self) -> bool {
        let UploadPlan { ids, size, part_size, .. } = &self.plan;
        let has_ids = !ids.build_id.is_empty() && !ids.object_key.is_empty();
        has_ids && ids.upload_id.as_deref() != Some("") && is_part_count(*size, *part_size, self.total_parts)
    }
}

/// Further line of a journal: a part that the storage host has accepted.
#[derive(Debug, Serialize, Deserialize)]
struct JournalPart {
    part_number: u64,
    etag: String,
}

/// The content of a journal.
pub(super) type RecordedUpload = (JournalHeader, PartEtags);

/// An open journal. The file is locked while the upload is in progress.
#[derive(Debug)]
pub(super) struct UploadJournal {
    path: PathBuf,
    file: LockedFile,
}

/// Reason why a journal could not be opened.
#[derive(Debug)]
pub(super) enum JournalError {
    /// Another upload has locked the journal. The header of that upload is `None` if it cannot be read.
    Busy(Option<Box<JournalHeader>>),
    /// The file cannot be created or locked.
    Unusable,
}

impl From<io::Error> for JournalError {
    fn from(_: io::Error) -> Self {
        Self::Unusable
    }
}

impl UploadJournal {
    /// Opens and locks the journal for a file, a service and a project. Returns the journal and its content.
    ///
    /// # Errors
    /// The file cannot be created or locked, or another upload has locked it.
    pub(super) fn open(
        directory: &Path,
        source: &SourceFile,
        service: &str,
        project: &str,
    ) -> Result<(Self, Option<RecordedUpload>), JournalError> {
        let key = format!("{}\n{service}\n{project}", source.path().display());
        let name = format!("{}.jsonl", hexadecimal(digest(&SHA256, key.as_bytes())));
        let path = directory.join(name);
        fs::create_dir_all(directory)?;
        let mut file = open_locked(&path)?;

        let mut bytes = Vec::new();
        (&*file).take(MAX_JOURNAL_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_JOURNAL_BYTES {
            // No upload writes such a journal.
            file.set_len(0)?;
            bytes.clear();
        }

        // The last line may be incomplete. The next line must not become a part of it.
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }

        Ok((Self { path, file }, parse_journal(&bytes)))
    }

    /// Replaces the content by `header`.
    pub(super) fn begin(&mut self, header: &JournalHeader) -> io::Result<()> {
        // The file is open for appending, so that the header becomes its first line.
        self.file.set_len(0)?;
        self.write_line(header)
    }

    /// Records a part that the storage host has accepted.
    pub(super) fn add_part(&mut self, part_number: u64, etag: &str) {
        if let Err(error) = self.write_line(&JournalPart { part_number, etag: etag.to_owned() }) {
            tracing::warn!("the upload cannot be resumed if the process ends: {error}");
        }
    }

    fn write_line(&mut self, entry: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    pub(super) fn remove(self) {
        // The error is ignored: a stale journal is detected when the upload is resumed.
        drop(fs::remove_file(&self.path));
    }
}

/// Opens and locks the file of a journal. Only its owner can read it.
fn open_locked(path: &Path) -> Result<LockedFile, JournalError> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

    let current_metadata = || path.symlink_metadata().map(Metadata::from_just_metadata);
    // A pipe would block, and a link could lead to another file.
    if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(JournalError::Unusable);
    }
    match lock_file(|| options.open(path), current_metadata) {
        Ok(file) if file.is_locked() => Ok(file),
        // Without a lock, two uploads could write to the journal.
        Ok(_) => Err(JournalError::Unusable),
        Err(LockError::Busy) => {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|file| file.take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes));
            let recorded = read.ok().and_then(|_| parse_journal(&bytes));
            Err(JournalError::Busy(recorded.map(|(header, _)| Box::new(header))))
        }
        Err(LockError::Io(error)) => Err(error.into()),
    }
}

/// Returns the content of a journal, or `None` if its header is not valid.
fn parse_journal(bytes: &[u8]) -> Option<RecordedUpload> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header =
        serde_json::from_slice::<JournalHeader>(lines.next()?).ok().filter(JournalHeader::is_valid)?;

    let parts = lines.filter_map(|line| serde_json::from_slice::<JournalPart>(line).ok());
    let is_valid =
        |part: &JournalPart| (1..=header.total_parts).contains(&part.part_number) && !part.etag.is_empty();
    let etags = parts.filter(is_valid).map(|part| (part.part_number, part.etag)).collect();

    Some((header, etags))
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::any, sample::Index};
    use serde_json::json;

    use super::*;
    use crate::random_inputs::{bytes, check_values, value};

    #[test]
    fn any_journal_is_read_or_ignored() {
        let ids = json!({"build_id": "b", "upload_id": "u", "object_key": "o"});
        let plan = json!({"ids": ids, "size": 20, "part_size": 10});
        let header =
            json!({"path": "a", "stamp": "s", "request_digest": "d", "plan": plan, "total_parts": 2});

        check_values(&(bytes(), value(), any::<Index>()), 1, |(bytes, value, cut)| {
            drop(parse_journal(&bytes));

            let complete = format!("{header}\n{{\"part_number\":1,\"etag\":\"e\"}}\n{value}\n").into_bytes();
            let (_, etags) = parse_journal(&complete).expect("a valid header");
            assert_eq!(etags.get(&1).map(String::as_str), Some("e"));

            // A process that was killed leaves the beginning of a journal.
            let kept = &complete[..cut.index(complete.len())];
            let parts = parse_journal(kept).map(|(_, etags)| etags).unwrap_or_default();
            assert!(parts.keys().all(|number| (1..=2).contains(number)), "{parts:?}");
        });
    }
}
