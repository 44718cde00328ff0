//! Calls of tools for requests of the host: the choice of the caller, cancellation and progress notifications.

use std::{fmt::Debug, pin::pin, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, ready};
use rmcp::{
    Peer, RoleServer,
    model::{ProgressNotificationParam, ProgressToken, RequestStateCodec},
    service::RequestContext,
};
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{question::with_names, server::McpConfig};
use crate::{
    call::{Caller, CommonArguments, Reply, ToolArguments},
    failure::{Code, Failure},
    service::{
        api::runs::GetRun,
        record_kind::{ResultId, ResultKind},
        tool::ToolDefinition,
    },
    tools::{
        catalog::{ListedTool as _, Tool, typed_answer},
        composite::WaitForCompletion,
        context::{CallOptions, ProgressSink, Stopping, ToolCall},
        report::ViewedRun,
        selection::Selection,
        upload::FileServices,
        waiting::WaitReply,
    },
};

/// Hint for a key of a request over HTTP that the service does not know.
const HTTP_KEY: &str = "the service does not know the key of the request: the person must check the header `X-Api-Key`, or the bearer token; an organization key needs a project, such as in the address `/mcp/PROJECT`";

/// The callers of a server: one, or those of a user who may use several keys.
pub trait Callers: Debug + Send + Sync {
    /// Returns the caller of what belongs to no call: it derives the secrets of the server, and has its clock.
    ///
    /// # Errors
    /// The failure of every call, if the settings are unusable.
    fn first(&self) -> Result<&Caller, Failure>;

    /// Chooses the caller for a call of `tool`.
    ///
    /// # Errors
    /// The failure of every call, or the failure of a look-up.
    fn choose<'a>(
        &'a self,
        _: &'a ToolDefinition,
        _: &'a ToolArguments,
    ) -> BoxFuture<'a, Result<Caller, Failure>> {
        Box::pin(ready(self.first().cloned()))
    }

    /// Returns the projects that are known without a request.
    fn known_projects(&self) -> Vec<String> {
        self.first().map(|caller| caller.scope.known_projects()).unwrap_or_default()
    }
}

/// One caller makes all calls, or none can.
impl Callers for Result<Caller, Failure> {
    fn first(&self) -> Result<&Caller, Failure> {
        self.as_ref().map_err(Clone::clone)
    }
}

/// Returns what seals the state that a host keeps for the server. The key is derived from the credential, so that every process
/// with the credential opens the state, and no other one.
///
/// # Errors
/// The failure of every call, or there is no key.
pub(super) async fn sealing(callers: &dyn Callers, purpose: &[u8]) -> Result<RequestStateCodec, Failure> {
    let key = callers.first()?.derived_key(purpose).await?;
    RequestStateCodec::try_new(key).map_err(|error| Failure::new(Code::NotConfigured, error.to_string()))
}

/// Runs tools for requests of the host. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ToolRunner {
    callers: Arc<dyn Callers>,
    files: Arc<FileServices>,
    wait_limit: Duration,
    /// Whether replies have links to files.
    gives_links: bool,
    selection: Arc<Selection>,
    /// The end of the process, or of the session of the host.
    stopping: Stopping,
}

impl ToolRunner {
    pub(super) fn new(
        callers: Arc<dyn Callers>,
        files: Arc<FileServices>,
        config: &McpConfig,
        stopping: Stopping,
    ) -> Self {
        let (gives_links, selection) = (config.gives_links(), Arc::clone(&config.selection));
        Self { callers, files, wait_limit: config.wait_limit, gives_links, selection, stopping }
    }

    pub(super) fn callers(&self) -> &dyn Callers {
        &*self.callers
    }

    /// Returns the maximum time that a call waits if the host shows no progress.
    pub(super) fn wait_limit(&self) -> Duration {
        self.wait_limit
    }

    pub(super) fn shutdown_token(&self) -> &CancellationToken {
        &self.stopping.calls
    }

