//! A text file that is replaced completely or not at all.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
};

/// A text file as it was when it was read.
#[derive(Debug)]
pub struct TextFile {
    /// The file that the symbolic links lead to.
    target: PathBuf,
    /// `None` if the file does not exist.
    content: Option<(String, Permissions)>,
}

impl TextFile {
    /// Reads the file, if it exists. Links are followed.
    ///
    /// # Errors
    /// Not a regular file, larger than `max_bytes`, not UTF-8, or unreadable. The error is the end of a sentence about the file.
    pub fn read(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Err(_) if path.is_symlink() => return Err(refused("it is a link that leads to no file")),
            Err(_) => path.to_owned(),
        };
        let content = read_content(&target, max_bytes)?;

        Ok(Self { target, content })
    }

    /// Returns the text of the file; an empty text if there is no file.
    pub fn text(&self) -> &str {
        self.content.as_ref().map(|(text, _)| text.as_str()).unwrap_or_default()
    }

    /// Returns the permissions of the file; `None` if it did not exist when it was read.
    pub fn permissions(&self) -> Option<&Permissions> {
        self.content.as_ref().map(|(_, permissions)| permissions)
    }

    /// Checks that the file may be written. Replacing a file needs no permission for the file itself.
    ///
    /// # Errors
    /// The file is read-only.
    pub fn check_writable(&self) -> io::Result<()> {
        match self.permissions() {
            Some(permissions) if permissions.readonly() => Err(refused("it is read-only")),
            _ => Ok(()),
        }
    }

    /// Replaces the file by a file with this text and the same permissions. Only the user may read a file that did not exist.
    /// Creates the directory if it does not exist.
    ///
    /// # Errors
    /// The file is read-only, or cannot be written.
    pub fn replace(&self, text: &str) -> io::Result<()> {
        self.check_writable()?;
        let parent = self.target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        fs::create_dir_all(parent)?;

        let mut new = tempfile::Builder::new().prefix(".tas-mcp-").tempfile_in(parent)?;
        new.write_all(text.as_bytes())?;
        if let Some(permissions) = self.permissions() {
            new.as_file().set_permissions(permissions.clone())?;
        }
        new.as_file().sync_all()?;
        new.persist(&self.target).map_err(|error| error.error)?;

        Ok(())
    }
}

fn refused(reason: impl Into<String>) -> io::Error {
    io::Error::other(reason.into())
}

/// Returns the content of a regular file, or `None` if there is no file. Others are not opened: a pipe would block.
fn read_content(path: &Path, max_bytes: u64) -> io::Result<Option<(String, Permissions)>> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() {
        return Err(refused("it is not a regular file"));
    }

    let mut bytes = Vec::new();
    File::open(path)?.take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(refused(format!("it has more than {max_bytes} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8 text"))?;

    Ok(Some((text, metadata.permissions())))
}

/// Returns whether a link leads `path`, which is relative and need not exist, out of the working directory.
pub fn leads_out(path: &Path) -> bool {
    let real = path.ancestors().find_map(|path| path.canonicalize().ok());
    real.zip(Path::new(".").canonicalize().ok()).is_some_and(|(real, here)| !real.starts_with(here))
}

/// Locks a file beside `path`, with the extension `lock`: the file at `path` is replaced, and can therefore not be
/// locked itself. Creates the directory if it does not exist. Waits for other processes; the lock ends with the
/// returned value.
///
/// # Errors
/// The directory cannot be written.
pub fn lock_beside(path: &Path) -> io::Result<File> {
    let path = path.with_extension("lock");
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    // Some file systems do not support locks.
    drop(lock.lock());

    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX_BYTES: u64 = 100;

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept_and_a_new_file_is_private() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        let mode = |name: &str| at(name).metadata().expect("a file").permissions().mode() & 0o777;
        fs::create_dir(at("kept")).expect("a directory");
        fs::write(at("kept/file"), "old").expect("written");
        fs::set_permissions(at("kept/file"), Permissions::from_mode(0o640)).expect("permissions");
        symlink("kept/file", at("link")).expect("a link");

        for name in ["link", "below/new"] {
            let file = TextFile::read(&at(name), MAX_BYTES).expect("readable");
            file.replace("new").expect("written");
        }

        assert!(at("link").symlink_metadata().expect("a link").is_symlink());
        assert_eq!(fs::read_to_string(at("kept/file")).expect("a file"), "new");
        assert_eq!((mode("kept/file"), mode("below/new")), (0o640, 0o600));
    }

    #[test]
    fn files_that_are_no_texts_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("directory")).expect("a directory");
        fs::write(at("bytes"), [0xff, 0xfe]).expect("written");
        File::create(at("huge")).and_then(|file| file.set_len(MAX_BYTES + 1)).expect("a file");
        #[cfg(unix)]
        std::os::unix::fs::symlink("nowhere", at("link")).expect("a link");

        for (name, reason) in [
            ("directory", "not a regular file"),
            ("bytes", "not UTF-8"),
            ("huge", "more than 100 bytes"),
            ("bytes/below", ""),
            #[cfg(unix)]
            ("link", "leads to no file"),
        ] {
            let error = TextFile::read(&at(name), MAX_BYTES).expect_err("an error").to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }
}
