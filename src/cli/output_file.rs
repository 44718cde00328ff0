//! A file that a flag names. The file is written completely or not at all.

use std::{
    fmt::Display,
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use tempfile::NamedTempFile;

use super::{
    notes::note_written,
    write_target::{WriteTarget, parent_directory},
};
use crate::failure::{Code, Failure};

/// A file that will be written at the end of a command.
#[derive(Debug)]
pub(super) struct OutputFile {
    /// The flag and its value, for messages.
    argument: String,
    /// The path as the user wrote it.
    path: PathBuf,
    target: WriteTarget,
}

impl OutputFile {
    /// Returns the file that `flag` names. Checks that the file can be written before any request is sent.
    ///
    /// # Errors
    /// `file_error` with the reason why the file cannot be written.
    pub(super) fn from_flag(matches: &ArgMatches, flag: &str) -> Result<Option<Self>, Failure> {
        let Some(path) = matches.get_one::<PathBuf>(flag) else { return Ok(None) };
        let argument = format!("--{flag} {}", path.display());
        let refusal = |reason: &dyn Display| {
            not_writable(&argument, reason).hint("name a file in an existing directory; nothing was sent")
        };
        if path.is_dir() {
            return Err(refusal(&"it is a directory"));
        }

        let target = WriteTarget::from_path(path).map_err(|error| refusal(&error))?;
        let check = match &target {
            WriteTarget::StandardOutput | WriteTarget::StandardError => Ok(()),
            WriteTarget::OpenFile(path) => path.metadata().map(drop),
            // A temporary file shows that the directory is writable. It is removed at once.
            WriteTarget::File(path) => temporary_file(path).map(drop),
        };
        check.map_err(|error| refusal(&error))?;

        Ok(Some(Self { argument, path: path.clone(), target }))
    }

    /// Writes the document. A regular file is replaced by a complete new file.
    ///
    /// # Errors
    /// `file_error` with the reason.
    pub(super) fn write(&self, document: &str) -> Result<(), Failure> {
        let bytes = document.as_bytes();
        let written = match &self.target {
            WriteTarget::StandardOutput => write_and_flush(io::stdout().lock(), bytes),
            WriteTarget::StandardError => write_and_flush(io::stderr().lock(), bytes),
            WriteTarget::OpenFile(path) => {
                OpenOptions::new().append(true).open(path).and_then(|file| write_and_flush(file, bytes))
            }
            WriteTarget::File(path) => replace_file(path, bytes),
        };

        if written.is_ok() && matches!(self.target, WriteTarget::File(_)) {
            note_written(&self.path);
        }

        written.map_err(|error| {
            not_writable(&self.argument, &error)
                .hint("everything else was done: name another file and run the command again")
        })
    }
}

fn not_writable(argument: &str, reason: &dyn Display) -> Failure {
    Failure::new(Code::FileError, format!("`{argument}` cannot be written: {reason}"))
}

fn write_and_flush(mut file: impl Write, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.flush()
}

/// Writes a temporary file in the same directory and renames it to `path`.
fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = temporary_file(path)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

/// Creates a temporary file in the directory of `path`. Its permissions are those of an ordinary new file, because CI
/// collects reports as another user.
fn temporary_file(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tas-mcp-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }

    builder.tempfile_in(parent_directory(path))
}
