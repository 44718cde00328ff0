//! `tools/call`: a long wait becomes a task, a person is asked about a call that needs confirmation, and every other call
//! is made. Each call has a span, and one line of the log at its end.

use std::time::Instant;

use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CallToolResult, CreateTaskResult, InputRequiredResult},
    service::RequestContext,
};
use serde_json::{Value, json};
use tracing::{Span, field::Empty};

use super::{
    confirmation::{ConfirmationError, ConfirmationOutcome, RetriedCall, can_ask},
    server::ServerState,
    tasks::{TaskStart, may_become_task},
};
use crate::{
    call::{Reply, ToolArguments, arguments::AGREEMENT, id_fields, reply::FieldSelection, values},
    client::KEY_PREFIX,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        schema::{RECORDS, properties, records},
        tool::{PROJECT_ID, ToolDefinition},
    },
    tools::catalog::Tool,
};

/// How a request to call a tool is answered.
pub(super) enum CallResponse {
    /// The call has ended.
    Ended(Result<Reply, Failure>),
    /// The host asks the person first and then repeats the call.
    InputRequired(Box<InputRequiredResult>),
    /// The call continues as a task.
    Task(Box<CreateTaskResult>),
}

impl From<TaskStart> for CallResponse {
    fn from(start: TaskStart) -> Self {
        match start {
            TaskStart::Created(task) => Self::Task(task),
            TaskStart::Ended(outcome) => Self::Ended(outcome),
        }
    }
}

impl ServerState {
    /// Calls `tool`. Creates a task for a long wait, and asks the person first if the call needs confirmation.
    pub(super) async fn call_or_ask(
        &self,
        tool: Tool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallResponse {
        let sent = request.arguments.unwrap_or_default();
        if may_become_task(tool, context)
            && let Some(response) = self.tasks.begin(tool, &sent, context).await
        {
            return response.into();
        }
        if tool.confirmation_question.is_none() {
            let mut arguments = ToolArguments::from_host(&tool, sent);
            arguments.selection = arguments.selection.or_else(|| brief(&tool));
            let names_project = arguments.common.project_id.is_some() || self.config().project.is_some();
            let outcome = self.tool_runner.run(tool, arguments, context).await;
            let is_open = tool.takes_pages() && !names_project;
            return CallResponse::Ended(if is_open { outcome.map(naming_project) } else { outcome });
        }

        let retried = RetriedCall { state: request.request_state, answers: request.input_responses };
        self.ask_and_call(tool, sent, retried, context).await
    }

    /// Calls `tool`, which needs confirmation, with the arguments `sent` after the person was asked.
    async fn ask_and_call(
        &self,
        tool: Tool,
        sent: Fields,
        retried: RetriedCall,
        context: &RequestContext<RoleServer>,
    ) -> CallResponse {
        let mut arguments = ToolArguments::from_host(&tool, sent.clone());
        let is_stated = arguments.common.is_confirmed;
        if can_ask(context) {
            // The person is asked, whatever the model states.
            arguments.common.is_confirmed = false;
        }

        // A call that needs confirmation is refused before anything is changed.
        let outcome = self.tool_runner.run(tool, arguments.clone(), context).await;
        let mut failure = match outcome {
            Err(failure) if failure.code == Code::ConfirmationRequired => failure,
            outcome => return CallResponse::Ended(outcome),
        };
        // Who asks is another question: a model without a host that can ask needs the names, too.
        if retried.state.is_none() {
            failure = self.tool_runner.name_records(tool, &arguments, failure).await;
            if failure.code != Code::ConfirmationRequired {
                return CallResponse::Ended(Err(failure));
            }
        }

        // The answer to a question counts for the same call in the same scope only.
        let agreement = failure.details.get(AGREEMENT);
        let call = json!([self.config().project, tool.name, sent, agreement]).to_string();
        match self.confirmer.ask(&call, &failure, retried, self.tool_runner.callers(), context).await {
            ConfirmationOutcome::Confirmed => {
                let agreed = arguments.agreed_to(&failure);
                CallResponse::Ended(self.tool_runner.run(tool, agreed, context).await)
            }
            // A host that fails to ask is like one that cannot ask: the argument counts.
            ConfirmationOutcome::NotConfirmed(ConfirmationError::HostFailed(_)) if is_stated => {
                CallResponse::Ended(self.tool_runner.run(tool, arguments.confirmed(), context).await)
            }
            ConfirmationOutcome::NotConfirmed(error) => CallResponse::Ended(Err(error.into_failure(failure))),
            ConfirmationOutcome::InputRequired(question) => CallResponse::InputRequired(question),
            ConfirmationOutcome::Unsupported => CallResponse::Ended(Err(failure)),
            ConfirmationOutcome::Unusable(unusable) => CallResponse::Ended(Err(unusable)),
        }
    }
}

/// Adds to a list the project that has answered, if it is known. Nothing in the call names it.
fn naming_project(list: Reply) -> Reply {
    match list.project().map(str::to_owned) {
        Some(project) => list.with_statement(Fields::from_iter([(PROJECT_ID.to_owned(), project.into())])),
        None => list,
    }
}

/// Selects what a model needs first, if the answer of `tool` is brief by default.
fn brief(tool: &ToolDefinition) -> Option<FieldSelection> {
    if let Some((list, field)) = tool.only_if_selected {
        return Some(FieldSelection::without(list, field));
    }

    let names: Vec<_> = tool.brief?.split(',').map(str::to_owned).collect();
    let selection = FieldSelection::parse(tool, &names).ok()?;
    let known = records(tool.output_schema()).and_then(properties).into_iter().flat_map(Fields::keys);
    let others = known.filter(|name| !selection.includes(&[RECORDS, name])).map(String::as_str);
    let others = others.collect::<Vec<_>>().join(",");
    let by_name = tool.field_by_name().map(|field| format!("; {field}: only by name")).unwrap_or_default();

    Some(selection.leaving_out(format!("nulls,{others}: `fields: \"*\"` returns them{by_name}")))
}

/// Target of the spans of calls, and of the lines of calls that write.
pub const AUDIT_TARGET: &str = "audit";

/// Largest number of ids of one call that are logged.
const MAX_IDS: usize = 32;

/// The span of one call: the tool, the project, and the records that a writing call names or has made.
pub(super) struct CallSpan {
    pub(super) span: Span,
    started: Instant,
    writes: bool,
    ids: Vec<RecordId>,
}

impl CallSpan {
    pub(super) fn new(tool: &ToolDefinition, arguments: Option<&Fields>) -> Self {
        let writes = !tool.effect.is_read_only();
        let ids = arguments.filter(|_| writes).map(|fields| record_ids(fields, MAX_IDS)).unwrap_or_default();
        let span =
            tracing::info_span!(target: AUDIT_TARGET, "call", tool = tool.name, project = Empty, ids = Empty);

        Self { span, started: Instant::now(), writes, ids }
    }

