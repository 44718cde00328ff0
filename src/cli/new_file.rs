//! A file that a flag names, written whole or not at all.

use std::{
    fs::OpenOptions,
    io::{Result, Write as _},
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use tempfile::NamedTempFile;

use self::place::Place;
use crate::failure::{Code, Failure};

mod place;

/// A file to be.
#[derive(Debug)]
pub(super) struct NewFile {
    /// The flag and its value, as they were given.
    named: String,
    place: Place,
}

impl NewFile {
    /// The file that a flag names. One that cannot be written is refused before anything is sent.
    pub(super) fn open(matches: &ArgMatches, flag: &str) -> std::result::Result<Option<Self>, Failure> {
        let Some(path) = matches.get_one::<PathBuf>(flag) else { return Ok(None) };
        let named = format!("--{flag} {}", path.display());
        let refused = |why: &dyn std::fmt::Display| {
            failed(&named, why).hint("name a file in a directory that exists; nothing was sent")
        };
        if path.is_dir() {
            return Err(refused(&"it is a directory"));
        }

        let place = Place::of(path).map_err(|error| refused(&error))?;
        let usable = match &place {
            Place::Output | Place::Errors => Ok(()),
            Place::Open(path) => path.metadata().map(drop),
            Place::File(path) => temporary(path).map(drop),
        };
        usable.map_err(|error| refused(&error))?;

        Ok(Some(Self { named, place }))
    }

    /// Writes the document: a file under another name, which is renamed when it is whole.
    pub(super) fn write(&self, document: &str) -> std::result::Result<(), Failure> {
        let bytes = document.as_bytes();
        let written = match &self.place {
            Place::Output => written(std::io::stdout().lock(), bytes),
            Place::Errors => written(std::io::stderr().lock(), bytes),
            Place::Open(path) => {
                OpenOptions::new().append(true).open(path).and_then(|file| written(file, bytes))
            }
            Place::File(path) => replaced(path, bytes),
        };

        written.map_err(|error| {
            failed(&self.named, &error).hint("everything else was done: name another file and ask again")
        })
    }
}

fn failed(named: &str, why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Code::FileError, format!("`{named}` cannot be written: {why}"))
}

fn written(mut file: impl std::io::Write, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes)?;
    file.flush()
}

fn replaced(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = temporary(path)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// A new file beside `path` with the permissions that files usually get: others read what CI collects.
fn temporary(path: &Path) -> Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tas-mcp-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }

    builder.tempfile_in(place::directory(path))
}
