//! A file that is read: opened once, and held.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, Metadata},
};

use super::{FilesRoot, file_error, is_escape, read_error};
use crate::failure::Failure;

/// An open file, and where its name can be looked up again.
#[derive(Clone, Debug)]
pub struct OpenFile {
    file: Arc<File>,
    path: PathBuf,
    /// The files root and the name below it; `None`: the path leads from anywhere.
    below: Option<(Arc<Dir>, PathBuf)>,
}

impl FilesRoot {
    /// Opens the regular file of that name. What is opened lies below the root, whatever happens to the names on the way.
    ///
    /// # Errors
    /// As [`Self::existing_file`].
    pub fn open(&self, name: &str) -> Result<OpenFile, Failure> {
        let path = self.existing_file(name)?;
        let opened = match self.bound() {
            None => OpenFile::anywhere(path),
            Some(root) => OpenFile::below(root, path),
        };
        let refused = |error: io::Error| {
            if is_escape(&error) {
                return file_error(name, "leads out of the files root through a link");
            }
            read_error(name, &error)
        };

        let opened = opened.map_err(refused)?;
        // The name may have come to another file since it was looked at.
        if opened.metadata().map_err(refused)?.is_file() {
            Ok(opened)
        } else {
            Err(file_error(name, "is no regular file"))
        }
    }
}

impl OpenFile {
    fn anywhere(path: PathBuf) -> io::Result<Self> {
        Ok(Self { file: Arc::new(File::open(&path)?), path, below: None })
    }

    fn below(root: &Path, path: PathBuf) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        let name = path.strip_prefix(root).map_err(io::Error::other)?.to_owned();
        let file = dir.open(&name)?.into_std();
        Ok(Self { file: Arc::new(file), path, below: Some((Arc::new(dir), name)) })
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is open.
    pub fn metadata(&self) -> io::Result<Metadata> {
        Metadata::from_file(&self.file)
    }

    /// What has the name now.
    pub fn named(&self) -> io::Result<Metadata> {
        match &self.below {
            Some((dir, name)) => dir.metadata(name),
            None => self.path.metadata().map(Metadata::from_just_metadata),
        }
    }

    /// Reads what follows `offset`; 0 at the end.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        #[cfg(unix)]
        use std::os::unix::fs::FileExt as _;
        #[cfg(windows)]
        use std::os::windows::fs::FileExt as _;

        loop {
            #[cfg(unix)]
            let read = self.file.read_at(bytes, offset);
            #[cfg(windows)]
            let read = self.file.seek_read(bytes, offset);
            match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}
