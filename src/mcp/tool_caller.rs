//! Calls of tools for requests of the host: cancellation, progress notifications and one log line per call.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rmcp::{RoleServer, service::RequestContext};
use tokio_util::sync::CancellationToken;

use super::{config::McpConfig, progress::progress_channel};
use crate::{
    call::{Gateway, arguments::ToolArguments, reply::Reply},
    failure::{Code, Failure},
    service::{api::runs::GetRun, tool::ToolDefinition},
    tools::{
        call_options::{CallOptions, ProgressSink, Stopping},
        catalog::{ListedTool as _, Tool},
        composite::WaitForCompletion,
        dispatcher::Dispatcher,
        report::{PictureAlbum, pictures_for_host},
        waiting::WaitReply,
    },
};

/// Calls tools for requests of the host. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ToolCaller {
    dispatcher: Dispatcher,
    wait_limit: Duration,
    /// Whether callers get links to files.
    gives_links: bool,
    /// The end of the process, or of the session of the host.
    stopping: Stopping,
}

impl ToolCaller {
    pub(super) fn new(dispatcher: Dispatcher, config: &McpConfig, stopping: Stopping) -> Self {
        let gives_links = config.gives_links();
        Self { dispatcher, wait_limit: config.wait_limit, gives_links, stopping }
    }

    pub(super) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    pub(super) fn gateway(&self) -> &Gateway {
        self.dispatcher.gateway()
    }

    /// Returns the maximum time that a call waits if the host shows no progress.
    pub(super) fn wait_limit(&self) -> Duration {
        self.wait_limit
    }

    /// Returns the token whose cancellation ends every call in progress.
    pub(super) fn shutdown_token(&self) -> &CancellationToken {
        &self.stopping.calls
    }

    /// Calls a tool and sends its progress to the host meanwhile.
    ///
    /// # Errors
    /// Every failure of the tool, and `cancelled` if the host cancels the request or the server stops.
    pub(super) async fn call(
        &self,
        tool: Tool,
        arguments: ToolArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Failure> {
        let (sender, forwarder) = progress_channel(context);
        let options = self.call_options(Arc::new(sender), self.wait_limit);
        let call = forwarder.forward_during(self.dispatcher.call_tool(tool, arguments, options));
        self.run_until_cancelled(tool, call, context).await
    }

    /// Calls `wait_for_completion`, but lets it poll the service only once. `progress` receives the progress.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub(super) async fn poll_once(
        &self,
        arguments: ToolArguments,
        progress: Arc<dyn ProgressSink>,
        context: &RequestContext<RoleServer>,
    ) -> Result<WaitReply, Failure> {
        let options = self.call_options(progress, Duration::ZERO);
        let call = self.dispatcher.wait_for_completion(arguments, options);
        self.run_until_cancelled(WaitForCompletion::tool(), call, context).await
    }

    /// Reads a run with `get_run` and loads its pictures.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub(super) async fn load_pictures(
        &self,
        project: Option<&str>,
        run_id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<PictureAlbum, Failure> {
        let loading = pictures_for_host(self.gateway(), project, run_id);
        self.run_until_cancelled(GetRun::tool(), loading, context).await
    }

    fn call_options(&self, progress: Arc<dyn ProgressSink>, wait_limit: Duration) -> CallOptions {
        CallOptions {
            progress,
            wait_limit: Some(wait_limit),
            gets_links: self.gives_links,
            stopping: self.stopping.clone(),
        }
    }

    /// Waits for `call`, until the host cancels the request or the server stops, and logs the outcome.
    async fn run_until_cancelled<T>(
        &self,
        tool: Tool,
        call: impl Future<Output = Result<T, Failure>>,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, Failure> {
        let started = Instant::now();

        let outcome = tokio::select! {
            outcome = call => outcome,
            () = context.ct.cancelled() => Err(cancelled(tool.info, "cancelled by the caller")),
            () = self.stopping.calls.cancelled() => Err(cancelled(tool.info, "the server is stopping")),
        };

        log_outcome(tool.info, &outcome, started);
        outcome
    }
}

/// Returns the failure of a call that was interrupted. A request that changes something may have reached the service.
fn cancelled(tool: &ToolDefinition, reason: &str) -> Failure {
    let failure = Failure::new(Code::Cancelled, format!("{}: {reason}", tool.name));
    match tool.failure_hints.recovery {
        Some(advice) => failure.uncertain(format!("it may have happened: {advice}")),
        None => failure,
    }
}

/// Logs how a call ended. No other place logs the outcome of a call.
fn log_outcome<T>(tool: &ToolDefinition, outcome: &Result<T, Failure>, started: Instant) {
    let (tool, duration_ms) = (tool.name, started.elapsed().as_millis());
    if let Err(failure) = outcome {
        tracing::info!(tool, duration_ms, code = ?failure.code, status = failure.status, "{failure}");
    } else {
        tracing::info!(tool, duration_ms, "call answered");
    }
}
