//! Where the result of a report goes: text, or a page on standard output, in a named or in a temporary file.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::ArgMatches;

use super::{HTML, OPEN, browser};
use crate::{
    cli::{
        notes::{note, note_written},
        output_file::OutputFile,
    },
    failure::{Code, Failure},
};

/// File name that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Where the result goes.
#[derive(Debug)]
pub(super) enum ReportTarget {
    /// The summary is printed.
    Text,
    /// The page is printed.
    StandardOutput,
    /// The page is written to a file.
    File(PageFile),
}

/// The file of a page.
#[derive(Debug)]
pub(super) enum PageFile {
    /// The file of the flag `--html`.
    Named(PathBuf, OutputFile),
    /// A new file in the directory for temporary files.
    Temporary,
}

impl ReportTarget {
    /// Returns the target that the flags name. Checks that the file can be written before any request is sent.
    ///
    /// # Errors
    /// `file_error` with the reason why the file cannot be written; `invalid_arguments` for a page that is to be opened
    /// but goes to standard output.
    pub(super) fn from_flags(matches: &ArgMatches) -> Result<Self, Failure> {
        let opens = matches.get_flag(OPEN);
        let path = matches.get_one::<PathBuf>(HTML);

        match path {
            None if opens => Ok(Self::File(PageFile::Temporary)),
            None => Ok(Self::Text),
            Some(path) if path != Path::new(STANDARD_OUTPUT) => {
                let file = OutputFile::from_flag(matches, HTML)?;
                Ok(file.map_or(Self::Text, |file| Self::File(PageFile::Named(path.clone(), file))))
            }
            Some(_) if opens => {
                let message = format!("`--{OPEN}` needs a file, but `--{HTML} -` writes to standard output");
                Err(Failure::new(Code::InvalidArguments, message)
                    .hint(format!("leave out `--{HTML}`: the page is then written to a temporary file")))
            }
            Some(_) => Ok(Self::StandardOutput),
        }
    }
}

impl PageFile {
    /// Writes the page, and returns the path of its file, which is also printed on standard error.
    ///
    /// # Errors
    /// `file_error` with the reason.
    pub(super) fn write(&self, page: &str) -> Result<PathBuf, Failure> {
        let path = match self {
            Self::Named(path, file) => {
                file.write(page)?;
                path.clone()
            }
            Self::Temporary => {
                let path = write_temporary_file(page)?;
                note_written(&path);
                path
            }
        };

        Ok(path)
    }
}

/// Writes the page to a new file that only its owner can read.
fn write_temporary_file(page: &str) -> Result<PathBuf, Failure> {
    let write = || {
        let mut file = tempfile::Builder::new().prefix("tas-mcp-report-").suffix(".html").tempfile()?;
        file.write_all(page.as_bytes())?;
        file.keep().map(|(_, path)| path).map_err(|error| error.error)
    };

    write().map_err(|error| {
        let message = format!("the temporary file for `--{OPEN}` cannot be written: {error}");
        Failure::new(Code::FileError, message).hint(format!("name a file with `--{HTML}`"))
    })
}

/// Opens a page in the browser. If there is no browser, says which file to open.
pub(super) async fn open(path: &Path) {
    if let Err(error) = browser::open(path).await {
        let path = path.display();
        note(&format!("no browser could be started ({error}): open {path} in a browser"));
    }
}
