//! Services that the tools for local files share.

use std::{path::PathBuf, sync::Arc};

use super::{BackgroundUploads, provenance::CiJob, timing::UploadTiming};
use crate::{
    client::{AddressPolicy, StorageClient},
    failure::Failure,
    tools::files::FilesRoot,
};

/// Configuration of the tools that read or write local files.
#[derive(Debug)]
pub struct FilesConfig {
    /// The files root, if one is set; or the failure of the calls that need it.
    pub root: Result<Option<FilesRoot>, Failure>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The CI job that this process is part of.
    pub ci_job: Option<CiJob>,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
    /// Which addresses for parts and files are used that the service names.
    pub address_policy: AddressPolicy,
    /// File of the API key, which is never uploaded.
    pub key_file: Option<PathBuf>,
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self {
            root: Ok(None),
            state: None,
            ca_file: None,
            ci_job: None,
            timing: UploadTiming::default(),
            address_policy: AddressPolicy::default(),
            key_file: None,
        }
    }
}

/// Services that the tools for local files share.
#[derive(Debug)]
pub struct FileServices {
    /// The failure says why the configured root cannot be used.
    root: Result<Option<FilesRoot>, Failure>,
    /// File of the API key, which is never uploaded.
    key_file: Option<PathBuf>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub(super) state: Option<PathBuf>,
    /// Client for presigned addresses.
    pub storage: Arc<StorageClient>,
    /// The CI job that this process is part of.
    pub(super) ci_job: Option<CiJob>,
    /// Pauses and time limits of uploads.
    pub(super) timing: UploadTiming,
    /// Uploads that continue while no caller waits for them.
    pub(crate) uploads: BackgroundUploads,
}

impl FileServices {
    /// Creates the file services with this configuration.
    pub(crate) fn new(config: FilesConfig) -> Self {
        let FilesConfig { root, state, ca_file, ci_job, timing, address_policy, key_file } = config;
        let storage = Arc::new(StorageClient::new(ca_file, address_policy));
        Self { root, key_file, state, storage, ci_job, timing, uploads: BackgroundUploads::default() }
    }

    /// Returns the files root for tools: the configured root, or the working directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory is unsuitable as a root.
    pub(crate) fn root(&self) -> Result<FilesRoot, Failure> {
        let root = self.root.clone()?.map_or_else(FilesRoot::working_directory, Ok)?;
        Ok(root.refusing(self.key_file.clone()))
    }

    /// Returns the files root for uploads of a person at the command line: the configured root, or the working directory
    /// without confinement.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory cannot be opened.
    pub(crate) fn upload_root_for_person(&self) -> Result<FilesRoot, Failure> {
        let root = self.root.clone()?.map_or_else(FilesRoot::unconfined_working_directory, Ok)?;
        Ok(root.refusing(self.key_file.clone()))
    }

    /// Returns the files root for downloads of a person at the command line: the configured root, or every directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable.
    pub(crate) fn download_root_for_person(&self) -> Result<FilesRoot, Failure> {
        Ok(self.root.clone()?.unwrap_or_else(FilesRoot::anywhere))
    }
}
