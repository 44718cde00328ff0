//! The handler that the library calls: a server, within the limits of its caller, with one line of the log for each request, and
//! with an error instead of silence after a panic.
//!
//! The library cancels a request when its client closes the response. That is right since revision 2026-07-28. A client of an
//! older revision may only have lost its connection, so that its calls end within their own limits.

use std::{
    borrow::Cow,
    convert::Infallible,
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
};

use futures_util::FutureExt as _;
use http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
        GetSkillRequestParams, GetSkillResult, GetTaskParams, GetTaskResult, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SubscribeRequestParams,
        SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use tokio_util::sync::CancellationToken;

use super::{
    access_log::{AccessLine, Operation},
    auth::Requester,
    limits::Exceeded,
    oauth::Person,
    state::SharedState,
};
use crate::{
    mcp::{self, EndOfWait, WithoutSession},
    tools::{
        catalog,
        composite::{CompositeTool as _, WaitForCompletion},
    },
};

/// Member of the metadata of a request that asks for progress.
const PROGRESS_TOKEN: &str = "progressToken";

/// Method of a request that lasts, like a wait.
const LISTEN: &str = "subscriptions/listen";

/// Answers the requests of one caller through `server`.
pub(super) struct CallHandler<S> {
    pub(super) server: S,
    pub(super) app: SharedState,
    /// The limit that the request exceeds. The response gets its status, because the library knows only those of the protocol.
    pub(super) exceeded: Arc<OnceLock<Exceeded>>,
}

impl<S: ServerHandler> CallHandler<S> {
    /// Runs `method`, unless the caller has reached a limit: then `refuse` makes the outcome. `is_failure` says whether a result
    /// is a failure of a tool.
    async fn run<T, F: Future<Output = Result<T, ErrorData>> + Send>(
        &self,
        operation: Operation,
        mut context: RequestContext<RoleServer>,
        method: impl FnOnce(RequestContext<RoleServer>) -> F,
        is_failure: fn(&T) -> bool,
        refuse: impl FnOnce(Exceeded) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let parts = context.extensions.remove::<Parts>().ok_or_else(|| internal_error(operation))?;
        let (Some(requester), Some(line)) =
            (parts.extensions.get::<Requester>(), parts.extensions.get::<AccessLine>())
        else {
            return Err(internal_error(operation));
        };

        line.describe(operation);
        let is_wait = operation.tool == WaitForCompletion::NAME || operation.method == LISTEN;
        let admitted = requester.rate.and_then(|()| requester.limits.admit(&self.app.places, is_wait));
        let admission = match admitted {
            Ok(admission) => admission,
            Err(exceeded) => return refuse(exceeded),
        };
        let entry = line.take();
        #[cfg(feature = "otlp")]
        let span = self.app.traces.as_ref().map(|traces| traces.begin(&parts, &context));

        let version = context.meta.protocol_version();
        let is_stateless = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        prepare(&mut context, requester, is_stateless);
        let person = requester.person.as_deref().filter(|_| is_wait);
        let wait = person.map(|person| (person, self.app.stopping.waits.child_token()));
        if let Some((_, end)) = &wait {
            context.extensions.insert(EndOfWait(end.clone()));
        }
        let call = async {
            tokio::select! {
                outcome = method(context) => outcome,
                never = self.end_with_grants(wait) => match never {},
            }
        };
        // The library moves the future of a handler several times.
        let outcome = AssertUnwindSafe(Box::pin(call)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(internal_error(operation)));
        let outcome = outcome.map_err(|error| in_revision(error, is_stateless));

        self.app.tenants.remember(&requester.tenant);
        drop(admission);
        if let Some(entry) = entry {
            let error = error_type(&outcome, is_failure);
            entry.log_end(
                error,
                #[cfg(feature = "otlp")]
                span,
            );
        }
        outcome
    }

    /// Ends the wait of a person, if there is one, when the grants of the person end.
    async fn end_with_grants(&self, wait: Option<(&Person, CancellationToken)>) -> Infallible {
        if let (Some(authorization), Some((person, end))) = (&self.app.authorization, wait) {
            authorization.end_of_grants(person).await;
            end.cancel();
        }
        std::future::pending().await
    }
}

/// Adapts a request to a transport without sessions, and to its client.
fn prepare(context: &mut RequestContext<RoleServer>, requester: &Requester, is_stateless: bool) {
    context.extensions.insert(WithoutSession);
    if !requester.accepts_events {
        // A caller that sees no progress gets an answer before its patience ends.
        context.meta.remove(PROGRESS_TOKEN);
    }
    if !is_stateless {
        context.ct = CancellationToken::new();
    }
}

/// Returns the error that a client of the revision gets, as the library would: the log has the same code.
fn in_revision(mut error: ErrorData, is_stateless: bool) -> ErrorData {
    if is_stateless && error.code == ErrorCode::RESOURCE_NOT_FOUND {
        error.code = ErrorCode::INVALID_PARAMS;
    }
    error
}

