//! The state of an MCP server.

use std::sync::{Arc, OnceLock};

use rmcp::model::Tool;
use tokio_util::sync::CancellationToken;

use super::{
    completion::Completer, config::McpConfig, confirmation::Confirmer, instructions,
    published_tool::published_tool, tasks::TaskService, tool_caller::ToolCaller,
};
use crate::{settings::Settings, tools::dispatcher::Dispatcher};

/// An MCP server. Cheap to clone; the clones share their state.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) state: Arc<ServerState>,
}

/// The state that the requests of a server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) config: McpConfig,
    pub(super) instructions: String,
    pub(super) tool_caller: ToolCaller,
    pub(super) confirmer: Confirmer,
    pub(super) completer: Completer,
    pub(super) tasks: TaskService,
    /// The tools as hosts list them. Filled by the first request, because their schemas are costly.
    published_tools: OnceLock<Vec<Tool>>,
}

impl ServerState {
    /// Returns the offered tools as hosts list them.
    pub(super) fn published_tools(&self) -> &[Tool] {
        self.published_tools.get_or_init(|| {
            let McpConfig { selection, .. } = &self.config;
            let offered = selection.tools();
            offered.map(|entry| published_tool(entry.tool(), self.config.is_global(), selection)).collect()
        })
    }
}

impl Server {
    /// Creates a server with these settings.
    pub fn from_settings(settings: &Settings) -> Self {
        Self::new(Dispatcher::new(settings.tools_config()), settings)
    }

    /// Creates a server that calls tools through `dispatcher`.
    pub fn new(dispatcher: Dispatcher, config: impl Into<McpConfig>) -> Self {
        // The server starts nevertheless, because hosts show a server that ends only as a failed connection.
        if let Some(problem) = dispatcher.gateway().settings_failure() {
            tracing::warn!("{problem}");
        }

        let config = config.into();
        let tool_caller = ToolCaller::new(dispatcher, config.wait_limit);

        Self {
            state: Arc::new(ServerState {
                instructions: instructions::render(&config),
                confirmer: Confirmer::new(),
                completer: Completer::default(),
                tasks: TaskService::new(tool_caller.clone(), &config),
                published_tools: OnceLock::new(),
                tool_caller,
                config,
            }),
        }
    }

    /// Returns the token whose cancellation ends every call in progress.
    pub fn shutdown_token(&self) -> &CancellationToken {
        self.state.tool_caller.shutdown_token()
    }

    /// Cancels at the service the uploads that the ended session has left unfinished.
    pub(super) async fn cancel_unfinished_uploads(&self) {
        if let Ok(files) = self.state.tool_caller.dispatcher().files() {
            files.uploads.cancel_unresumable_uploads().await;
        }
    }
}
