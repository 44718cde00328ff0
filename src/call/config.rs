//! Configuration of calls.

use crate::client::ClientConfig;

/// The service, its projects and the rules of this server that every call follows.
#[derive(Debug)]
pub struct CallConfig {
    /// Hosts, key and limits.
    pub client: ClientConfig,
    /// The project of project scope; `None` for global scope.
    pub project: Option<String>,
    /// Projects in which an organization key looks for ids.
    pub projects: Vec<String>,
    /// The deployment's word for the test-management system.
    pub tmsys_name: String,
    /// Longest reply, in characters.
    pub max_reply_chars: usize,
    /// Whether irreversible or costly calls need the agreement of a person.
    pub asks_first: bool,
    /// Whether calls that change anything are refused.
    pub read_only: bool,
}
