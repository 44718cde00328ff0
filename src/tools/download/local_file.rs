//! Local files of a download: a file that exists before it, and the incomplete file that it writes.
//!
//! An incomplete file has a temporary name, and beside it a record of the remote file to which its bytes belong. It
//! gets its own name when it is complete.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, SystemTime},
};

use cap_std::fs::{Metadata, OpenOptions};
use serde::{Deserialize, Serialize};

use super::Disk;
use crate::{
    client::ResumeFrom,
    failure::Failure,
    tools::files::{FileSlot, LockError, LockedFile, file_error, lock_file, sha256},
};

/// Suffix of the name of an incomplete file.
const PART_SUFFIX: &str = ".part";

/// Suffix of the name of the record beside an incomplete file.
const RECORD_SUFFIX: &str = ".part.tag";

/// Maximum size of a record, in bytes.
const MAX_RECORD_BYTES: u64 = 4_096;

/// Maximum difference between the times of equal files. Some file systems store times in steps of two seconds.
const TIME_TOLERANCE: Duration = Duration::from_secs(2);

/// Hint for a file name that is taken by another file.
pub(super) const OVERWRITE_HINT: &str =
    "`overwrite: true` (`--overwrite`) replaces the file; or name another destination";

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

/// A file, directory or link that has the name of a download.
pub(super) struct ExistingFile {
    pub(super) is_file: bool,
    is_directory: bool,
    size: u64,
    modified: Option<SystemTime>,
}

impl From<&Metadata> for ExistingFile {
    fn from(metadata: &Metadata) -> Self {
        Self {
            is_file: metadata.is_file(),
            is_directory: metadata.is_dir(),
            size: metadata.len(),
            modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
        }
    }
}

impl ExistingFile {
    /// Returns the existing file as the outcome if it is equal to `target`, or `None` if it is to be replaced.
    ///
    /// # Errors
    /// The existing file is another file and must not be replaced.
    pub(super) fn as_outcome(&self, target: &DownloadTarget) -> Result<Option<SaveOutcome>, SaveError> {
        if self.is_equal(target) {
            return Ok(Some(SaveOutcome { size: self.size, is_kept: true, sha256: None }));
        }
        if self.is_directory {
            return Err(SaveError::File(file_error(&target.path, "is a directory")));
        }
        if target.replaces {
            return Ok(None);
        }

        let failure = file_error(&target.path, "exists already and is another file");
        Err(SaveError::File(failure.hint(OVERWRITE_HINT)))
    }

    fn is_equal(&self, target: &DownloadTarget) -> bool {
        let has_equal_time = match (self.modified, target.modified) {
            (Some(existing), Some(expected)) => {
                let difference =
                    existing.duration_since(expected).or_else(|_| expected.duration_since(existing));
                difference.is_ok_and(|difference| difference < TIME_TOLERANCE)
            }
            // A caller who wants to replace the file does not want to keep a file of unknown age.
            _ => !target.replaces,
        };
        self.is_file && Some(self.size) == target.size && has_equal_time
    }
}

/// Returns whether a file name is reserved for incomplete downloads.
pub(super) fn is_reserved_name(name: &str) -> bool {
    name.starts_with('.') && (name.ends_with(PART_SUFFIX) || name.ends_with(RECORD_SUFFIX))
}

/// The remote file to which the bytes of an incomplete file belong.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
struct RemoteVersion {
    /// `ETag` as the service wrote it.
    etag: Option<String>,
    /// Size of the complete file in bytes.
    size: Option<u64>,
}

/// Whether the disk is full. All files of a download share the value: none of them can be completed then, and what they have
/// written is removed, so that the disk is as free as before.
#[derive(Clone, Debug, Default)]
pub(super) struct FullDisk(Arc<AtomicBool>);

