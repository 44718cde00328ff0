//! What the tools share that read or write local files.

use std::{path::PathBuf, sync::Arc};

use super::{BackgroundUploads, UploadTiming, provenance::CiJob};
use crate::{client::StorageClient, failure::Failure, tools::files::FilesRoot};

/// Configuration of the tools that read or write local files.
#[derive(Debug, Default)]
pub struct FilesConfig {
    /// The files root, if one is set.
    pub root: Option<FilesRoot>,
    /// Directory in which unfinished uploads are recorded; `None`: nowhere.
    pub state: Option<PathBuf>,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// The CI job that this process is part of.
    pub job: Option<CiJob>,
    /// Pauses and time limits of uploads.
    pub timing: UploadTiming,
}

/// What tools need that work with files.
#[derive(Debug)]
pub struct FileServices {
    root: Option<FilesRoot>,
    /// Where unfinished work is kept; `None`: nowhere.
    pub state: Option<PathBuf>,
    /// The way to presigned addresses.
    pub storage: Arc<StorageClient>,
    /// The CI job that we are a part of.
    pub job: Option<CiJob>,
    /// How patient uploads are.
    pub timing: UploadTiming,
    /// Uploads that go on by themselves.
    pub uploads: BackgroundUploads,
}

impl FileServices {
    /// File services with this configuration.
    pub fn new(config: FilesConfig) -> Self {
        let FilesConfig { root, state, ca_file, job, timing } = config;
        Self {
            root,
            state,
            storage: Arc::new(StorageClient::new(ca_file)),
            job,
            timing,
            uploads: BackgroundUploads::default(),
        }
    }

    /// The files root of a person at the command line: as it is set, else every directory that the person names.
    pub fn root_at_terminal(&self) -> FilesRoot {
        self.root.clone().unwrap_or_else(FilesRoot::anywhere)
    }

    /// The files root: as it is set, else the working directory.
    pub fn root(&self) -> Result<FilesRoot, Failure> {
        self.root.clone().map_or_else(FilesRoot::working_directory, Ok)
    }

    /// The same for files that a person names: without a setting, they may lie anywhere.
    pub fn root_for_person(&self) -> Result<FilesRoot, Failure> {
        let root = self.root()?;
        Ok(if self.root.is_some() { root } else { root.unbound() })
    }
}
