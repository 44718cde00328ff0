//! A configuration file of a host. It is replaced completely or not at all.

use std::{
    fmt::Display,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{
    failure::{Code, Failure},
    text_file::{TextFile, TextFileError},
};

/// Largest file that is read. Claude Code keeps more than settings in its file.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// Number of backups of one file, at most.
const MAX_BACKUPS: usize = 1_000;

/// A configuration file as it was when it was read.
#[derive(Debug)]
pub(in crate::cli) struct ConfigFile {
    /// Where the host looks for the file.
    path: PathBuf,
    file: TextFile,
}

impl ConfigFile {
    /// Reads the file, if it exists.
    ///
    /// # Errors
    /// `file_error`: not a regular file, too large, not UTF-8, read-only or unreadable.
    pub(in crate::cli) fn read(path: &Path) -> Result<Self, Failure> {
        let file = TextFile::read(path, MAX_BYTES).map_err(|error| unusable(path, &error))?;
        file.check_writable().map_err(|error| unusable(path, &error))?;

        Ok(Self { path: path.to_owned(), file })
    }

    /// Returns the text of the file; an empty text if there is no file.
    pub(in crate::cli) fn text(&self) -> &str {
        self.file.text()
    }

    /// Replaces the file by a file with this text and the same permissions. Returns the path of the backup with the
    /// earlier text, if there was one.
    ///
    /// # Errors
    /// `conflict` if the file has changed since it was read; `file_error` if it cannot be written.
    pub(in crate::cli) fn replace(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        self.replace_with_backup(text).map_err(|error| match error {
            TextFileError::Changed => self.has_changed(),
            error => unusable(&self.path, &error),
        })
    }

    fn replace_with_backup(&self, text: &str) -> Result<Option<PathBuf>, TextFileError> {
        let new = self.file.sibling(text)?;
        let backup = self.file.exists().then(|| self.file.sibling(self.text())).transpose()?;
        self.file.check_unchanged()?;

        let backup = backup.map(|backup| self.keep_backup(backup)).transpose()?;
        self.file.persist(new)?;

        Ok(backup)
    }

    /// Gives the backup the first name that is free.
    fn keep_backup(&self, mut backup: NamedTempFile) -> io::Result<PathBuf> {
        for number in 1..=MAX_BACKUPS {
            let mut name = self.file.target().as_os_str().to_owned();
            name.push(format!(".backup-{number}"));
            let path = PathBuf::from(name);

            match backup.persist_noclobber(&path) {
                Ok(_) => return Ok(path),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => backup = error.file,
                Err(error) => return Err(error.error),
            }
        }

        Err(io::Error::other("it has too many backups; delete some of them"))
    }

    fn has_changed(&self) -> Failure {
        let message = format!("another program has changed {} in the meantime", self.path.display());
        Failure::new(Code::Conflict, message).hint("the file was left as it is: run the command again")
    }
}

/// Returns the failure for a configuration file that is left as it is.
pub(in crate::cli) fn unusable(path: &Path, reason: &dyn Display) -> Failure {
    let message = format!("{} cannot be changed: {reason}", path.display());
    Failure::new(Code::FileError, message)
        .hint("the file was left as it is: correct it, or change it by hand")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_another_program_has_changed_is_a_conflict() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config.json");
        fs::write(&path, "old").expect("written");
        let file = ConfigFile::read(&path).expect("readable");
        fs::write(&path, "of another program").expect("written");

        let failure = file.replace("ours").expect_err("a conflict");

        assert_eq!(failure.code, Code::Conflict);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "of another program");
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 1, "files are left over");
    }

    #[test]
    fn every_earlier_content_is_kept() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("new/config.json");
        let mut backups = Vec::new();
        for text in ["first", "second", "third"] {
            let file = ConfigFile::read(&path).expect("readable");
            backups.extend(file.replace(text).expect("written"));
        }

        let texts = backups.iter().map(|path| fs::read_to_string(path).expect("a backup"));
        assert_eq!(texts.collect::<Vec<_>>(), ["first", "second"]);
        assert_eq!(fs::read_to_string(&path).expect("a file"), "third");
    }

    #[cfg(unix)]
    #[test]
    fn a_backup_has_the_permissions_of_the_file() {
        use std::os::unix::fs::PermissionsExt as _;

        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config.json");
        fs::write(&path, "old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("permissions");

        let backup = ConfigFile::read(&path).and_then(|file| file.replace("new"));
        let backup = backup.expect("written").expect("a backup");

        assert_eq!(backup.metadata().expect("a file").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_file_that_cannot_be_changed_is_refused_before_anything_is_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("config.json");
        fs::write(&path, "old").expect("written");
        let mut permissions = path.metadata().expect("a file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("permissions");

        for (path, reason) in [(path.as_path(), "read-only"), (directory.path(), "not a regular file")] {
            let failure = ConfigFile::read(path).expect_err("a failure");
            assert_eq!(failure.code, Code::FileError);
            assert!(failure.message.contains(reason), "{}", failure.message);
        }
    }
}
