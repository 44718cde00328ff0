//! What a server offers to every caller, whatever the credential of the caller is.

use rmcp::model::Tool;

use super::{config::McpConfig, instructions, skills::SkillCatalog, tool_list::published_tools};

/// What a server offers: its configuration, and the lists and texts that follow from it. Servers for several credentials can
/// share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    /// The offered tools as hosts receive them.
    pub(super) tools: Vec<Tool>,
    /// The offered skills.
    pub(super) skills: SkillCatalog,
}

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        let selection = &*config.selection;
        let tools = selection.tools().map(|tool| tool.info);

        Self {
            instructions: instructions::render(&config),
            tools: published_tools(tools, config.is_global(), selection),
            skills: SkillCatalog::new(selection),
            config,
        }
    }
}
