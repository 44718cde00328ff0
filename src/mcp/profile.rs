//! What a server offers to every caller, whatever the credential of the caller is.

use std::sync::{Arc, OnceLock};

use moka::sync::Cache;
use rmcp::model::Tool;
use tokio::{sync::Semaphore, task::spawn_blocking};

use super::{config::McpConfig, instructions, skills::SkillCatalog, tool_list::published_tools};
use crate::tools::selection::Selection;

/// The permit for making a list of tools beside the threads that serve requests.
static MAKING: Semaphore = Semaphore::const_new(1);

/// Largest number of lists that profiles share.
const MAX_SHARED: u64 = 64;

/// What a server offers: its configuration, and the texts that follow from the configuration. Servers for several
/// credentials can share one profile.
#[derive(Debug)]
pub struct ServerProfile {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    offer: Arc<Offer>,
}

/// The lists that follow from a selection of tools and the kind of the scope. Profiles of several projects can share them.
#[derive(Debug)]
struct Offer {
    is_global: bool,
    selection: Arc<Selection>,
    /// Filled by the first request that needs it.
    tools: OnceLock<Vec<Tool>>,
    /// Filled by the first request that needs it.
    skills: OnceLock<SkillCatalog>,
}

/// A cache of the lists, by kind of scope and selection. Clients can name any number of projects, and a list takes far longer to make
/// than the rest of a profile.
#[derive(Debug)]
pub struct SharedOffers(Cache<(bool, Arc<Selection>), Arc<Offer>>);

impl ServerProfile {
    /// Creates the profile of a configuration.
    pub fn new(config: McpConfig) -> Self {
        let offer = Arc::new(Offer::new(config.is_global(), Arc::clone(&config.selection)));
        Self { instructions: instructions::render(&config), config, offer }
    }

    /// Creates the profile of a configuration. It has the lists of `offers`, which profiles of other projects have too.
    pub fn sharing(config: McpConfig, offers: &SharedOffers) -> Self {
        let offer = offers.get(config.is_global(), &config.selection);
        Self { instructions: instructions::render(&config), config, offer }
    }

    /// Makes the list of tools beside the threads that serve requests, one list at a time. Clients of a server for many can choose
    /// tools of which no list exists, and making one takes far longer than sending it.
    pub(super) async fn prepare_tools(&self) {
        if self.offer.tools.get().is_some() {
            return;
        }
        let permit = MAKING.acquire().await;
        let offer = Arc::clone(&self.offer);
        // The permit stays with the thread, which continues after the caller has gone.
        let making = spawn_blocking(move || {
            let _permit = permit;
            offer.tools();
        });
        making.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    }

    /// Returns the offered tools as hosts receive them.
    pub(super) fn tools(&self) -> &[Tool] {
        self.offer.tools()
    }

    /// Returns the offered skills.
    pub(super) fn skills(&self) -> &SkillCatalog {
        self.offer.skills.get_or_init(|| SkillCatalog::new(&*self.offer.selection))
    }
}

impl Offer {
    fn new(is_global: bool, selection: Arc<Selection>) -> Self {
        Self { is_global, selection, tools: OnceLock::new(), skills: OnceLock::new() }
    }

    fn tools(&self) -> &[Tool] {
        let tools = self.selection.tools().map(|tool| tool.info);
        self.tools.get_or_init(|| published_tools(tools, self.is_global, &*self.selection))
    }
}

impl SharedOffers {
    fn get(&self, is_global: bool, selection: &Arc<Selection>) -> Arc<Offer> {
        let create = || Arc::new(Offer::new(is_global, Arc::clone(selection)));
        self.0.get_with((is_global, Arc::clone(selection)), create)
    }
}

impl Default for SharedOffers {
    fn default() -> Self {
        Self(Cache::new(MAX_SHARED))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt as _;

    use super::*;

    fn config(project: Option<&str>) -> McpConfig {
        McpConfig {
            project: project.map(str::to_owned),
            known_projects: Vec::new(),
            selection: Arc::new(Selection::default_tools(false)),
            max_reply_chars: 1_000,
            wait_limit: Duration::from_secs(1),
        }
    }

    #[tokio::test]
    async fn a_list_of_tools_is_made_beside_the_thread_that_serves_requests() {
        let profile = ServerProfile::new(config(None));
        assert!(profile.prepare_tools().now_or_never().is_none(), "this thread does not make it");

        profile.prepare_tools().await;
        assert!(profile.prepare_tools().now_or_never().is_some(), "it is made once");
    }

    #[test]
    fn one_list_of_tools_is_made_for_all_projects() {
        let offers = SharedOffers::default();
        let [first, second, global] = [Some("first"), Some("second"), None]
            .map(|project| ServerProfile::sharing(config(project), &offers));

        assert!(std::ptr::eq(first.tools(), second.tools()));
        assert_ne!(first.tools(), global.tools(), "tools in global scope take a project");
        assert_ne!(first.instructions, second.instructions);
    }
}
