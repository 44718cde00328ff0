//! `tools/call`: a long wait becomes a task, a person is asked about a call that needs confirmation, and every other call
//! is made.

use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CreateTaskResult, InputRequiredResult},
    service::RequestContext,
};
use serde_json::json;

use super::{
    confirmation::{ConfirmationError, ConfirmationOutcome, RetriedCall, can_ask},
    server::ServerState,
    tasks::{TaskStart, may_become_task},
};
use crate::{
    call::{
        arguments::{AGREEMENT, ToolArguments},
        reply::Reply,
    },
    failure::{Code, Failure},
    fields::Fields,
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
            let arguments = ToolArguments::from_host(&tool, sent);
            return CallResponse::Ended(self.tool_runner.run(tool, arguments, context).await);
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
        let is_stated = arguments.is_confirmed();
        if can_ask(context) {
            // The person is asked, whatever the model states.
            arguments = arguments.unconfirmed();
        }

        // A call that needs confirmation is refused before any request to the service.
        let outcome = self.tool_runner.run(tool, arguments.clone(), context).await;
        let failure = match outcome {
            Err(failure) if failure.code == Code::ConfirmationRequired => failure,
            outcome => return CallResponse::Ended(outcome),
        };

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
