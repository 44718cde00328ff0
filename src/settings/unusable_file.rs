//! The error of a settings file that cannot be read or changed.

use std::{io, path::PathBuf};

use crate::{
    failure::{Code, Failure},
    text_file::TextFileError,
    toml_text::TomlTextError,
};

/// A file of settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be used: {problem}", path.display())]
pub struct UnusableFile {
    /// Path of the file.
    pub path: PathBuf,
    /// The reason.
    pub problem: FileProblem,
}

/// Reason for which a file of settings cannot be used, as the end of a sentence about the file.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] TextFileError),
    /// The text is not TOML, or cannot be changed.
    #[error(transparent)]
    Toml(#[from] TomlTextError),
    /// A name or a value is not one of this file.
    #[error("line {line}: {reason}")]
    Content {
        /// Number of the line. The first line is 1.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
}

impl From<io::Error> for FileProblem {
    fn from(error: io::Error) -> Self {
        Self::File(error.into())
    }
}

impl UnusableFile {
    /// Returns the failure of a command that reads or changes the file.
    pub fn into_failure(self) -> Failure {
        if let FileProblem::File(TextFileError::Changed) = self.problem {
            let hint = "the file was left as it is: run the command again";
            return Failure::new(Code::Conflict, self.to_string()).hint(hint);
        }
        Failure::new(Code::FileError, self.to_string()).hint("the file was left as it is: correct it")
    }
}
