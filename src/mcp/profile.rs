//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::OnceLock;

use rmcp::model::Tool;

use super::{config::McpConfig, instructions, skills::SkillCatalog, tool_list::published_tools};

/// What a server offers: its configuration, and the texts that follow from the configuration. Servers for several
/// credentials can share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    /// Filled by the first request that needs it.
    tools: OnceLock<Vec<Tool>>,
    /// Filled by the first request that needs it.
    skills: OnceLock<SkillCatalog>,
}

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        let instructions = instructions::render(&config);
        Self { instructions, config, tools: OnceLock::new(), skills: OnceLock::new() }
    }

    /// Returns the offered tools as hosts receive them.
    pub(super) fn tools(&self) -> &[Tool] {
        let (is_global, selection) = (self.config.is_global(), &*self.config.selection);
        let tools = selection.tools().map(|tool| tool.info);
        self.tools.get_or_init(|| published_tools(tools, is_global, selection))
    }

    /// Returns the offered skills.
    pub(super) fn skills(&self) -> &SkillCatalog {
        self.skills.get_or_init(|| SkillCatalog::new(&*self.config.selection))
    }
}