impl FullDisk {
    pub(super) fn note(&self, error: &io::Error) {
        if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            self.0.store(true, Relaxed);
        }
    }

    pub(super) fn is_noted(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// An incomplete file that this call has locked.
#[derive(Debug)]
pub(super) struct PartialFile {
    slot: FileSlot,
    file: LockedFile,
    version: RemoteVersion,
    full_disk: FullDisk,
    pub(super) length: u64,
}

impl PartialFile {
    /// Opens the incomplete file for `slot`, or creates it. Its bytes are removed if they do not belong to a file of
    /// `size` bytes, or if the download cannot be continued.
    ///
    /// # Errors
    /// Another call has locked the file, or the error of the file system.
    pub(super) fn open(slot: FileSlot, size: Option<u64>, full_disk: FullDisk) -> Result<Self, LockError> {
        let name = part_name(&slot);
        // A link at this place is removed, because bytes must not be written through it.
        if slot.dir.symlink_metadata(&name).is_ok_and(|metadata| !metadata.is_file()) {
            slot.dir.remove_file(&name)?;
        }

        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let open = || slot.dir.open_with(&name, &options).map(cap_std::fs::File::into_std);
        // A file system without locks is accepted: only the lock of another call prevents the download.
        let file = lock_file(open, || slot.dir.symlink_metadata(&name))?;
        let length = file.metadata()?.len();

        let mut partial = Self { slot, file, version: RemoteVersion::default(), full_disk, length };
        partial.version = partial.read_record().unwrap_or_default();
        let has_expected_size = size.is_none() || partial.version.size == size;
        let is_incomplete = size.is_none_or(|size| partial.length < size);

        if !(has_expected_size && is_incomplete && partial.version.has_strong_etag()) {
            partial.clear()?;
        }

        Ok(partial)
    }

    /// Returns the position at which the download continues.
    pub(super) fn resume_from(&self) -> ResumeFrom {
        if self.version.has_strong_etag() {
            ResumeFrom { offset: self.length, etag: self.version.etag.clone() }
        } else {
            ResumeFrom::default()
        }
    }

    /// Returns whether the bytes so far belong to the file of an answer with this `ETag` and size.
    pub(super) fn belongs_to(&self, etag: Option<&str>, total: Option<u64>) -> bool {
        let unquoted = |etag: &str| etag.trim().trim_matches('"').to_owned();
        let has_equal_etag = etag.is_none_or(|etag| {
            self.version.etag.as_deref().is_some_and(|known| unquoted(known) == unquoted(etag))
        });
        has_equal_etag && (total.is_none() || self.version.size.is_none() || total == self.version.size)
    }

    /// Removes all bytes and records the remote file of the bytes that follow.
    pub(super) fn restart(&mut self, etag: Option<&str>, size: Option<u64>) -> io::Result<()> {
        self.clear()?;
        self.version = RemoteVersion { etag: etag.map(str::to_owned), size };

        if self.version.has_strong_etag() {
            let record = serde_json::to_vec(&self.version)?;
            self.slot.dir.write(record_name(&self.slot), record)?;
        }

        Ok(())
    }

    /// Removes all bytes and the record.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.version = RemoteVersion::default();
        remove_if_exists(&self.slot, &record_name(&self.slot))?;
        self.file.set_len(0)?;
        self.length = 0;
        Ok(())
    }

    /// Writes the bytes that follow.
    pub(super) fn append(&mut self, bytes: &[u8], disk: &dyn Disk) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        let written = disk.write(&mut self.file, bytes);

        // A failed write may have written a part of the bytes.
        if written.is_err() {
            drop(self.file.set_len(self.length));
            return written;
        }

        self.length += bytes.len() as u64;

        Ok(())
    }

    /// Gives the complete file its name and modification time. An existing file is replaced only if `replaces` is set.
    pub(super) fn finish(
        &mut self,
        modified: Option<SystemTime>,
        replaces: bool,
        disk: &dyn Disk,
    ) -> io::Result<()> {
        if let Some(modified) = modified {
            // The error is ignored: not every file system supports modification times.
            drop(self.file.set_modified(modified));
        }

        // The name promises complete content, also after a power failure. After a failed sync the content is unknown.
        if let Err(error) = disk.sync(&self.file) {
            drop(self.clear());
            return Err(error);
        }

        let part = part_name(&self.slot);
        if replaces {
            self.slot.dir.rename(&part, &self.slot.dir, &self.slot.name)?;
        } else {
            rename_without_replacing(&self.slot, &part)?;
        }

        // The error is ignored: the file is complete, and a record without a file has no effect.
        drop(remove_if_exists(&self.slot, &record_name(&self.slot)));

        Ok(())
    }

    /// Returns the SHA-256 of the bytes.
    pub(super) fn digest(&mut self) -> io::Result<String> {
        self.file.rewind()?;
        sha256(&*self.file)
    }

    fn read_record(&self) -> Option<RemoteVersion> {
        let name = record_name(&self.slot);
        if !self.slot.dir.symlink_metadata(&name).ok()?.is_file() {
            return None;
        }

        let mut text = Vec::new();
        self.slot.dir.open(&name).ok()?.take(MAX_RECORD_BYTES).read_to_end(&mut text).ok()?;

        serde_json::from_slice(&text).ok()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        // An empty file cannot be continued.
        if self.length == 0 || self.full_disk.is_noted() {
            drop(remove_if_exists(&self.slot, &record_name(&self.slot)));
            drop(remove_if_exists(&self.slot, &part_name(&self.slot)));
        }
    }
}

