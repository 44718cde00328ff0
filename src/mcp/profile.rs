//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::OnceLock;

use super::{config::McpConfig, instructions, published_tool::published_json};
use crate::tools::catalog::ToolEntry;

/// What a server offers: its configuration, and the texts that follow from the configuration. Servers for several
/// credentials can share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    /// JSON of the offered tools as hosts list them. Filled by the first request that needs it.
    tool_list: OnceLock<String>,
}

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        Self { instructions: instructions::render(&config), config, tool_list: OnceLock::new() }
    }

    /// Returns the JSON of the offered tools as hosts list them.
    pub(super) fn tool_list(&self) -> &str {
        self.tool_list.get_or_init(|| {
            let McpConfig { selection, .. } = &self.config;
            let publish = |entry: ToolEntry| published_json(entry.tool(), self.config.is_global(), selection);
            let tools: Vec<_> = selection.tools().map(publish).collect();

            format!("[{}]", tools.join(","))
        })
    }
}
