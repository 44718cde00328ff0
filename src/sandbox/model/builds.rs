//! What tests run on: devices (service.md 11), and the builds in build storage with their unfinished uploads and their
//! bytes (service.md 10).

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::body::Body;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use indexmap::IndexMap;
use serde::Deserialize;
use tempfile::{NamedTempFile, TempDir, TempPath};
use tokio::{fs::File, io::AsyncWriteExt as _};
use tokio_util::io::ReaderStream;

use crate::sandbox::model::records::{HASH_START, continued_hash};
use crate::sandbox::model::time::Moment;
use crate::service::api::Open;

/// Build source of configs that accept a `build_id`.
const BUILD_STORAGE: &str = "build-storage";

const CHUNK: usize = 64 * 1024;

/// A deployment config: the devices that tests run on, and the source of their builds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeviceConfig {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) pinned: bool,
    pub(crate) provider: Option<String>,
    pub(crate) devices: Vec<Device>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Device {
    pub(crate) label: String,
    pub(crate) os_version: String,
    #[serde(default)]
    pub(crate) broken: bool,
}

impl DeviceConfig {
    pub(crate) fn takes_builds(&self) -> bool {
        self.provider.as_deref() == Some(BUILD_STORAGE)
    }

    pub(crate) fn is_mobile(&self) -> bool {
        matches!(self.kind.as_str(), "android" | "ios")
    }

    pub(crate) const fn is_multi_device(&self) -> bool {
        self.devices.len() > 1
    }

    pub(crate) fn first_working(&self) -> Option<&Device> {
        self.devices.iter().find(|device| !device.broken)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredBuild {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) platform: String,
    pub(crate) file_name: String,
    pub(crate) file_size: u64,
    pub(crate) status: String,
    #[serde(default)]
    pub(crate) pinned: bool,
    /// Whether the build contains the SDK of the service, which reports the state of the game.
    #[serde(default)]
    pub(crate) sdk: bool,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) created: Moment,
    pub(crate) description: Option<String>,
    pub(crate) details: Option<Open>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct BuildStorage {
    /// Unfinished uploads by build id.
    pub(crate) uploads: IndexMap<String, PendingUpload>,
    /// The bytes of uploaded builds by build id, in order.
    pub(crate) contents: BTreeMap<String, Vec<Arc<Blob>>>,
}

/// An upload that is not complete.
#[derive(Clone, Debug)]
pub(crate) struct PendingUpload {
    /// The build that the upload creates.
    pub(crate) build: StoredBuild,
    pub(crate) object_key: String,
    /// `None`: a single-part upload.
    pub(crate) multipart: Option<MultipartLayout>,
    /// When the upload expires. Its parts go with it.
    pub(crate) ends: Moment,
    /// The parts that have arrived, by number. The file of a single-part upload has number 1.
    pub(crate) parts: BTreeMap<u64, Arc<Blob>>,
}

#[derive(Clone, Debug)]
pub(crate) struct MultipartLayout {
    pub(crate) upload_id: String,
    pub(crate) part_size: u64,
    pub(crate) total_parts: u64,
}

impl PendingUpload {
    pub(crate) fn matches(&self, object_key: Option<&str>, upload_id: Option<&str>) -> bool {
        let multipart = self.multipart.as_ref().map(|multipart| multipart.upload_id.as_str());
        multipart == upload_id && object_key.is_none_or(|key| key == self.object_key)
    }
}

/// A directory of files. It is created with the first file.
#[derive(Debug, Default)]
pub(crate) struct BlobStore(Mutex<Option<TempDir>>);

/// Bytes in a file. The file is removed when this value is dropped.
#[derive(Debug)]
pub(crate) struct Blob {
    path: TempPath,
    pub(crate) size: u64,
    /// A hash of the bytes in hexadecimal.
    pub(crate) etag: String,
}

impl BlobStore {
    pub(crate) async fn receive(&self, body: Body) -> io::Result<Blob> {
        let (file, path) = self.create_file()?.into_parts();
        let (mut file, mut chunks) = (File::from_std(file), body.into_data_stream());
        let (mut size, mut hash) = (0, HASH_START);

        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(io::Error::other)?;
            file.write_all(&chunk).await?;
            hash = continued_hash(hash, chunk.iter().copied());
            size += chunk.len() as u64;
        }

        // A file of tokio writes in the background. Without the flush the last bytes may be missing.
        file.flush().await?;
        let etag = format!("{hash:016x}");

        Ok(Blob { path, size, etag })
    }

    /// Returns the directory and the number of its files. Returns `None` before the first file.
    pub(crate) fn directory(&self) -> io::Result<Option<(PathBuf, usize)>> {
        let Some(directory) = &*self.lock() else { return Ok(None) };
        Ok(Some((directory.path().to_owned(), fs::read_dir(directory.path())?.count())))
    }

    pub(crate) fn close(&self) {
        *self.lock() = None;
    }

    fn create_file(&self) -> io::Result<NamedTempFile> {
        let mut directory = self.lock();
        let directory = match directory.take() {
            Some(existing) => directory.insert(existing),
            None => directory.insert(TempDir::with_prefix("tas-mcp-sandbox-")?),
        };

        NamedTempFile::new_in(directory.path())
    }

    fn lock(&self) -> MutexGuard<'_, Option<TempDir>> {
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
