//! What the settings come to: everything that is needed to send requests.

use std::{path::PathBuf, time::Duration};

use super::{HostUrl, KeySource};
use crate::{
    files::FilesRoot,
    upload::{Pace, provenance::Job},
};

/// What is needed to send requests.
#[derive(Debug)]
pub struct Connection {
    /// Main API.
    pub base_url: HostUrl,
    /// Host of knowledge files and artifacts, where it is set.
    pub knowledge_url: Option<HostUrl>,
    /// Where the key comes from.
    pub key: KeySource,
    /// Project scope, or `None` for global scope.
    pub project: Option<String>,
    /// Projects that an organization key may look in.
    pub projects: Vec<String>,
    /// The files root, where one is set.
    pub files_root: Option<FilesRoot>,
    /// Where unfinished uploads are noted.
    pub state: Option<PathBuf>,
    /// The CI job that we are a part of.
    pub job: Option<Job>,
    /// How patient uploads are.
    pub pace: Pace,
    /// Certificates to trust in addition.
    pub ca_file: Option<PathBuf>,
    /// The deployment's word for the test-management system.
    pub tmsys_name: String,
    /// Whether costly calls need a person's yes.
    pub asks_first: bool,
    /// Whether calls that change anything are refused.
    pub read_only: bool,
    /// Limit of one request.
    pub timeout: Duration,
}
