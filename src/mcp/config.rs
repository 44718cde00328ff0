//! Configuration of the MCP layer.

use std::{sync::Arc, time::Duration};

use crate::{settings::Settings, tools::selection::Selection};

/// Configuration of a [`Server`](super::Server).
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// Project that all calls go to; `None` in global scope, where each call names its project.
    pub project: Option<String>,
    /// Projects that the settings name: the one of project scope, or those in which ids are looked up.
    pub known_projects: Vec<String>,
    /// The offered tools.
    pub selection: Arc<Selection>,
    /// Maximum length of a reply, in characters.
    pub max_reply_chars: usize,
    /// Maximum time that a call waits for work of the service, such as a run, if the host shows no progress.
    pub wait_limit: Duration,
}

impl McpConfig {
    /// Returns whether replies have links to files. Without local files, no tool saves a file for the caller.
    pub(super) fn gives_links(&self) -> bool {
        !self.selection.has_local_files()
    }

    pub(super) fn is_global(&self) -> bool {
        self.project.is_none()
    }
}

impl From<&Settings> for McpConfig {
    fn from(settings: &Settings) -> Self {
        Self {
            project: settings.project().map(str::to_owned),
            known_projects: settings
                .project()
                .map_or_else(|| settings.server().projects.clone(), |one| vec![one.to_owned()]),
            selection: Arc::new(settings.selection()),
            max_reply_chars: settings.server().max_reply_chars,
            wait_limit: settings.upload_timing().wait_limit,
        }
    }
}
