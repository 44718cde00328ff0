//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663).
//!
//! A host that declares the extension in a request without `initialize` gets a task instead of an answer if
//! `wait_for_completion` would wait longer than a call may last. Shorter waits are answered, because a task costs the
//! host and the model further requests.
//!
//! The id of a task is the call itself: its arguments and its time, sealed with a key that is derived from the API key.
//! Nothing is remembered, so that every process with the same key answers for the task. `tasks/get` looks at the service
//! once. Cancelling a task ends nothing but the interest of the host: no work runs between two requests.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CreateTaskResult, DetailedTask, GetTaskResult, ServerCapabilities, TASKS_EXTENSION_ID, Task,
        TaskPayload, TaskStatus,
    },
    service::RequestContext,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    callers::ToolRunner, callers::sealing, revision::is_stateless, server::ServerProfile,
    tool_result::tool_result,
};
use crate::{
    call::{CheckedArguments, Reply, ToolArguments},
    clock::Clock,
    failure::{Code, Failure},
    fields::Fields,
    service::tool::{FIELDS, PROJECT_ID},
    tools::{
        catalog::{ListedTool as _, Tool},
        composite::{CompositeTool as _, WaitForCompletion},
        waiting::{GRACE, WaitStatus},
    },
};

/// Purpose of the derived key that seals the ids.
const KEY_PURPOSE: &[u8] = b"tas-mcp tasks 2";

/// Longest id of a task, in bytes. Hosts send it with every request, some of them in a header.
const MAX_ID_BYTES: usize = 8 << 10;

/// How long a host can ask for a task after the end of its wait. The span includes the day after an overnight wait.
const RETENTION: Duration = Duration::from_secs(36 * 60 * 60);

/// Shortest and longest poll interval that is suggested to the host if the caller names none.
const INTERVALS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));

pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), Fields::new());
}

pub(super) fn withdraw(capabilities: &mut ServerCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(TASKS_EXTENSION_ID);
    }
}

/// Returns whether a call of `tool` may become a task: a wait, if the host accepts a task as answer. Hosts of older revisions
/// may declare the extension too, but some of them treat a task as an invalid answer.
pub(super) fn may_become_task(tool: Tool, context: &RequestContext<RoleServer>) -> bool {
    tool.name == WaitForCompletion::NAME
        && is_stateless(context)
        && context.client_capabilities().is_some_and(|client| client.supports_tasks())
}

/// How a call that could become a task is answered.
pub(super) enum TaskStart {
    /// The call has become a task.
    Created(Box<CreateTaskResult>),
    /// The first poll has ended the wait.
    Ended(Result<Reply, Failure>),
}

/// What one look at the service says about a wait.
enum Look {
    Working { message: String, pause: Duration },
    Ended(Result<Reply, Failure>),
}

/// Creates tasks and answers requests about them.
#[derive(Debug)]
pub(super) struct TaskService {
    runner: ToolRunner,
    profile: Arc<ServerProfile>,
}

impl TaskService {
    pub(super) fn new(runner: ToolRunner, profile: Arc<ServerProfile>) -> Self {
        Self { runner, profile }
    }

    pub(super) fn is_offered(&self) -> bool {
        self.profile.config.selection.offers(WaitForCompletion::tool().info)
    }

    /// Creates a task for a long wait of which [`may_become_task`] is true. Returns `None` if the call is to be answered.
    ///
    /// The service is asked once, so that a wait for something that is over, or that cannot be read, is answered.
    pub(super) async fn begin(
        &self,
        tool: Tool,
        arguments: &Fields,
        context: &RequestContext<RoleServer>,
    ) -> Option<TaskStart> {
        // The call itself reports invalid arguments.
        let unchecked = ToolArguments::from_host(&tool, arguments.clone());
        let caller = self.runner.callers().choose(tool.info, &unchecked).await.ok()?;
        let checked = caller.check(&tool, unchecked).ok()?;

        let wait = SealedWait::new(sealed_arguments(arguments, checked), caller.clock().timestamp());
        // A wait that fits into one call is answered, because a task needs further requests.
        if wait.timeout() <= self.runner.wait_limit().saturating_sub(GRACE) {
            return None;
        }

        let id = sealing(self.runner.callers(), KEY_PURPOSE).await.ok()?.seal_json(&wait).ok()?;
        if id.len() > MAX_ID_BYTES {
            return None;
        }

        let clock = caller.clock();
        Some(match self.look(&wait, &**clock, context).await {
            Look::Ended(outcome) => TaskStart::Ended(outcome),
            Look::Working { message, pause } => {
                let task = wait.task(&id, clock.timestamp(), pause).with_status_message(message);
                TaskStart::Created(Box::new(CreateTaskResult::new(task)))
            }
        })
    }

    /// Returns the task as it is now.
    ///
    /// # Errors
    /// Invalid parameters if this server gave no such id to the credential, or the task has expired.
    pub(super) async fn get(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let wait = self.open(id).await?;
        let clock = Arc::clone(self.runner.callers().first().map_err(|_| unknown_task())?.clock());
        let look = self.look(&wait, &*clock, context).await;
        let now = clock.timestamp();

        let (task, payload) = match look {
            Look::Working { message, pause } => {
                (wait.task(id, now, pause).with_status_message(message), TaskPayload::Working)
            }
            Look::Ended(outcome) => (wait.task(id, now, Duration::ZERO), self.payload(outcome)),
        };
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// Checks the id in a request that changes nothing: a wait has no questions, so that answers are ignored, and no work
    /// that could be ended.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub(super) async fn acknowledge(&self, id: &str) -> Result<(), ErrorData> {
        self.open(id).await.map(drop)
    }

