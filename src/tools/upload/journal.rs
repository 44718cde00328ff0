//! What has to be known to go on with an upload after the process was killed. Holds no key and no address.
//!
//! A file of lines in the user's state directory: first what is uploaded, then one line for each part that the storage
//! host has taken. Its name says of which file, service and project it is. A line that is broken is passed over.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use cap_std::fs::Metadata;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::{
    plan::{UploadMode, UploadPlan, fits},
    source_file::SourceFile,
};
use crate::tools::files::{LockError, LockedFile, hexadecimal, lock_file};

/// What is uploaded.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct JournalHeader {
    /// For people.
    pub(super) path: PathBuf,
    pub(super) size: u64,
    /// What another content of the file would have otherwise.
    pub(super) stamp: String,
    /// Digest of what the caller asked for.
    #[serde(alias = "wish")]
    pub(super) request_digest: String,
    pub(super) build_id: String,
    pub(super) upload_id: String,
    pub(super) object_key: String,
    pub(super) part_size: u64,
    pub(super) total_parts: u64,
}

/// A part that the storage host has.
#[derive(Debug, Serialize, Deserialize)]
struct JournalPart {
    part_number: u64,
    etag: String,
}

/// The `ETag`s of finished parts by their numbers.
pub(super) type PartEtags = BTreeMap<u64, String>;

/// An unfinished upload on disk. The file is locked while the upload is under way.
#[derive(Debug)]
pub(super) struct UploadJournal {
    path: PathBuf,
    file: File,
}

/// Why there is no journal.
#[derive(Debug)]
pub(super) enum JournalError {
    /// Another upload keeps it: this one, as far as it says so.
    Busy(Option<Box<JournalHeader>>),
    /// It cannot be kept.
    Not,
}

impl From<std::io::Error> for JournalError {
    fn from(_: std::io::Error) -> Self {
        Self::Not
    }
}

impl JournalHeader {
    pub(super) fn plan(&self) -> UploadPlan {
        let (upload_id, part_size, total_parts) = (self.upload_id.clone(), self.part_size, self.total_parts);
        let flow = UploadMode::Parts { upload_id, part_size, total_parts };
        UploadPlan { build_id: self.build_id.clone(), object_key: self.object_key.clone(), flow }
    }

    /// Whether it can be followed at all.
    fn is_sound(&self) -> bool {
        let ids = [&self.build_id, &self.upload_id, &self.object_key];
        ids.iter().all(|id| !id.is_empty()) && fits(self.size, self.part_size, self.total_parts)
    }
}

impl UploadJournal {
    /// Opens the journal of a file, a service and a project, and what it says.
    ///
    /// # Errors
    /// It cannot be kept, or another upload keeps it.
    pub(super) fn open(
        directory: &Path,
        source: &SourceFile,
        service: &str,
        project: &str,
    ) -> Result<(Self, Option<(JournalHeader, PartEtags)>), JournalError> {
        std::fs::create_dir_all(directory)?;
        let path = directory.join(name_of(source, service, project));
        let mut options = OpenOptions::new();

        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

        let named = || path.symlink_metadata().map(Metadata::from_just_metadata);
        let LockedFile { mut file, is_locked: true } =
            lock_file(|| options.open(&path), named).map_err(|unheld| match unheld {
                LockError::Busy => {
                    let others = std::fs::read(&path).ok().and_then(|bytes| read(&bytes));
                    JournalError::Busy(others.map(|(head, _)| Box::new(head)))
                }
                LockError::Io(error) => error.into(),
            })?
        else {
            return Err(JournalError::Not);
        };

        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;

        // What is written next must not become a part of a line that was cut off.
        if bytes.last().is_some_and(|last| *last != b'\n') {
            file.write_all(b"\n")?;
        }

        Ok((Self { path, file }, read(&bytes)))
    }

    /// Begins anew.
    pub(super) fn begin(&mut self, head: &JournalHeader) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.line(head)
    }

    /// A part has been taken.
    pub(super) fn done(&mut self, part_number: u64, etag: &str) -> std::io::Result<()> {
        self.line(&JournalPart { part_number, etag: etag.to_owned() })
    }

    fn line(&mut self, entry: &impl Serialize) -> std::io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }

    /// There is nothing to go on with any more.
    pub(super) fn remove(self) {
        // An old journal is found to be of an upload that is no more.
        drop(std::fs::remove_file(&self.path));
    }
}

fn read(bytes: &[u8]) -> Option<(JournalHeader, PartEtags)> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let head = serde_json::from_slice::<JournalHeader>(lines.next()?).ok().filter(JournalHeader::is_sound)?;
    let done = lines.filter_map(|line| serde_json::from_slice::<JournalPart>(line).ok());
    let done =
        done.filter(|done| (1..=head.total_parts).contains(&done.part_number) && !done.etag.is_empty());
    let tags = done.map(|done| (done.part_number, done.etag)).collect();

    Some((head, tags))
}

fn name_of(source: &SourceFile, service: &str, project: &str) -> String {
    let named = format!("{}\n{service}\n{project}", source.path().display());
    let digest = digest(&SHA256, named.as_bytes());
    format!("{}.jsonl", hexadecimal(digest))
}