    /// Runs a tool and sends its progress to the host meanwhile.
    ///
    /// # Errors
    /// Every failure of the tool, and `cancelled` if the host cancels the request or the server stops.
    pub(super) async fn run(
        &self,
        tool: Tool,
        arguments: ToolArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Failure> {
        let (sender, forwarder) = progress_channel(context);
        let options = self.call_options(Arc::new(sender), self.wait_limit);

        let call = async { (tool.run)(self.tool_call(tool, arguments, options).await?).await };
        let outcome = self.until_interrupted(tool, forwarder.forward_during(call), context).await;
        outcome.map_err(|failure| match failure.code {
            // The key of a server over HTTP is that of the request.
            Code::Unauthenticated if self.gives_links && failure.status == Some(401) => {
                failure.hint(HTTP_KEY)
            }
            _ => failure,
        })
    }

    /// Runs `wait_for_completion`, but lets it poll the service only once.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) async fn poll_once(
        &self,
        arguments: ToolArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<WaitReply, Failure> {
        let tool = WaitForCompletion::tool();
        let options = self.call_options(CallOptions::silent().progress, Duration::ZERO);
        let call = async {
            let call = self.tool_call(tool, arguments, options).await?;
            let (completion, selection) = typed_answer::<WaitForCompletion>(call).await?;
            Ok(WaitReply { completion, selection })
        };

        self.until_interrupted(tool, call, context).await
    }

    /// Reads a run with `get_run`, and what its view shows beside the record.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub(super) async fn read_view(
        &self,
        project: Option<&str>,
        run_id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ViewedRun, Failure> {
        let tool = GetRun::tool();
        let own = ResultId::new(ResultKind::Run, run_id).to_arguments();
        let arguments = ToolArguments::new(own, CommonArguments::in_project(project));
        let loading = async {
            let caller = self.callers.choose(tool.info, &arguments).await?;
            ViewedRun::read(&caller, project, run_id).await
        };

        self.until_interrupted(tool, loading, context).await
    }

    /// Returns the refusal of a call that a person is asked about, with names in place of ids.
    pub(super) async fn name_records(&self, tool: Tool, call: &ToolArguments, required: Failure) -> Failure {
        match self.callers.choose(tool.info, call).await {
            Ok(caller) => with_names(&caller, call, required).await,
            Err(failure) => failure,
        }
    }

    /// Returns the call of a tool by the caller that is chosen for it.
    async fn tool_call(
        &self,
        tool: Tool,
        arguments: ToolArguments,
        options: CallOptions,
    ) -> Result<ToolCall, Failure> {
        let caller = self.callers.choose(tool.info, &arguments).await?;
        Ok(ToolCall { caller, files: Arc::clone(&self.files), arguments, options })
    }

    fn call_options(&self, progress: Arc<dyn ProgressSink>, wait_limit: Duration) -> CallOptions {
        let stopping = self.stopping.clone();
        let (gets_links, tools) = (self.gives_links, Arc::clone(&self.selection));
        CallOptions { progress, wait_limit: Some(wait_limit), gets_links, tools, stopping }
    }

    /// Waits for `call`, until the host cancels the request or the server stops. A request that changes something may have reached
    /// the service by then.
    async fn until_interrupted<T>(
        &self,
        tool: Tool,
        call: impl Future<Output = Result<T, Failure>>,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, Failure> {
        let reason = tokio::select! {
            outcome = call => return outcome,
            () = context.ct.cancelled() => "cancelled by the caller",
            () = self.stopping.calls.cancelled() => "the server is stopping",
        };

        let failure = Failure::new(Code::Cancelled, format!("{}: {reason}", tool.name));
        Err(match tool.failure_hints.recovery {
            Some(advice) => failure.uncertain(format!("it may have happened: {advice}")),
            None => failure,
        })
    }
}

/// Increment of the reported value if a report has the same value as the report before: the protocol requires that
/// the value increases with each notification.
const SMALLEST_INCREMENT: f64 = 1.0 / 1024.0;

/// Time limit of sending a notification after the end of its call.
const SENDING_LIMIT: Duration = Duration::from_secs(1);

/// The content of one notification.
#[derive(Debug)]
struct ProgressMessage {
    done: u64,
    total: u64,
    message: String,
}

/// The sending end of the channel, which a tool reports to.
#[derive(Debug)]
struct ProgressSender {
    reports: mpsc::UnboundedSender<ProgressMessage>,
    is_requested: bool,
}

impl ProgressSink for ProgressSender {
    fn report(&self, done: u64, total: u64, message: &str) {
        // Sending fails only after the end of the call, when no report is expected any more.
        drop(self.reports.send(ProgressMessage { done, total, message: message.to_owned() }));
    }

    fn is_observed(&self) -> bool {
        self.is_requested
    }
}

/// The receiving end of the channel. It sends the reports to the host.
#[derive(Debug)]
struct ProgressForwarder {
    reports: mpsc::UnboundedReceiver<ProgressMessage>,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    /// Value of the last notification.
    last: Option<f64>,
}

fn progress_channel(context: &RequestContext<RoleServer>) -> (ProgressSender, ProgressForwarder) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let token = context.meta.get_progress_token();
    let peer = context.peer.clone();

    (
        ProgressSender { reports: sender, is_requested: token.is_some() },
        ProgressForwarder { reports: receiver, peer, token, last: None },
    )
}

impl ProgressForwarder {
    /// Sends the reports of `call` until it ends. A notification that is being sent is sent completely, so that the host gets it
    /// before the answer. A host that does not read delays the end of the call by [`SENDING_LIMIT`] at most.
    async fn forward_during<T>(mut self, call: impl Future<Output = T>) -> T {
        let mut call = pin!(call);
        loop {
            let report = tokio::select! {
                outcome = &mut call => return outcome,
                Some(report) = self.reports.recv() => report,
            };

            let mut sending = pin!(self.notify(report));
            tokio::select! {
                () = &mut sending => {}
                outcome = &mut call => {
                    timeout(SENDING_LIMIT, sending).await.unwrap_or_default();
                    return outcome;
                }
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the protocol has no other number")]
    async fn notify(&mut self, report: ProgressMessage) {
        let Some(token) = self.token.clone() else { return };
        let done = report.done as f64;
        let done = self.last.map_or(done, |last| done.max(last + SMALLEST_INCREMENT));
        self.last = Some(done);

        let mut notification = ProgressNotificationParam::new(token, done);
        notification.total = Some(report.total as f64);
        notification.message = Some(report.message);

        if let Err(error) = self.peer.notify_progress(notification).await {
            tracing::debug!("a progress notification was not sent: {error}");
        }
    }
}