    pub(super) fn end(mut self, response: &CallResponse) {
        let outcome = match response {
            CallResponse::Ended(Ok(reply)) => {
                self.add_reply(reply);
                if reply.is_dry_run() { "not_sent" } else { "done" }.to_owned()
            }
            CallResponse::Ended(Err(failure)) => json!(failure.code).as_str().unwrap_or_default().to_owned(),
            CallResponse::InputRequired(_) => "asked".to_owned(),
            CallResponse::Task(_) => "task".to_owned(),
        };
        let ids: Vec<_> = self.ids.iter().map(|RecordId { field, id }| format!("{field}={id}")).collect();
        if !ids.is_empty() {
            self.span.record("ids", ids.join(" "));
        }

        let _entered = self.span.enter();
        let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if self.writes {
            tracing::info!(target: AUDIT_TARGET, outcome, duration_ms);
        } else if let CallResponse::Ended(Err(failure)) = response {
            let Failure { status, .. } = failure;
            tracing::info!(outcome, status, duration_ms, "{failure}");
        } else {
            tracing::info!(outcome, duration_ms);
        }
    }

    fn add_reply(&mut self, reply: &Reply) {
        if let Some(project) = reply.project() {
            self.span.record("project", project);
        }
        if let Some(answer) = reply.value().as_object().filter(|_| self.writes) {
            let answered = record_ids(answer, MAX_IDS - self.ids.len());
            let new: Vec<_> = answered.into_iter().filter(|id| !self.ids.contains(id)).collect();
            self.ids.extend(new);
        }
    }
}

/// Longest id that is logged, in bytes.
const MAX_LOGGED_BYTES: usize = 80;

/// An id in the arguments or the answer of a call.
#[derive(PartialEq, Eq)]
struct RecordId {
    field: &'static str,
    /// Letters, digits and a few marks, and no key.
    id: String,
}

/// Returns the ids in the fields of arguments or of an answer, at most `limit` of them. A caller can put any text into a field, of
/// which only what looks like an id is logged.
fn record_ids(fields: &Fields, limit: usize) -> Vec<RecordId> {
    let ids = id_fields().flat_map(|field| values(fields, field).iter().map(move |id| (field, id)));
    let logged = ids.filter_map(|(field, id)| {
        let id = id.as_str().filter(|id| is_loggable(id))?.to_owned();
        Some(RecordId { field, id })
    });
    logged.take(limit).collect()
}

fn is_loggable(id: &str) -> bool {
    let is_mark = |byte: u8| matches!(byte, b'-' | b'_' | b'.' | b':' | b'/');
    !id.is_empty()
        && id.len() <= MAX_LOGGED_BYTES
        && !id.starts_with(KEY_PREFIX)
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte))
}

/// Returns the code of the failure that a result tells the model.
pub fn failure_code(result: &CallToolResult) -> Option<Code> {
    let text = &result.content.first()?.as_text()?.text;
    let failure: Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(failure.get("error")?.get("code")?.clone()).ok()
}