    async fn open(&self, id: &str) -> Result<SealedWait, ErrorData> {
        let caller = self.runner.callers().first().map_err(|_| unknown_task())?;
        let codec = sealing(self.runner.callers(), KEY_PURPOSE).await.map_err(|_| unknown_task())?;
        let wait: SealedWait = codec.open_json(id).map_err(|_| unknown_task())?;

        let is_expired = wait.elapsed(caller.clock().timestamp()) > wait.lifetime();
        if is_expired { Err(unknown_task()) } else { Ok(wait) }
    }

    /// Asks the service once how the wait stands.
    async fn look(&self, wait: &SealedWait, clock: &dyn Clock, context: &RequestContext<RoleServer>) -> Look {
        let arguments = ToolArguments::from_host(WaitForCompletion::tool().info, wait.arguments.clone());
        let outcome = self.runner.poll_once(arguments, context).await;
        let now = clock.timestamp();
        let is_over = wait.elapsed(now) >= wait.timeout();

        match outcome {
            Ok(mut reply) => {
                let completion = &mut reply.completion;
                completion.elapsed_seconds = (wait.elapsed(now).as_secs_f64() * 10.0).round() / 10.0;
                if is_over || completion.status == WaitStatus::Completed {
                    return Look::Ended(Ok(reply.into_reply()));
                }

                let message = format!("{} of {} finished", completion.finished, completion.total);
                Look::Working { message, pause: Duration::ZERO }
            }
            // An interrupted poll says nothing about the wait, and a service that is away comes back.
            Err(failure) if failure.code == Code::Cancelled || !is_over && failure.is_transient() => {
                let pause = failure.facts.retry_after.unwrap_or_default();
                Look::Working { message: format!("the last poll failed: {failure}"), pause }
            }
            Err(failure) => Look::Ended(Err(failure)),
        }
    }

    /// Returns the result of a task: the result of the call, even if the tool failed (SEP-2663).
    fn payload(&self, outcome: Result<Reply, Failure>) -> TaskPayload {
        let result = tool_result(outcome, &self.profile.config, WaitForCompletion::tool().info);
        let result = match serde_json::to_value(result) {
            Ok(Value::Object(result)) => result,
            _ => Fields::new(),
        };
        TaskPayload::Completed { result }
    }
}

fn unknown_task() -> ErrorData {
    ErrorData::invalid_params("unknown task: the id is changed, expired or of another API key", None)
}

/// Returns the checked arguments of a call as a host could send them. The fields of the reply are those that it has sent.
fn sealed_arguments(sent: &Fields, checked: CheckedArguments) -> Fields {
    let mut arguments = checked.own;
    arguments.extend(checked.project_id.map(|project| (PROJECT_ID.to_owned(), project.into())));
    arguments.extend(sent.get(FIELDS).map(|fields| (FIELDS.to_owned(), fields.clone())));
    arguments
}

/// The content of a task id. The names are short, because hosts send the id with every request.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SealedWait {
    /// The arguments of the call, checked: a host may have sent more text than they need.
    #[serde(rename = "a")]
    arguments: Fields,
    /// Time of the call, in milliseconds since 1970.
    #[serde(rename = "s")]
    started: i64,
}

impl SealedWait {
    fn new(arguments: Fields, now: Timestamp) -> Self {
        Self { arguments, started: now.as_millisecond() }
    }

    fn seconds(&self, name: &str) -> Option<Duration> {
        self.arguments.get(name).and_then(Value::as_u64).map(Duration::from_secs)
    }

    fn timeout(&self) -> Duration {
        self.seconds("timeout_seconds").unwrap_or_default()
    }

    /// Returns how long after the call a host can ask for the task.
    fn lifetime(&self) -> Duration {
        self.timeout() + RETENTION
    }

    /// Returns the time since the call; none if another clock is ahead of this one.
    fn elapsed(&self, now: Timestamp) -> Duration {
        Duration::try_from(now.duration_since(self.started())).unwrap_or_default()
    }

    fn started(&self) -> Timestamp {
        Timestamp::from_millisecond(self.started).unwrap_or_default()
    }

    /// Returns the poll interval that is suggested to the host. Unless the caller names an interval, it grows with the
    /// age of the task.
    fn interval(&self, now: Timestamp) -> Duration {
        let (shortest, longest) = INTERVALS;
        let growing = (self.elapsed(now) / 10).clamp(shortest, longest);
        self.seconds("poll_interval_seconds").unwrap_or(growing)
    }

    /// Returns the task as hosts see it. The service has asked for `pause`.
    fn task(&self, id: &str, now: Timestamp, pause: Duration) -> Task {
        let milliseconds = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let (created, interval) = (self.started().to_string(), self.interval(now).max(pause));

        Task::new(id, TaskStatus::Working, created, now.to_string())
            .with_ttl_ms(milliseconds(self.lifetime()))
            .with_poll_interval_ms(milliseconds(interval))
    }
}
