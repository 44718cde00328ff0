//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::{Arc, OnceLock};

use rmcp::model::Tool;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{config::McpConfig, instructions, skills::SkillCatalog, tool_list::published_tools};

/// The permit for making a list of tools beside the threads that serve requests.
static MAKING: Semaphore = Semaphore::const_new(1);

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

    /// Makes the list of tools beside the threads that serve requests, one list at a time. Clients of a server for many can choose
    /// tools of which no list exists, and making one takes far longer than sending it.
    pub(super) async fn prepare_tools(self: &Arc<Self>) {
        if self.tools.get().is_some() {
            return;
        }
        let permit = MAKING.acquire().await;
        let profile = Arc::clone(self);
        // The permit stays with the thread, which continues after the caller has gone.
        let making = spawn_blocking(move || {
            let _permit = permit;
            profile.tools();
        });
        making.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::*;
    use crate::tools::selection::Selection;

    #[tokio::test]
    async fn a_list_of_tools_is_made_beside_the_thread_that_serves_requests() {
        let profile = Arc::new(ServerProfile::new(McpConfig {
            project: None,
            known_projects: Vec::new(),
            selection: Arc::new(Selection::default_tools(false)),
            max_reply_chars: 1_000,
            wait_limit: Duration::from_secs(1),
        }));
        assert!(profile.prepare_tools().now_or_never().is_none(), "this thread does not make it");

        profile.prepare_tools().await;
        assert!(profile.prepare_tools().now_or_never().is_some(), "it is made once");
    }
}