/// Returns the kind of a failure, as `OpenTelemetry` names it for MCP; empty after a success.
fn error_type<T>(outcome: &Result<T, ErrorData>, is_failure: fn(&T) -> bool) -> String {
    match outcome {
        Ok(result) if is_failure(result) => "tool_error".to_owned(),
        Ok(_) => String::new(),
        Err(error) => error.code.0.to_string(),
    }
}

fn internal_error(operation: Operation) -> ErrorData {
    ErrorData::internal_error(format!("{}: internal error", operation.method), None)
}

/// Implements methods that only differ in their types. Their requests count towards the limits of the caller.
macro_rules! forward {
    ($($name:literal $method:ident($($request:ident: $type:ty)?) -> $result:ty;)*) => {$(
        async fn $method(
            &self,
            $($request: $type,)?
            context: RequestContext<RoleServer>,
        ) -> Result<$result, ErrorData> {
            let operation = Operation { method: $name, ..Operation::default() };
            self.run_method(operation, context, |context| self.server.$method($($request,)? context)).await
        }
    )*};
}

impl<S: ServerHandler> CallHandler<S> {
    /// Runs a method whose refusal a program reads.
    async fn run_method<T, F: Future<Output = Result<T, ErrorData>> + Send>(
        &self,
        operation: Operation,
        context: RequestContext<RoleServer>,
        method: impl FnOnce(RequestContext<RoleServer>) -> F,
    ) -> Result<T, ErrorData> {
        let refuse = |exceeded| Err(self.exceeded.get_or_init(|| exceeded).error());
        self.run(operation, context, method, |_| false, refuse).await
    }
}

#[expect(deprecated, reason = "older revisions have subscriptions and log levels")]
impl<S: ServerHandler> ServerHandler for CallHandler<S> {
    forward! {
        "ping" ping() -> ();
        "initialize" initialize(request: InitializeRequestParams) -> InitializeResult;
        "server/discover" discover() -> DiscoverResult;
        "completion/complete" complete(request: CompleteRequestParams) -> CompleteResult;
        "other" set_level(request: rmcp::model::SetLevelRequestParams) -> ();
        "prompts/list" list_prompts(request: Option<PaginatedRequestParams>) -> ListPromptsResult;
        "resources/list" list_resources(request: Option<PaginatedRequestParams>) -> ListResourcesResult;
        "resources/templates/list" list_resource_templates(request: Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        "skills/list" list_skills(request: Option<PaginatedRequestParams>) -> ListSkillsResult;
        "skills/get" get_skill(request: GetSkillRequestParams) -> GetSkillResult;
        "resources/read" read_resource(request: ReadResourceRequestParams) -> ReadResourceResponse;
        "other" subscribe(request: SubscribeRequestParams) -> ();
        "other" unsubscribe(request: UnsubscribeRequestParams) -> ();
        "tools/list" list_tools(request: Option<PaginatedRequestParams>) -> ListToolsResult;
        "tasks/get" get_task(request: GetTaskParams) -> GetTaskResult;
        "tasks/update" update_task(request: UpdateTaskParams) -> ();
        "tasks/cancel" cancel_task(request: CancelTaskParams) -> ();
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = catalog::find_tool(&request.name).map_or("", |tool| tool.name);
        let operation = Operation { method: "tools/call", tool, prompt: None };
        let is_failure = |response: &CallToolResponse| matches!(response, CallToolResponse::Complete(result) if result.is_error == Some(true));

        let call = |context| self.server.call_tool(request, context);
        self.run(operation, context, call, is_failure, |exceeded| Ok(exceeded.tool_result().into())).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = mcp::known_prompt(&request.name);
        let operation = Operation { method: "prompts/get", prompt, ..Operation::default() };
        self.run_method(operation, context, |context| self.server.get_prompt(request, context)).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = mcp::known_method(&request.method).unwrap_or("other");
        let operation = Operation { method, ..Operation::default() };
        self.run_method(operation, context, |context| self.server.on_custom_request(request, context)).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let request = context.request_context().clone();
        let requester =
            request.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Requester>());
        if requester.is_some_and(|requester| !requester.accepts_events) {
            let message = "the client must accept text/event-stream to listen";
            return Err(ErrorData::invalid_request(message, None));
        }

        let operation = Operation { method: LISTEN, ..Operation::default() };
        let listen = |request: RequestContext<RoleServer>| async move {
            let end =
                request.extensions.get::<EndOfWait>().map(|EndOfWait(end)| end.clone()).unwrap_or_default();
            tokio::select! {
                outcome = self.server.listen(context) => outcome,
                () = end.cancelled() => Ok(()),
            }
        };
        self.run_method(operation, request, listen).await
    }

    fn get_info(&self) -> ServerConfig {
        self.server.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.server.get_tool(name)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }
}
