//! The state of an MCP server.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    completion::Completer, config::McpConfig, confirmation::Confirmer, profile::ServerProfile,
    tasks::TaskService, tool_caller::ToolCaller,
};
use crate::{
    settings::Settings,
    tools::{call_options::Stopping, dispatcher::Dispatcher},
};

/// An MCP server. Cheap to clone; the clones share their state.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) state: Arc<ServerState>,
}

/// The state that the requests of a server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) profile: Arc<ServerProfile>,
    pub(super) tool_caller: ToolCaller,
    pub(super) confirmer: Confirmer,
    pub(super) completer: Completer,
    pub(super) tasks: TaskService,
}

impl ServerState {
    pub(super) fn config(&self) -> &McpConfig {
        &self.profile.config
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

        Self::with_profile(dispatcher, Arc::new(ServerProfile::new(config.into())), Stopping::default())
    }

    /// Creates a server with this profile that calls tools through `dispatcher`. `stopping` is the end of the process.
    pub fn with_profile(dispatcher: Dispatcher, profile: Arc<ServerProfile>, stopping: Stopping) -> Self {
        let tool_caller = ToolCaller::new(dispatcher, &profile.config, stopping);

        Self {
            state: Arc::new(ServerState {
                confirmer: Confirmer::default(),
                completer: Completer::default(),
                tasks: TaskService::new(tool_caller.clone(), Arc::clone(&profile)),
                tool_caller,
                profile,
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
