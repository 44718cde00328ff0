//! The handler that the library calls: a server, within the limits of its caller, with one line of the log for each request.
//!
//! The library cancels a request when its client closes the response. That is right since revision 2026-07-28. A client of an
//! older revision may only have lost its connection, so that its calls end within their own limits.

use std::borrow::Cow;

use axum::http::{HeaderMap, request::Parts};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{self, CallToolResponse, ProtocolVersion},
    service::RequestContext,
};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    access_log::{AccessLine, Ending, Operation},
    auth::Requester,
    limits::{Exceeded, Kind},
    state::SharedState,
};
use crate::{
    mcp::{AUDIT_TARGET, WithoutSession, failure_code},
    tools::catalog,
};

pub(super) const SPAN_TARGET: &str = "requests";

/// Member of the metadata of a request that asks for progress.
const PROGRESS_TOKEN: &str = "progressToken";

pub(super) struct CallHandler<S> {
    pub(super) server: S,
    pub(super) app: SharedState,
}

impl<S: ServerHandler> CallHandler<S> {
    /// Runs `method`, unless the caller has reached a limit: then `refuse` makes the outcome.
    async fn run<T, F: Future<Output = Result<T, ErrorData>> + Send>(
        &self,
        operation: Operation,
        mut context: RequestContext<RoleServer>,
        method: impl FnOnce(RequestContext<RoleServer>) -> F,
        ending: fn(&T) -> Ending,
        refuse: fn(Exceeded) -> Result<T, ErrorData>,
    ) -> Result<T, ErrorData> {
        let internal_error = || ErrorData::internal_error("internal error", None);
        let parts = context.extensions.remove::<Parts>().ok_or_else(internal_error)?;
        let requester = parts.extensions.get::<Requester>().ok_or_else(internal_error)?;
        let line = parts.extensions.get::<AccessLine>().ok_or_else(internal_error)?;
        line.describe(operation);

        let kinds = [Kind::Request].into_iter().chain(operation.further_place);
        let admitted = requester.rate.and_then(|()| requester.limits.admit(kinds, &self.app.places));
        let (outcome, span) = match admitted {
            Ok(places) => {
                prepare(&mut context, requester);
                let span = span_of(operation, line, &parts.headers, &context);
                let caller = span_of_caller(requester, line);
                // In a box, because each layer around a future would move it as a whole.
                let method = Box::pin(method(context));
                let outcome = method.instrument(caller).instrument(span.clone()).await;
                drop(places);
                self.app.credentials.remember(&requester.credential);
                (outcome, span)
            }
            Err(exceeded) => {
                let outcome = refuse(exceeded);
                if outcome.is_err() {
                    // The response gets the status of the limit, and its line.
                    requester.exceeded.get_or_init(|| exceeded);
                    return outcome;
                }
                (outcome, Span::none())
            }
        };

        let ending = match &outcome {
            Ok(result) => ending(result),
            Err(ErrorData { code, .. }) => {
                Ending { code: code.0.to_string(), error_type: code.0.to_string() }
            }
        };
        end_span(&span, &ending);
        if let Some(entry) = line.take() {
            entry.log_end(line, &ending);
        }
        outcome
    }
}

/// Adapts a request to a transport without sessions, and to its client.
fn prepare(context: &mut RequestContext<RoleServer>, requester: &Requester) {
    context.extensions.insert(WithoutSession);
    if !requester.accepts_events {
        // A caller that sees no progress gets an answer before its patience ends.
        context.meta.remove(PROGRESS_TOKEN);
    }
    let version = context.meta.protocol_version();
    if version.is_none_or(|version| version < ProtocolVersion::V_2026_07_28) {
        context.ct = CancellationToken::new();
    }
}

/// Returns the span of who sends a request, for the log. The span of the call is below it.
fn span_of_caller(requester: &Requester, line: &AccessLine) -> Span {
    let (credential, subject) = (requester.credential.log_name(), &requester.credential.subject);
    tracing::info_span!(target: AUDIT_TARGET, "request", client = %line.client, id = &*line.id, credential, subject)
}

/// Begins the span of a request for traces, with the names of `OpenTelemetry` for MCP.
fn span_of(
    operation: Operation,
    line: &AccessLine,
    headers: &HeaderMap,
    context: &RequestContext<RoleServer>,
) -> Span {
    let Operation { method, tool, .. } = operation;
    let name = if tool.is_empty() { method.to_owned() } else { format!("{method} {tool}") };
    let span = tracing::info_span!(
        target: SPAN_TARGET,
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = Empty,
        mcp.method.name = method,
        gen_ai.tool.name = tool,
        error.type = Empty,
        client.address = %line.client,
    );

    #[cfg(feature = "otlp")]
    super::traces::continue_trace(&span, &context.meta, headers);
    #[cfg(not(feature = "otlp"))]
    let _ = (headers, context);
    span
}

fn end_span(span: &Span, ending: &Ending) {
    if !ending.error_type.is_empty() {
        span.record("error.type", &ending.error_type);
        // The message of an error may repeat an argument, and is left out.
        span.record("otel.status_code", "ERROR");
    }
}

fn ending_of_call(response: &CallToolResponse) -> Ending {
    match response {
        CallToolResponse::Complete(result) if result.is_error == Some(true) => {
            Ending::of_tool(failure_code(result))
        }
        CallToolResponse::InputRequired(_) => Ending { code: "asked".to_owned(), ..Ending::default() },
        _ => Ending::default(),
    }
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
            let call = |context| self.server.$method($($request,)? context);
            let refuse = |exceeded: Exceeded| Err(ErrorData::invalid_request(exceeded.message(), None));
            self.run(operation, context, call, |_| Ending::default(), refuse).await
        }
    )*};
}

impl<S: ServerHandler> ServerHandler for CallHandler<S> {
    forward! {
        "ping" ping() -> ();
        "initialize" initialize(request: model::InitializeRequestParams) -> model::InitializeResult;
        "server/discover" discover() -> model::DiscoverResult;
        "completion/complete" complete(request: model::CompleteRequestParams) -> model::CompleteResult;
        "prompts/get" get_prompt(request: model::GetPromptRequestParams) -> model::GetPromptResponse;
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
        "other" on_custom_request(request: model::CustomRequest) -> model::CustomResult;
    }

    async fn call_tool(
        &self,
        request: model::CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = catalog::find_tool(&request.name).map(|tool| tool.info);
        let operation = Operation {
            method: "tools/call",
            tool: tool.map_or("", |tool| tool.name),
            further_place: tool.and_then(Kind::of_tool),
        };

        let call = |context| self.server.call_tool(request, context);
        let refuse = |exceeded: Exceeded| Ok(exceeded.tool_result().into());
        self.run(operation, context, call, ending_of_call, refuse).await
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
