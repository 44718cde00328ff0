//! Services that the tools for local files share.

use std::{path::PathBuf, sync::Arc};

use super::{BackgroundUploads, provenance::CiJob, timing::UploadTiming};
use crate::{client::StorageClient, failure::Failure, tools::files::FilesRoot};

/// Configuration of the tools that read or write local files.
#[derive(Debug, Default)]
pub struct FilesConfig {
    /// The files root, if one is set.
    pub root: Option<FilesRoot>,
    /// Directory in which unfinished uploads are recorded; `None` if they are not recorded.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The CI job that this process is part of.
    pub ci_job: Option<CiJob>,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
}

/// Services that the tools for local files share.
#[derive(Debug)]
pub struct FileServices {
    root: Option<FilesRoot>,
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
        let FilesConfig { root, state, ca_file, ci_job, timing } = config;
        let storage = Arc::new(StorageClient::new(ca_file));
        Self { root, state, storage, ci_job, timing, uploads: BackgroundUploads::default() }
    }

    /// Returns the files root for tools: the configured root, or the working directory.
    ///
    /// # Errors
    /// `not_configured` if the working directory cannot be opened.
    pub(crate) fn root(&self) -> Result<FilesRoot, Failure> {
        self.root.clone().map_or_else(FilesRoot::working_directory, Ok)
    }

    /// Returns the files root for uploads of a person at the command line: the configured root, or the working directory
    /// without confinement.
    ///
    /// # Errors
    /// The same as for [`Self::root`].
    pub(crate) fn upload_root_for_person(&self) -> Result<FilesRoot, Failure> {
        let root = self.root()?;
        Ok(if self.root.is_some() { root } else { root.unconfined() })
    }

    /// Returns the files root for downloads of a person at the command line: the configured root, or every directory.
    pub(crate) fn download_root_for_person(&self) -> FilesRoot {
        self.root.clone().unwrap_or_else(FilesRoot::anywhere)
    }
}