impl RemoteVersion {
    /// Returns whether the `ETag` identifies the content byte by byte. Only then can a download be continued.
    fn has_strong_etag(&self) -> bool {
        self.etag.as_deref().is_some_and(|etag| !etag.is_empty() && !etag.starts_with("W/"))
    }
}

/// Renames `part` to the name of `slot`. Fails if the name is taken, unlike a plain rename: a hard link never replaces
/// a file.
fn rename_without_replacing(slot: &FileSlot, part: &str) -> io::Result<()> {
    match slot.dir.hard_link(part, &slot.dir, &slot.name) {
        Ok(()) => {
            // The error is ignored: both names belong to the complete file.
            drop(remove_if_exists(slot, part));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems do not support hard links.
        Err(_) if slot.existing()?.is_none() => slot.dir.rename(part, &slot.dir, &slot.name),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

fn remove_if_exists(slot: &FileSlot, name: &str) -> io::Result<()> {
    match slot.dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn part_name(slot: &FileSlot) -> String {
    format!(".{}{PART_SUFFIX}", slot.name)
}

fn record_name(slot: &FileSlot) -> String {
    format!(".{}{RECORD_SUFFIX}", slot.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_time_decide_whether_a_file_is_kept() {
        let at = |seconds| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let existing = ExistingFile { is_file: true, is_directory: false, size: 3, modified: at(100) };
        let cases = [
            (Some(3), at(100), false, true),
            (Some(3), at(101), false, true),
            (Some(3), at(98), false, false),
            (Some(4), at(100), false, false),
            (None, at(100), false, false),
            (Some(3), None, false, true),
            (Some(3), None, true, false),
        ];

        for (size, modified, replaces, expected) in cases {
            let path = "agent.log".to_owned();
            let target = DownloadTarget { path, size, modified, replaces, hashes: false };
            assert_eq!(existing.is_equal(&target), expected, "{target:?}");
        }
    }

    #[test]
    fn only_strong_etags_allow_a_continuation() {
        let cases = [(None, false), (Some(""), false), (Some("W/\"a\""), false), (Some("\"a\""), true)];
        for (etag, expected) in cases {
            let version = RemoteVersion { etag: etag.map(str::to_owned), size: None };
            assert_eq!(version.has_strong_etag(), expected, "{etag:?}");
        }
    }

    #[test]
    fn names_of_incomplete_files_are_reserved() {
        let cases = [(".a.part", true), (".a.part.tag", true), ("a.part", false), (".a", false)];
        for (name, expected) in cases {
            assert_eq!(is_reserved_name(name), expected, "{name}");
        }
    }
}
