//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::OnceLock;

use rmcp::model::Tool;

use super::{config::McpConfig, instructions, published_tool::published_tool};

/// What a server offers: its configuration, and the texts that follow from the configuration. Servers for several
/// credentials can share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    /// The tools as hosts list them. Filled by the first request, because their schemas are costly.
    published_tools: OnceLock<Vec<Tool>>,
}

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        Self { instructions: instructions::render(&config), config, published_tools: OnceLock::new() }
    }

    /// Returns the offered tools as hosts list them.
    pub(super) fn published_tools(&self) -> &[Tool] {
        self.published_tools.get_or_init(|| {
            let McpConfig { selection, .. } = &self.config;
            let offered = selection.tools();
            offered.map(|entry| published_tool(entry.tool(), self.config.is_global(), selection)).collect()
        })
    }
}
