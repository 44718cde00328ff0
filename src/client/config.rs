//! Configuration of the client.

use std::{path::PathBuf, time::Duration};

use super::{HostUrl, KeySource};
use crate::failure::Failure;

/// The hosts, the key and the limits of a [`super::ServiceClient`].
#[derive(Debug)]
pub struct ClientConfig {
    /// Address of the main API.
    pub base_url: HostUrl,
    /// Address of the host of knowledge files and artifacts, if it is set; or the failure of the calls that need it.
    pub knowledge_url: Result<Option<HostUrl>, Failure>,
    /// Source of the API key.
    pub key: KeySource,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Time limit of one request.
    pub timeout: Duration,
}
