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
use http::{StatusCode, request::Parts};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{self, CallToolResponse, ErrorCode, ProtocolVersion},
    service::RequestContext,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span};

use super::{
    access_log::{AccessLine, Ending, Operation},
    auth::{ClientAddress, Requester},
    long_work::work_on,
    oauth::Person,
    refusal::Exceeded,
    request_id,
    state::SharedState,
};
use crate::{
    mcp::{self, AUDIT_TARGET, EndOfWait, WithoutSession},
    tools::catalog,
};

/// Member of the metadata of a request that asks for progress.
const PROGRESS_TOKEN: &str = "progressToken";

/// Answers the requests of one caller through `server`.
pub(super) struct CallHandler<S> {
    pub(super) server: S,
    pub(super) app: SharedState,
    /// The limit that the request exceeds. The response gets its status, because the library knows only those of the protocol.
    pub(super) exceeded: Arc<OnceLock<Exceeded>>,
}

impl<S: ServerHandler> CallHandler<S> {
    /// Runs `method`, unless the caller has reached a limit: then `refuse` makes the outcome. `ending` says how a call has ended.
    async fn run<T, F: Future<Output = Result<T, ErrorData>> + Send>(
        &self,
        operation: Operation,
        mut context: RequestContext<RoleServer>,
        method: impl FnOnce(RequestContext<RoleServer>) -> F,
        ending: fn(&T) -> Ending,
        refuse: impl FnOnce(Exceeded, &str) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let parts = context.extensions.remove::<Parts>().ok_or_else(|| internal_error(operation))?;
        let (Some(requester), Some(line)) =
            (parts.extensions.get::<Requester>(), parts.extensions.get::<AccessLine>())
        else {
            return Err(internal_error(operation));
        };

        line.describe(operation);
        let admit = || requester.limits.admit(&self.app.places, operation.is_wait());
        let admitted = requester.rate.and_then(|()| admit());
        let entry = line.take();
        let admission = match admitted {
            Ok(admission) => admission,
            Err(exceeded) => {
                let outcome = refuse(exceeded, line.id());
                let status = if outcome.is_ok() { StatusCode::OK } else { exceeded.status() };
                if let Some(entry) = entry {
                    entry.log_limit(exceeded, status);
                }
                return outcome;
            }
        };
        #[cfg(feature = "otlp")]
        let span = self.app.traces.as_ref().map(|traces| traces.begin(&parts, &context));

        let span = request_span(&parts, requester, line);
        let outcome = self.perform(requester, operation, context, method).instrument(span).await;
        let outcome = outcome.map_err(|error| request_id::with_id(error, line.id()));
        self.app.tenants.remember(&requester.tenant);
        drop(admission);
        if let Some(entry) = entry {
            let ending = match &outcome {
                Ok(result) => ending(result),
                Err(error) => Ending::ProtocolError(error.code.0),
            };
            entry.log_end(
                ending,
                #[cfg(feature = "otlp")]
                span,
            );
        }
        outcome
    }

