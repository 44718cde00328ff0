//! What has to be known to go on with an upload after the process was killed. Holds no key and no address.
//!
//! A file of lines in the user's state directory: first what is uploaded, then one line for each part that the storage
//! host has taken. A line is written whole or not at all; a broken last line is passed over.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::{
    digest::hexadecimal,
    plan::{Flow, Plan},
    source::Source,
};

/// What is uploaded, and where to.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) path: PathBuf,
    pub(super) size: u64,
    pub(super) modified_ns: u128,
    /// Address of the main API.
    pub(super) service: String,
    pub(super) project: Option<String>,
    pub(super) name: String,
    pub(super) build_id: String,
    pub(super) upload_id: String,
    pub(super) object_key: String,
    pub(super) part_size: u64,
    pub(super) total_parts: u64,
}

/// A part that the storage host has.
#[derive(Debug, Serialize, Deserialize)]
struct Done {
    part_number: u64,
    etag: String,
}

/// The `ETag`s of finished parts by their numbers.
pub(super) type Tags = BTreeMap<u64, String>;

/// An unfinished upload on disk. The file is locked: another process that uploads the same file has no journal.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Head {
    pub(super) fn plan(&self) -> Plan {
        let (upload_id, part_size, total_parts) = (self.upload_id.clone(), self.part_size, self.total_parts);
        let flow = Flow::Parts { upload_id, part_size, total_parts };
        Plan { build_id: self.build_id.clone(), object_key: self.object_key.clone(), flow }
    }

    /// Whether it is about this file, as it is now.
    pub(super) fn is_of(&self, source: &Source) -> bool {
        (self.size, self.modified_ns) == (source.size(), source.modified_ns()) && self.path == source.path()
    }
}

impl Journal {
    /// Opens the journal of a file and a service, and what it says; `None` when it cannot be kept, or another process
    /// keeps it.
    pub(super) fn open(
        directory: &Path,
        source: &Source,
        service: &str,
    ) -> Option<(Self, Option<(Head, Tags)>)> {
        std::fs::create_dir_all(directory).ok()?;
        let path = directory.join(name_of(source, service));
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).ok()?;
        file.try_lock().ok()?;
        let found = read(&file);
        Some((Self { path, file }, found))
    }

    /// Begins anew.
    pub(super) fn begin(&mut self, head: &Head) -> std::io::Result<()> {
        self.file.set_len(0)?;
        self.line(head)
    }

    /// A part has been taken.
    pub(super) fn done(&mut self, part_number: u64, etag: &str) -> std::io::Result<()> {
        self.line(&Done { part_number, etag: etag.to_owned() })
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

fn read(file: &File) -> Option<(Head, Tags)> {
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let head = serde_json::from_str(&lines.next()?).ok()?;
    let done = lines.filter_map(|line| serde_json::from_str::<Done>(&line).ok());
    Some((head, done.map(|done| (done.part_number, done.etag)).collect()))
}

fn name_of(source: &Source, service: &str) -> String {
    let named = format!("{}\n{service}", source.path().display());
    let digest = digest(&SHA256, named.as_bytes());
    format!("{}.jsonl", hexadecimal(digest.as_ref()))
}
