//! The requests about tasks.

use std::{sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{CreateTaskResult, DetailedTask, GetTaskResult, Task, TaskPayload, TaskStatus},
    service::RequestContext,
};
use serde_json::Value;

use super::{
    poller::poll,
    state::TaskState,
    store::TaskStore,
    token::{KEY_PURPOSE, TaskToken},
};
use crate::{
    call::{common_arguments::ToolArguments, reply::Reply},
    clock::Clock,
    failure::Failure,
    fields::Fields,
    mcp::{
        listed_tool::is_offered, profile::ServerProfile, revision::is_stateless, tool_caller::ToolCaller,
        tool_result::tool_result,
    },
    tools::{
        catalog::{ListedTool as _, Tool},
        composite::{CompositeTool as _, WaitForCompletion},
        waiting::GRACE,
    },
};

/// How a call that could become a task is answered.
pub(in crate::mcp) enum TaskStart {
    /// The call has become a task.
    Created(Box<CreateTaskResult>),
    /// The first poll has ended the wait.
    Ended(Result<Reply, Failure>),
}

/// Creates tasks and answers requests about them.
#[derive(Debug)]
pub(in crate::mcp) struct TaskService {
    caller: ToolCaller,
    store: TaskStore,
    profile: Arc<ServerProfile>,
}

impl TaskService {
    pub(in crate::mcp) fn new(caller: ToolCaller, profile: Arc<ServerProfile>) -> Self {
        Self { caller, store: TaskStore::default(), profile }
    }

    /// Returns whether a call can become a task.
    pub(in crate::mcp) fn is_offered(&self) -> bool {
        is_offered(&self.profile.config.selection, WaitForCompletion::tool)
    }

    /// Creates a task for a long wait of which [`may_become_task`] is true. Returns `None` if the call is to be answered.
    ///
    /// The service is polled once, so that a wait for something that is over, or that cannot be read, is answered.
    pub(in crate::mcp) async fn begin(
        &self,
        tool: Tool,
        arguments: &Fields,
        context: &RequestContext<RoleServer>,
    ) -> Option<TaskStart> {
        // The call itself reports invalid arguments.
        let gateway = self.caller.gateway();
        let checked = gateway.check(&tool, ToolArguments::from_host(&tool, arguments.clone())).ok()?;

        let clock = gateway.clock();
        let token = TaskToken::new(arguments.clone(), &checked.own, clock.timestamp());
        // A wait that fits into one call is answered, because a task needs further requests.
        if token.timeout() <= self.caller.wait_limit().saturating_sub(GRACE) {
            return None;
        }

        let id = token.seal(&self.key().await?)?;
        let entry = self.store.entry(&id);
        let mut state = entry.state.lock().await;
        if let Some(outcome) = poll(&self.caller, &token, &mut state, context).await {
            return Some(TaskStart::Ended(outcome));
        }

        let task = render(&id, &token, &state, &**clock);
        Some(TaskStart::Created(Box::new(CreateTaskResult::new(task))))
    }

    /// Returns the task as it is now. Polls the service if a poll is due.
    ///
    /// # Errors
    /// Invalid parameters if the id is unknown.
    pub(in crate::mcp) async fn get(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let token = self.open(id).await?;
        let entry = self.store.entry(id);
        // Simultaneous requests share one poll.
        let mut state = entry.state.lock().await;
        let clock = self.caller.gateway().clock();
        // Hosts may ask somewhat earlier than the suggested interval.
        let pause = token.interval(clock.timestamp()) / 2;

        if state.result.is_none() && state.is_poll_due(clock.now(), pause) {
            let poll = poll(&self.caller, &token, &mut state, context);
            if let Some(outcome) = entry.cancellation.run_until_cancelled(poll).await.flatten() {
                state.result = Some(self.payload(outcome).await);
            }
        }

        if entry.cancellation.is_cancelled() {
            self.mark_cancelled(id, &token, &mut state);
        }

        let payload = state.result.clone().unwrap_or(TaskPayload::Working);
        let task = render(id, &token, &state, &**clock);
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// Cancels a task. A task that has ended keeps its result.
    ///
    /// # Errors
    /// Invalid parameters if the id is unknown.
    pub(in crate::mcp) async fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let token = self.open(id).await?;
        let entry = self.store.entry(id);
        // A poll in progress ends and releases the lock of the state.
        entry.cancellation.cancel();
        self.mark_cancelled(id, &token, &mut *entry.state.lock().await);
        Ok(())
    }

    /// Accepts the answers of `tasks/update`. A wait has no questions, and answers to unknown questions are ignored
    /// (SEP-2663).
    ///
    /// # Errors
    /// Invalid parameters if the id is unknown.
    pub(in crate::mcp) async fn acknowledge(&self, id: &str) -> Result<(), ErrorData> {
        self.open(id).await.map(drop)
    }

    fn mark_cancelled(&self, id: &str, token: &TaskToken, state: &mut TaskState) {
        if state.result.is_none() {
            let date = self.caller.gateway().clock().timestamp();
            self.store.cancel(id, date, token.expires());
            *state = TaskState::cancelled(date);
        }
    }

    /// Opens a task id.
    async fn open(&self, id: &str) -> Result<TaskToken, ErrorData> {
        let date = self.caller.gateway().clock().timestamp();
        let token = self.key().await.and_then(|key| TaskToken::open(id, &key));
        token.filter(|token| token.is_valid(date)).ok_or_else(|| {
            ErrorData::invalid_params("unknown task: the id is changed, expired or of another API key", None)
        })
    }

    /// Returns the key that seals task ids, if the settings have a usable API key.
    async fn key(&self) -> Option<Vec<u8>> {
        self.caller.gateway().derived_key(KEY_PURPOSE).await.ok()
    }

    /// Returns the result of a task: the result of the call, even if the tool failed (SEP-2663).
    async fn payload(&self, outcome: Result<Reply, Failure>) -> TaskPayload {
        let result = tool_result(outcome, &self.profile.config, WaitForCompletion::tool().info).await;
        match serde_json::to_value(result) {
            Ok(Value::Object(result)) => TaskPayload::Completed { result },
            _ => TaskPayload::Completed { result: Fields::new() },
        }
    }
}

/// Returns whether a call of `tool` may become a task: a wait, if the host accepts a task as answer. Hosts of older revisions
/// may declare the extension too, but some of them treat a task as an invalid answer.
pub(in crate::mcp) fn may_become_task(tool: Tool, context: &RequestContext<RoleServer>) -> bool {
    let is_wait = tool.name == WaitForCompletion::NAME;
    is_wait
        && is_stateless(context)
        && context.client_capabilities().is_some_and(|client| client.supports_tasks())
}

/// Returns the task as hosts see it.
fn render(id: &str, token: &TaskToken, state: &TaskState, clock: &dyn Clock) -> Task {
    let milliseconds = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let created = token.started();
    let updated = state.updated_at.unwrap_or(created);
    let pause = state.paused_until.unwrap_or_default().saturating_sub(clock.now());
    let interval = token.interval(clock.timestamp()).max(pause);

    let task = Task::new(id, TaskStatus::Working, created.to_string(), updated.to_string())
        .with_ttl_ms(milliseconds(token.lifetime()))
        .with_poll_interval_ms(milliseconds(interval));

    match &state.status_message {
        Some(message) => task.with_status_message(message),
        None => task,
    }
}
