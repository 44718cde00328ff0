//! Files and directories that flags name. An output file is written completely or not at all.

use std::{
    fmt::Display,
    fs::OpenOptions,
    io::{self, Error, Write as _},
    path::{Path, PathBuf},
};

use clap::builder::{PathBufValueParser, TypedValueParser};
use tempfile::NamedTempFile;

use super::output::{disarmed, note_written};
use crate::{
    failure::{Code, Failure},
    home_path::expand_home_path,
};

/// Maximum number of links that are followed, as in Linux.
const MAX_LINKS: usize = 40;

/// Names of standard output, which may be a file that is open and must not be replaced.
const STANDARD_OUTPUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Returns the parser of the value. Shells do not expand the `~` of `--html=~/report.html`.
pub(super) fn path_value() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(expand_home_path)
}

/// A file that will be written at the end of a command.
#[derive(Debug)]
pub(super) struct OutputFile {
    /// The flag and its value, for messages.
    argument: String,
    path: PathBuf,
    target: WriteTarget,
}

impl OutputFile {
    /// Returns the file that `flag` names: `path`. Checks that the file can be written before any request is sent.
    pub(super) fn from_flag(flag: &str, path: &Path) -> Result<Self, Failure> {
        let argument = format!("--{flag} {}", path.display());
        let refusal = |reason: &dyn Display| {
            not_writable(&argument, reason).hint("name a file in an existing directory; nothing was sent")
        };
        if path.is_dir() {
            return Err(refusal(&"it is a directory"));
        }

        let target = WriteTarget::from_path(path).map_err(|error| refusal(&error))?;
        let check = match &target {
            WriteTarget::StandardOutput => Ok(()),
            WriteTarget::Appended(path) => path.metadata().map(drop),
            // A temporary file shows that the directory is writable. It is removed at once.
            WriteTarget::File(path) => temporary_file(path).map(drop),
        };
        check.map_err(|error| refusal(&error))?;

        Ok(Self { argument, path: path.to_owned(), target })
    }

    /// Returns the directory for files that belong to this one: the name without its extension, and `-{suffix}`. Returns
    /// `None` for a pipe or a device.
    pub(super) fn directory_beside(&self, suffix: &str) -> Option<PathBuf> {
        let WriteTarget::File(_) = self.target else { return None };
        let stem = self.path.file_stem()?.to_string_lossy();
        Some(self.path.with_file_name(format!("{stem}-{suffix}")))
    }

    /// Writes the document. A regular file is replaced by a complete new file.
    pub(super) fn write(&self, document: &str) -> Result<(), Failure> {
        let is_file = matches!(self.target, WriteTarget::File(_));
        let document = if is_file { document.to_owned() } else { disarmed(document) };
        let bytes = document.as_bytes();
        let written = match &self.target {
            WriteTarget::StandardOutput => {
                let mut output = io::stdout().lock();
                output.write_all(bytes).and_then(|()| output.flush())
            }
            WriteTarget::Appended(path) => {
                OpenOptions::new().append(true).open(path).and_then(|mut file| file.write_all(bytes))
            }
            WriteTarget::File(path) => replace_file(path, bytes),
        };

        if written.is_ok() && is_file {
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

#[derive(Debug, PartialEq, Eq)]
enum WriteTarget {
    StandardOutput,
    /// A pipe, a device or another open file, to which the document is appended.
    Appended(PathBuf),
    /// A regular file or a file that does not exist yet; not a link.
    File(PathBuf),
}

impl WriteTarget {
    /// Follows the links of `path` one by one: the system would resolve `/dev/stdout` to the file behind it.
    fn from_path(path: &Path) -> io::Result<Self> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            if STANDARD_OUTPUT.iter().any(|name| path == Path::new(name)) {
                return Ok(Self::StandardOutput);
            }
            let is_special = path.metadata().is_ok_and(|metadata| !metadata.is_file());
            if is_special || path.starts_with("/dev") || path.starts_with("/proc") {
                return Ok(Self::Appended(path));
            }

            match path.read_link() {
                Ok(link) => path = parent_directory(&path).join(link),
                Err(_) => return Ok(Self::File(path)),
            }
        }

        Err(Error::other("it is a link that leads to no file"))
    }
}

/// Returns the directory of a file; the working directory for a plain name.
fn parent_directory(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}
