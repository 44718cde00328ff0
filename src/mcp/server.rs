//! The state of an MCP server.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    callers::Callers, config::McpConfig, confirmation::Confirmer, profile::ServerProfile, tasks::TaskService,
    tool_runner::ToolRunner,
};
use crate::{
    failure::Failure,
    settings::Settings,
    tools::{
        call_options::Stopping,
        context::CallerWithFiles,
        upload::{FileServices, FilesConfig},
    },
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
    pub(super) tool_runner: ToolRunner,
    pub(super) confirmer: Arc<Confirmer>,
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
        Self::new(settings.tools_config().map(CallerWithFiles::new), settings)
    }

    /// Creates a server whose tools work with `tools`. If they cannot, every call says why.
    pub fn new(tools: Result<CallerWithFiles, Failure>, config: impl Into<McpConfig>) -> Self {
        let (caller, files) = match tools {
            Ok(CallerWithFiles { caller, files }) => (Ok(caller), files),
            // The server starts nevertheless, because hosts show a server that ends only as a failed connection.
            Err(problem) => {
                tracing::warn!("{problem}");
                (Err(problem), Arc::new(FileServices::new(FilesConfig::default())))
            }
        };

        let profile = Arc::new(ServerProfile::new(config.into()));
        Self::with_profile(Arc::new(caller), files, profile, Arc::default(), Stopping::default())
    }

    /// Creates a server with this profile, for which `callers` make the calls. `confirmer` and `stopping` are those of the process.
    pub fn with_profile(
        callers: Arc<dyn Callers>,
        files: Arc<FileServices>,
        profile: Arc<ServerProfile>,
        confirmer: Arc<Confirmer>,
        stopping: Stopping,
    ) -> Self {
        let tool_runner = ToolRunner::new(callers, files, &profile.config, stopping);

        Self {
            state: Arc::new(ServerState {
                confirmer,
                tasks: TaskService::new(tool_runner.clone(), Arc::clone(&profile)),
                tool_runner,
                profile,
            }),
        }
    }

    /// Returns the token whose cancellation ends every call in progress.
    pub fn shutdown_token(&self) -> &CancellationToken {
        self.state.tool_runner.shutdown_token()
    }
}
