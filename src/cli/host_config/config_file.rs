//! A configuration file of a host. It is replaced completely or not at all.

use std::{
    fmt::Display,
    fs::{self, File, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use crate::{
    cli::write_target::{WriteTarget, parent_directory},
    failure::{Code, Failure},
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
    /// The file that the symbolic links lead to.
    target: PathBuf,
    /// `None` if the file does not exist.
    content: Option<Content>,
}

#[derive(Debug)]
struct Content {
    text: String,
    permissions: Permissions,
}

impl ConfigFile {
    /// Reads the file, if it exists.
    ///
    /// # Errors
    /// `file_error`: not a regular file, too large, not UTF-8, read-only or unreadable.
    pub(in crate::cli) fn read(path: &Path) -> Result<Self, Failure> {
        let refusal = |reason: &dyn Display| unusable(path, reason);
        let target = match WriteTarget::from_path(path) {
            Ok(WriteTarget::File(target)) => target,
            Ok(_) => return Err(refusal(&"it is not a regular file")),
            // The directory does not exist yet, unless a link leads to nothing.
            Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
            Err(error) => return Err(refusal(&error)),
        };
        let content = read_content(&target).map_err(|error| refusal(&error))?;
        if content.as_ref().is_some_and(|content| content.permissions.readonly()) {
            return Err(refusal(&"it is read-only"));
        }

        Ok(Self { path: path.to_owned(), target, content })
    }

    /// Returns the text of the file; an empty text if there is no file.
    pub(in crate::cli) fn text(&self) -> &str {
        self.content.as_ref().map(|content| content.text.as_str()).unwrap_or_default()
    }

    /// Replaces the file by a file with this text and the same permissions. Returns the path of the backup with the earlier
    /// text, if there was one.
    ///
    /// # Errors
    /// `conflict` if the file has changed since it was read; `file_error` if it cannot be written.
    pub(in crate::cli) fn replace(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let failed = |error: io::Error| unusable(&self.path, &error);
        fs::create_dir_all(parent_directory(&self.target)).map_err(failed)?;
        let new = self.sibling(text).map_err(failed)?;
        let backup = self.content.as_ref().map(|content| self.sibling(&content.text)).transpose();
        let backup = backup.map_err(failed)?;

        let current = read_content(&self.target).map_err(failed)?;
        if current.as_ref().map(|content| &content.text) != self.content.as_ref().map(|content| &content.text)
        {
            return Err(self.has_changed());
        }

        let Some(backup) = backup else {
            return match new.persist_noclobber(&self.target) {
                Ok(_) => Ok(None),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Err(self.has_changed()),
                Err(error) => Err(failed(error.error)),
            };
        };
        let backup = self.keep_backup(backup).map_err(failed)?;
        new.persist(&self.target).map_err(|error| failed(error.error))?;

        Ok(Some(backup))
    }

    /// Creates a temporary file beside the file, with this text and the permissions of the file.
    fn sibling(&self, text: &str) -> io::Result<NamedTempFile> {
        let mut file =
            tempfile::Builder::new().prefix(".tas-mcp-").tempfile_in(parent_directory(&self.target))?;
        file.write_all(text.as_bytes())?;
        if let Some(content) = &self.content {
            file.as_file().set_permissions(content.permissions.clone())?;
        }
        file.as_file().sync_all()?;

        Ok(file)
    }

    /// Gives the backup the first name that is free.
    fn keep_backup(&self, mut backup: NamedTempFile) -> io::Result<PathBuf> {
        for number in 1..=MAX_BACKUPS {
            let mut name = self.target.clone().into_os_string();
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

fn read_content(path: &Path) -> io::Result<Option<Content>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let permissions = file.metadata()?.permissions();

    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;

    Ok(Some(Content { text, permissions }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_another_program_has_changed_is_left_as_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let changed = directory.path().join("changed.json");
        fs::write(&changed, "old").expect("written");
        let new = directory.path().join("new.json");

        for path in [changed, new] {
            let file = ConfigFile::read(&path).expect("readable");
            fs::write(&path, "of another program").expect("written");
            let failure = file.replace("ours").expect_err("a conflict");

            assert_eq!(failure.code, Code::Conflict);
            assert_eq!(fs::read_to_string(&path).expect("a file"), "of another program");
        }
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 2, "files are left over");
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
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("kept")).expect("a directory");
        fs::write(at("kept/config.json"), "old").expect("written");
        fs::set_permissions(at("kept/config.json"), Permissions::from_mode(0o640)).expect("permissions");
        symlink("kept/config.json", at("link.json")).expect("a link");

        let backup = ConfigFile::read(&at("link.json")).and_then(|file| file.replace("new"));
        let backup = backup.expect("written").expect("a backup");

        assert!(at("link.json").symlink_metadata().expect("a link").is_symlink());
        assert_eq!(fs::read_to_string(at("kept/config.json")).expect("a file"), "new");
        for path in [at("kept/config.json"), backup] {
            assert_eq!(path.metadata().expect("a file").permissions().mode() & 0o777, 0o640, "{path:?}");
        }
    }

    #[test]
    fn files_that_are_no_texts_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("directory")).expect("a directory");
        fs::write(at("bytes"), [0xff, 0xfe]).expect("written");
        fs::write(at("fixed"), "old").expect("written");
        File::create(at("huge")).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a file");
        let mut permissions = at("fixed").metadata().expect("a file").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(at("fixed"), permissions).expect("permissions");

        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere/config.json", at("link")).expect("a link");
        #[cfg(unix)]
        assert_eq!(ConfigFile::read(&at("link")).expect_err("a failure").code, Code::FileError);
        for (name, reason) in [
            ("directory", "not a regular file"),
            ("bytes", "not UTF-8"),
            ("fixed", "read-only"),
            ("huge", "more than"),
            ("bytes/below", ""),
        ] {
            let failure = ConfigFile::read(&at(name)).expect_err("a failure");
            assert!(
                failure.code == Code::FileError && failure.message.contains(reason),
                "{}",
                failure.message
            );
        }
    }
}
