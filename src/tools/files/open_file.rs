//! A file that is read, and stays open while it is read.

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

use super::{FilesRoot, file_error, file_id, is_escape, read_error};
use crate::failure::Failure;

/// An open file, and the name through which it was opened.
#[derive(Clone, Debug)]
pub(crate) struct OpenFile {
    file: Arc<File>,
    path: PathBuf,
    /// The files root and the name relative to it; `None` if the path is not confined.
    location: Option<(Arc<Dir>, PathBuf)>,
}

impl FilesRoot {
    /// Opens the regular file `name`. The open file is inside a confined root even if another process replaces a
    /// directory of its path by a link at the same time.
    ///
    /// # Errors
    /// The same as for [`Self::resolve_file`].
    pub(crate) fn open(&self, name: &str) -> Result<OpenFile, Failure> {
        let open_error = |error: io::Error| {
            if is_escape(&error) {
                return file_error(name, "leads out of the files root through a link");
            }
            read_error(name, &error)
        };

        let path = self.resolve_file(name)?;
        let opened = match self.confinement() {
            None => OpenFile::open_unconfined(path),
            Some(root) => OpenFile::open_inside(root, path),
        };
        let opened = opened.map_err(open_error)?;

        let metadata = opened.metadata().map_err(open_error)?;
        // Another process may have replaced the file since the name was resolved.
        if !metadata.is_file() {
            return Err(file_error(name, "is not a regular file"));
        }
        if self.refuses(file_id(&metadata)) {
            let failure = file_error(name, "holds the API key, which must not leave this machine");
            return Err(failure.hint("name another file"));
        }

        Ok(opened)
    }
}

impl OpenFile {
    fn open_unconfined(path: PathBuf) -> io::Result<Self> {
        Ok(Self { file: Arc::new(File::open(&path)?), path, location: None })
    }

    fn open_inside(root: &Path, path: PathBuf) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(root, ambient_authority())?;
        let name = path.strip_prefix(root).map_err(io::Error::other)?.to_owned();
        let file = dir.open(&name)?.into_std();

        Ok(Self { file: Arc::new(file), path, location: Some((Arc::new(dir), name)) })
    }

    /// Returns the resolved path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the files root that the path must not leave, or `None` if the path is not confined.
    pub(crate) fn confinement(&self) -> Option<&Path> {
        let (_, name) = self.location.as_ref()?;
        self.path.ancestors().nth(name.components().count())
    }

    /// Returns the metadata of the open file.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        Metadata::from_file(&self.file)
    }

    /// Returns the metadata of the file that has the name now.
    pub(crate) fn current_metadata(&self) -> io::Result<Metadata> {
        match &self.location {
            Some((dir, name)) => dir.metadata(name),
            None => self.path.metadata().map(Metadata::from_just_metadata),
        }
    }

    /// Reads bytes at `offset` and returns how many were read; 0 at the end of the file.
    pub(crate) fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
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
