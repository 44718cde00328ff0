//! What the tools for local files share: the configuration, the files root, and the client of the storage host.

use std::{path::PathBuf, sync::Arc};

use super::{UploadTiming, origin::BuildOrigin};
use crate::{
    client::{AddressPolicy, StorageClient},
    failure::Failure,
    tools::files::FilesRoot,
};

/// Configuration of the tools that read or write local files.
#[derive(Debug, Default)]
pub struct FilesConfig {
    /// The files root, if one is set; or the failure of the calls that need it.
    pub root: Option<Result<FilesRoot, Failure>>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The origin of the builds that this process uploads.
    pub origin: BuildOrigin,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
    /// Which addresses for parts and files are used that the service names.
    pub address_policy: AddressPolicy,
    /// File of the API key, which is never uploaded.
    pub key_file: Option<PathBuf>,
}

/// Services that the tools for local files share.
#[derive(Debug)]
pub struct FileServices {
    pub(super) config: FilesConfig,
    /// Client for presigned addresses.
    pub storage: Arc<StorageClient>,
}

impl FileServices {
    pub(crate) fn new(config: FilesConfig) -> Self {
        let storage = Arc::new(StorageClient::new(config.ca_file.clone(), config.address_policy));
        Self { config, storage }
    }

    pub(crate) fn origin(&self) -> &BuildOrigin {
        &self.config.origin
    }

    /// Returns the files root for tools: the configured root, or the working directory.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory is unsuitable as a root.
    pub(crate) fn root(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone().unwrap_or_else(FilesRoot::working_directory)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }

    /// Returns the files root for a user at the command line: the configured root, or the working directory without
    /// confinement.
    ///
    /// # Errors
    /// `not_configured` if the configured root is unusable, or if the working directory cannot be opened.
    pub(crate) fn root_for_user(&self) -> Result<FilesRoot, Failure> {
        let root = self.config.root.clone().unwrap_or_else(FilesRoot::unconfined_working_directory)?;
        Ok(root.refusing(self.config.key_file.clone()))
    }
}
