//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::OnceLock;

use super::{config::McpConfig, instructions, published_tool::push_published};

/// Initial capacity of the list of tools, in bytes: more than a message with all tools needs, so that the text is not copied
/// while it grows. The system provides memory only for the bytes that are written.
const TOOL_LIST_CAPACITY: usize = 128 * 1024;

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

    /// Returns the JSON of the offered tools as hosts list them. The first call creates it.
    pub(super) fn tool_list(&self) -> &str {
        self.tool_list.get_or_init(|| self.render_tool_list())
    }

    /// Creates the JSON of the offered tools as hosts list them.
    pub(super) fn render_tool_list(&self) -> String {
        let mut list = String::with_capacity(TOOL_LIST_CAPACITY);
        list.push('[');
        for (index, entry) in self.config.selection.tools().enumerate() {
            if index > 0 {
                list.push(',');
            }
            push_published(&mut list, entry.tool(), self.config.is_global(), &self.config.selection);
        }
        list.push(']');

        list
    }
}
