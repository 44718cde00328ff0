//! Configuration of the client.

use std::{path::PathBuf, time::Duration};

use super::{HostUrl, KeySource};

/// The hosts, the key and the limits of a [`super::ServiceClient`].
#[derive(Debug)]
pub struct ClientConfig {
    /// Address of the main API.
    pub base_url: HostUrl,
    /// Address of the host of knowledge files and artifacts, if it is set.
    pub knowledge_url: Option<HostUrl>,
    /// Source of the API key.
    pub key: KeySource,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
    /// Time limit of one request.
    pub timeout: Duration,
}
