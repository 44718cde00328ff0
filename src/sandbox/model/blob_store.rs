//! Where the bytes of builds lie: files in a temporary directory that goes with the sandbox.

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

/// How much is read from a file at once.
const PIECE: usize = 64 * 1024;

/// A directory for files, made when the first one is.
#[derive(Debug, Default)]
pub(crate) struct BlobStore(Mutex<StoreState>);

#[derive(Debug, Default)]
enum StoreState {
    #[default]
    Unused,
    Open(TempDir),
    Closed,
}

/// Bytes in a file, which goes with this value.
#[derive(Debug)]
pub(crate) struct Blob {
    path: TempPath,
    pub(crate) size: u64,
    /// MD5 in hexadecimal, as storage hosts make an `ETag` of a part.
    pub(crate) etag: String,
}

impl BlobStore {
    /// Writes a body to a file as it comes.
    pub(crate) async fn receive(&self, body: Body) -> io::Result<Blob> {
        let (file, path) = self.file()?.into_parts();
        let (mut file, mut chunks) = (File::from_std(file), body.into_data_stream());
        let (mut size, mut digest) = (0, Md5::new());

        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(io::Error::other)?;
            file.write_all(&chunk).await?;
            digest.update(&chunk);
            size += chunk.len() as u64;
        }

        file.flush().await?;
        let etag = format!("{:032x}", u128::from_be_bytes(digest.finalize().into()));

        Ok(Blob { path, size, etag })
    }

    /// The directory and the number of files in it, once there is one.
    pub(crate) fn directory(&self) -> io::Result<Option<(PathBuf, usize)>> {
        let StoreState::Open(directory) = &*self.state() else { return Ok(None) };
        Ok(Some((directory.path().to_owned(), fs::read_dir(directory.path())?.count())))
    }

    /// Removes everything, for good.
    pub(crate) fn close(&self) {
        *self.state() = StoreState::Closed;
    }

    fn file(&self) -> io::Result<NamedTempFile> {
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

/// The bytes of several files, one after the other, read as they are sent.
pub(crate) fn stream_blobs(parts: Vec<Arc<Blob>>) -> Body {
    let opened = stream::iter(parts).then(|piece| async move {
        let path: PathBuf = piece.path.to_path_buf();
        File::open(path).await.map(|file| ReaderStream::with_capacity(file, PIECE))
    });
    Body::from_stream(opened.try_flatten())
}