    /// Runs a method until it ends, and turns a panic into an error.
    async fn perform<T, F: Future<Output = Result<T, ErrorData>> + Send>(
        &self,
        requester: &Requester,
        operation: Operation,
        mut context: RequestContext<RoleServer>,
        method: impl FnOnce(RequestContext<RoleServer>) -> F,
    ) -> Result<T, ErrorData> {
        let version = context.meta.protocol_version();
        let is_stateless = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        prepare(&mut context, requester, is_stateless);

        let person = requester.person.as_deref().filter(|_| operation.is_wait());
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
        let call = Box::pin(work_on(requester.has_long_message, call));
        let outcome = AssertUnwindSafe(call).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| Err(internal_error(operation)));
        outcome.map_err(|error| in_revision(error, is_stateless))
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

/// Returns the span of a request: who sends it. The spans of calls are below it.
fn request_span(parts: &Parts, requester: &Requester, line: &AccessLine) -> Span {
    let client = parts.extensions.get::<ClientAddress>().map(|ClientAddress(client)| client.to_string());
    let (credential, subject) = (requester.tenant.log_name(), requester.tenant.subject());
    tracing::info_span!(target: AUDIT_TARGET, "request", client, id = line.id(), credential, subject)
}

/// Adapts a request to a transport without sessions, and to its client.
fn prepare(context: &mut RequestContext<RoleServer>, requester: &Requester, ends_with_connection: bool) {
    context.extensions.insert(WithoutSession);
    if !requester.accepts_events {
        // A caller that sees no progress gets an answer before its patience ends.
        context.meta.remove(PROGRESS_TOKEN);
    }
    if !ends_with_connection {
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

/// Returns how a call of a tool has ended.
fn ending_of_call(response: &CallToolResponse) -> Ending {
    match response {
        CallToolResponse::Complete(result) if result.is_error == Some(true) => {
            Ending::ToolFailure(mcp::failure_code(result))
        }
        CallToolResponse::InputRequired(_) => Ending::Asked,
        _ => Ending::Success,
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
        let refuse = |exceeded: Exceeded, _: &str| Err(self.exceeded.get_or_init(|| exceeded).error());
        self.run(operation, context, method, |_| Ending::Success, refuse).await
    }
}

#[expect(deprecated, reason = "older revisions have log levels")]
impl<S: ServerHandler> ServerHandler for CallHandler<S> {
    forward! {
        "ping" ping() -> ();
        "initialize" initialize(request: model::InitializeRequestParams) -> model::InitializeResult;
        "server/discover" discover() -> model::DiscoverResult;
        "completion/complete" complete(request: model::CompleteRequestParams) -> model::CompleteResult;
        "other" set_level(request: model::SetLevelRequestParams) -> ();
        "prompts/list" list_prompts(request: Option<model::PaginatedRequestParams>) -> model::ListPromptsResult;
        "resources/list" list_resources(request: Option<model::PaginatedRequestParams>) -> model::ListResourcesResult;
        "resources/templates/list" list_resource_templates(request: Option<model::PaginatedRequestParams>) -> model::ListResourceTemplatesResult;
        "skills/list" list_skills(request: Option<model::PaginatedRequestParams>) -> model::ListSkillsResult;
        "skills/get" get_skill(request: model::GetSkillRequestParams) -> model::GetSkillResult;
        "resources/read" read_resource(request: model::ReadResourceRequestParams) -> model::ReadResourceResponse;
        "tools/list" list_tools(request: Option<model::PaginatedRequestParams>) -> model::ListToolsResult;
        "tasks/get" get_task(request: model::GetTaskParams) -> model::GetTaskResult;
        "tasks/update" update_task(request: model::UpdateTaskParams) -> ();
        "tasks/cancel" cancel_task(request: model::CancelTaskParams) -> ();
    }

    async fn call_tool(
        &self,
        request: model::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = catalog::find_tool(&request.name);
        let operation =
            Operation { method: "tools/call", tool: tool.map_or("", |tool| tool.name), prompt: None };

        let call = |context| self.server.call_tool(request, context);
        let refuse = |exceeded: Exceeded, id: &str| Ok(exceeded.tool_result(id).into());
        self.run(operation, context, call, ending_of_call, refuse).await
    }

    async fn get_prompt(
        &self,
        request: model::GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<model::GetPromptResponse, ErrorData> {
        let prompt = mcp::known_prompt(&request.name);
        let operation = Operation { method: "prompts/get", prompt, ..Operation::default() };
        self.run_method(operation, context, |context| self.server.get_prompt(request, context)).await
    }

    async fn on_custom_request(
        &self,
        request: model::CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<model::CustomResult, ErrorData> {
        let operation = Operation { method: "other", ..Operation::default() };
        self.run_method(operation, context, |context| self.server.on_custom_request(request, context)).await
    }

    fn get_info(&self) -> model::ServerConfig {
        self.server.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<model::Tool> {
        self.server.get_tool(name)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }
}
