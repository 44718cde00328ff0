//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::OnceLock;

use serde_json::value::RawValue;

use super::{config::McpConfig, instructions, published_tool::published_json};
use crate::tools::catalog::ToolEntry;

/// What a server offers: its configuration, and the texts that follow from the configuration. Servers for several
/// credentials can share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    /// JSON of the offered tools as hosts list them. Filled by the first request that needs it.
    tool_list: OnceLock<Box<RawValue>>,
}

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        Self { instructions: instructions::render(&config), config, tool_list: OnceLock::new() }
    }

    /// Returns the JSON of the offered tools as hosts list them.
    ///
    /// # Errors
    /// The text of a tool is not JSON, which the tests of `tools/` exclude.
    pub(super) fn tool_list(&self) -> serde_json::Result<&RawValue> {
        if let Some(list) = self.tool_list.get() {
            return Ok(list);
        }

        let McpConfig { selection, .. } = &self.config;
        let publish = |entry: ToolEntry| published_json(entry.tool(), self.config.is_global(), selection);
        let tools: Vec<_> = selection.tools().map(publish).collect();
        let list = RawValue::from_string(format!("[{}]", tools.join(",")))?;

        Ok(self.tool_list.get_or_init(|| list))
    }
}
