//! A file that a flag names, written whole or not at all.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use clap::ArgMatches;
use tempfile::NamedTempFile;

use crate::failure::{Code, Failure};

/// A file to be.
#[derive(Debug)]
pub(super) struct NewFile {
    path: PathBuf,
    /// A pipe or a device, such as `/dev/stdout`: a file must not take its place.
    is_special: bool,
}

impl NewFile {
    /// The file that a flag names. One that cannot be written is refused before anything is sent.
    pub(super) fn open(matches: &ArgMatches, flag: &str) -> Result<Option<Self>, Failure> {
        let Some(path) = matches.get_one::<PathBuf>(flag) else { return Ok(None) };
        let refused = |why: &dyn std::fmt::Display| {
            Failure::new(Code::FileError, format!("`--{flag} {}` cannot be written: {why}", path.display()))
                .hint("name a file in a directory that exists; nothing was sent")
        };
        if path.is_dir() {
            return Err(refused(&"it is a directory"));
        }
        let is_special = path.metadata().is_ok_and(|found| !found.is_file());
        if !is_special {
            temporary(path).map(drop).map_err(|error| refused(&error))?;
        }
        Ok(Some(Self { path: path.clone(), is_special }))
    }

    /// Writes the file under another name, and renames it when it is whole.
    pub(super) fn write(&self, document: &str) -> anyhow::Result<()> {
        let failed = || format!("cannot write {}", self.path.display());
        if self.is_special {
            return std::fs::write(&self.path, document).with_context(failed);
        }
        let mut file = temporary(&self.path).with_context(failed)?;
        file.write_all(document.as_bytes()).with_context(failed)?;
        file.persist(&self.path).map(drop).with_context(failed)
    }
}

/// A new file beside `path` with the permissions that files usually get: others read what CI collects.
fn temporary(path: &Path) -> std::io::Result<NamedTempFile> {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tas-mcp-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}
