//! A file that is not whole yet: it has a name of its own, and beside it stands which file its bytes are of. It gets its
//! final name when it is whole.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    time::SystemTime,
};

use cap_std::fs::OpenOptions;
use serde::{Deserialize, Serialize};

use super::Disk;
use crate::{
    client::ResumeFrom,
    tools::files::{FileSlot, LockError, lock_file, sha256},
};

/// Endings of the names of a file that is not whole, and of what is known of it.
const PART: &str = ".part";
const TAG: &str = ".part.tag";

/// Whether a name is one of files that are not whole.
pub(super) fn is_taken(segment: &str) -> bool {
    segment.starts_with('.') && (segment.ends_with(PART) || segment.ends_with(TAG))
}

/// Which file the bytes are of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
struct PartialFileTag {
    /// As the service wrote it.
    etag: Option<String>,
    /// Bytes of the whole file.
    size: Option<u64>,
}

/// A file that is not whole yet, held by this call alone.
#[derive(Debug)]
pub(super) struct PartialFile {
    slot: FileSlot,
    file: File,
    known: PartialFileTag,
    pub(super) length: u64,
}

impl PartialFile {
    /// What is there of the file, or nothing yet. `size` is how long it has to become, where that is known.
    pub(super) fn open(slot: FileSlot, size: Option<u64>) -> Result<Self, LockError> {
        let name = part_name(&slot);
        // Nothing is written through a link.
        if slot.dir.symlink_metadata(&name).is_ok_and(|found| !found.is_file()) {
            slot.dir.remove_file(&name)?;
        }

        let options = OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let open = || slot.dir.open_with(&name, &options).map(cap_std::fs::File::into_std);
        // Some file systems have no locks: only a lock of somebody else counts.
        let file = lock_file(open, || slot.dir.symlink_metadata(&name))?.file;
        let length = file.metadata()?.len();
        let mut part = Self { slot, file, known: PartialFileTag::default(), length };

        part.known = part.read_known().unwrap_or_default();
        let is_of_it = size.is_none() || part.known.size == size;
        let is_short = size.is_none_or(|size| part.length < size);

        if !(is_of_it && is_short && part.known.has_strong_tag()) {
            part.forget()?;
        }

        Ok(part)
    }

    /// What is still wanted.
    pub(super) fn rest(&self) -> ResumeFrom {
        if self.known.has_strong_tag() {
            ResumeFrom { offset: self.length, etag: self.known.etag.clone() }
        } else {
            ResumeFrom::default()
        }
    }

    /// Whether the bytes so far are of the file that an answer speaks of.
    pub(super) fn is_of(&self, etag: Option<&str>, total: Option<u64>) -> bool {
        let bare = |tag: &str| tag.trim().trim_matches('"').to_owned();
        let same_tag =
            etag.is_none_or(|etag| self.known.etag.as_deref().is_some_and(|known| bare(known) == bare(etag)));
        same_tag && (total.is_none() || self.known.size.is_none() || total == self.known.size)
    }

    /// Begins anew with a file of which this is known.
    pub(super) fn begin(&mut self, etag: Option<&str>, size: Option<u64>) -> io::Result<()> {
        self.forget()?;
        self.known = PartialFileTag { etag: etag.map(str::to_owned), size };

        if self.known.has_strong_tag() {
            let known = serde_json::to_vec(&self.known)?;
            self.slot.dir.write(tag_name(&self.slot), known)?;
        }

        Ok(())
    }

    /// Nothing is there any more.
    pub(super) fn forget(&mut self) -> io::Result<()> {
        self.known = PartialFileTag::default();
        remove(&self.slot, &tag_name(&self.slot))?;
        self.file.set_len(0)?;
        self.length = 0;
        Ok(())
    }

    /// Writes what follows.
    pub(super) fn append(&mut self, bytes: &[u8], disk: &dyn Disk) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        let written = disk.write(&mut self.file, bytes);
        // What a failed write has left may be anything.
        if written.is_err() {
            drop(self.file.set_len(self.length));
            return written;
        }

        self.length += bytes.len() as u64;

        Ok(())
    }

    /// Gives the whole file its name and its time. Nothing that has the name is replaced unless `replaces` says so.
    pub(super) fn finish(
        &mut self,
        modified: Option<SystemTime>,
        replaces: bool,
        disk: &dyn Disk,
    ) -> io::Result<()> {
        if let Some(modified) = modified {
            // It is a comfort, and not every file system has it.
            drop(self.file.set_modified(modified));
        }

        // What has its name has to be whole for good. Nobody knows what is there when that fails.
        if let Err(error) = disk.sync(&self.file) {
            drop(self.forget());
            return Err(error);
        }

        let slot = &self.slot;
        let part = part_name(slot);

        if replaces {
            slot.dir.rename(&part, &slot.dir, &slot.name)?;
        } else {
            name_anew(slot, &part)?;
        }

        // The file has its name: what is left beside it is no failure of it.
        drop(remove(slot, &tag_name(slot)));

        Ok(())
    }

    /// The SHA-256 of what is there.
    pub(super) fn digest(&mut self) -> io::Result<String> {
        self.file.rewind()?;
        sha256(&self.file)
    }

    fn read_known(&self) -> Option<PartialFileTag> {
        const LONGEST: u64 = 4_096;

        let name = tag_name(&self.slot);
        if !self.slot.dir.symlink_metadata(&name).ok()?.is_file() {
            return None;
        }

        let mut text = Vec::new();
        self.slot.dir.open(&name).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;

        serde_json::from_slice(&text).ok()
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if self.length == 0 {
            // Nobody can go on with nothing.
            drop(remove(&self.slot, &tag_name(&self.slot)));
            drop(remove(&self.slot, &part_name(&self.slot)));
        }
    }
}

impl PartialFileTag {
    /// Whether the tag says that every byte is the same: otherwise nothing can be continued.
    fn has_strong_tag(&self) -> bool {
        self.etag.as_deref().is_some_and(|tag| !tag.is_empty() && !tag.starts_with("W/"))
    }
}

/// A link fails where the name is taken, which a rename does not.
fn name_anew(slot: &FileSlot, part: &str) -> io::Result<()> {
    match slot.dir.hard_link(part, &slot.dir, &slot.name) {
        Ok(()) => {
            // Both names are of the same file now.
            drop(remove(slot, part));
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // There are file systems without links.
        Err(_) if slot.existing()?.is_none() => slot.dir.rename(part, &slot.dir, &slot.name),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

fn remove(slot: &FileSlot, name: &str) -> io::Result<()> {
    match slot.dir.remove_file(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn part_name(slot: &FileSlot) -> String {
    format!(".{}{PART}", slot.name)
}

fn tag_name(slot: &FileSlot) -> String {
    format!(".{}{TAG}", slot.name)
}
