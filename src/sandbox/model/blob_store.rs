//! The bytes of builds: files in a temporary directory that is removed with the sandbox.

use std::{
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use axum::body::Body;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use md5::{Digest as _, Md5};
use tempfile::{NamedTempFile, TempDir, TempPath};
use tokio::{fs::File, io::AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

/// Size of the chunks in which a file is read.
const CHUNK: usize = 64 * 1024;

/// A directory of files. It is created with the first file.
#[derive(Debug, Default)]
pub(crate) struct BlobStore(Mutex<StoreState>);

#[derive(Debug, Default)]
enum StoreState {
    #[default]
    Unused,
    Open(TempDir),
    Closed,
}

/// Bytes in a file. The file is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Blob {
    path: TempPath,
    pub(crate) size: u64,
    /// MD5 in hexadecimal, which storage hosts use as the `ETag` of a part.
    pub(crate) etag: String,
}

impl BlobStore {
    /// Writes a body to a new file.
    pub(crate) async fn receive(&self, body: Body) -> io::Result<Blob> {
        let (file, path) = self.create_file()?.into_parts();
        let (mut file, mut chunks) = (File::from_std(file), body.into_data_stream());
        let (mut size, mut digest) = (0, Md5::new());

        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(io::Error::other)?;
            file.write_all(&chunk).await?;
            digest.update(&chunk);
            size += chunk.len() as u64;
        }

        // A file of tokio writes in the background. Without the flush the last bytes may be missing.
        file.flush().await?;
        let etag = format!("{:032x}", u128::from_be_bytes(digest.finalize().into()));

        Ok(Blob { path, size, etag })
    }

    /// Returns the directory and the number of its files. Returns `None` before the first file.
    pub(crate) fn directory(&self) -> io::Result<Option<(PathBuf, usize)>> {
        let StoreState::Open(directory) = &*self.state() else { return Ok(None) };
        Ok(Some((directory.path().to_owned(), fs::read_dir(directory.path())?.count())))
    }

    /// Removes the directory. Files cannot be created afterwards.
    pub(crate) fn close(&self) {
        *self.state() = StoreState::Closed;
    }

    fn create_file(&self) -> io::Result<NamedTempFile> {
        let mut state = self.state();
        if matches!(*state, StoreState::Unused) {
            *state = StoreState::Open(TempDir::with_prefix("tas-mcp-sandbox-")?);
        }

        match &*state {
            StoreState::Open(directory) => NamedTempFile::new_in(directory.path()),
            StoreState::Unused | StoreState::Closed => Err(io::Error::other("the sandbox has ended")),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, StoreState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a body of the bytes of several files. The files are read while the body is sent.
pub(crate) fn stream_blobs(blobs: Vec<Arc<Blob>>) -> Body {
    let opened = stream::iter(blobs).then(|blob| async move {
        let path: PathBuf = blob.path.to_path_buf();
        File::open(path).await.map(|file| ReaderStream::with_capacity(file, CHUNK))
    });
    Body::from_stream(opened.try_flatten())
}
