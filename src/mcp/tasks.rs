//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663).
//!
//! A host that declares the extension in a request without `initialize` gets a task instead of an answer if
//! `wait_for_completion` would wait longer than a call may last. Shorter waits are answered, because a task costs the
//! host and the model further requests.
//!
//! The id of a task is all that a server needs: the arguments and the time of the call, sealed with a key that is derived
//! from the API key. A task therefore survives a restart, and every server with the same API key can continue it. No work
//! runs between two requests: `tasks/get` polls the service once. What the process remembers besides only saves requests.
//!
//! Cancelling a task ends the polling, not the runs. The process remembers the latest [`MAX_CANCELLED`] cancelled tasks. After
//! a restart, a request with the same id would poll again. Hosts do not send such requests for a task that they have
//! cancelled.

mod token;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use lru::LruCache;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CreateTaskResult, DetailedTask, GetTaskResult, ServerCapabilities, TASKS_EXTENSION_ID, Task,
        TaskPayload, TaskStatus,
    },
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use self::token::{KEY_PURPOSE, MAX_ID_BYTES, TaskDigest, TaskToken};
use super::{
    profile::ServerProfile, revision::is_stateless, tool_result::tool_result, tool_runner::ToolRunner,
};
use crate::{
    call::{
        arguments::{CheckedArguments, ToolArguments},
        reply::Reply,
    },
    clock::{Clock, SystemClock},
    failure::{Code, Failure},
    fields::Fields,
    service::tool::{FIELDS, PROJECT_ID},
    tools::{
        call_options::ProgressSink,
        catalog::{ListedTool as _, Tool},
        composite::{CompositeTool as _, WaitForCompletion},
        waiting::{GRACE, WaitReply, WaitStatus, should_give_up},
    },
};

/// Maximum number of tasks whose state is remembered.
const MAX_TASKS: usize = 64;

/// Maximum number of cancelled tasks that are remembered.
const MAX_CANCELLED: usize = 4_096;

/// Declares the extension.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION_ID.to_owned(), Fields::new());
}

/// Removes the declaration, for hosts that begin with `initialize`.
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

/// Creates tasks and answers requests about them. A request with an unknown id has invalid parameters.
#[derive(Debug)]
pub(super) struct TaskService {
    runner: ToolRunner,
    profile: Arc<ServerProfile>,
    clock: Arc<dyn Clock>,
    /// The tasks that hosts have asked for lately.
    recent: Mutex<LruCache<TaskDigest, Arc<RecentTask>>>,
    /// The cancelled tasks.
    cancelled: Mutex<CancelledTasks>,
}

impl TaskService {
    pub(super) fn new(runner: ToolRunner, profile: Arc<ServerProfile>) -> Self {
        let caller = runner.callers().first();
        // Without usable settings there are no tasks, and the clock does not matter.
        let clock = caller.map_or_else(
            |_| Arc::new(SystemClock::default()) as Arc<dyn Clock>,
            |caller| Arc::clone(caller.clock()),
        );
        let recent = Mutex::new(LruCache::unbounded());

        Self { runner, profile, clock, recent, cancelled: Mutex::default() }
    }

    /// Returns whether a call can become a task.
    pub(super) fn is_offered(&self) -> bool {
        self.profile.config.selection.offers(WaitForCompletion::tool().info)
    }

    /// Creates a task for a long wait of which [`may_become_task`] is true. Returns `None` if the call is to be answered.
    ///
    /// The service is polled once, so that a wait for something that is over, or that cannot be read, is answered.
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

        let token = TaskToken::new(sealed_arguments(arguments, checked), self.clock.timestamp());
        // A wait that fits into one call is answered, because a task needs further requests.
        if token.timeout() <= self.runner.wait_limit().saturating_sub(GRACE) {
            return None;
        }

        let id = token.seal(&self.key().await?)?;
        if id.len() > MAX_ID_BYTES {
            return Some(TaskStart::Ended(Err(too_long(id.len(), self.runner.wait_limit()))));
        }
        let task = self.recent_task(&id);
        let mut state = task.state.lock().await;
        if let Some(outcome) = self.poll(&token, &mut state, context).await {
            return Some(TaskStart::Ended(outcome));
        }

        let task = self.render(&id, &token, &state);
        Some(TaskStart::Created(Box::new(CreateTaskResult::new(task))))
    }

    /// Returns the task as it is now. Polls the service if a poll is due.
    pub(super) async fn get(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let token = self.open(id).await?;
        let task = self.recent_task(id);
        // Simultaneous requests share one poll.
        let mut state = task.state.lock().await;
        // Hosts may ask somewhat earlier than the suggested interval.
        let pause = token.interval(self.clock.timestamp()) / 2;

        if state.result.is_none() && state.is_poll_due(self.clock.now(), pause) {
            let poll = self.poll(&token, &mut state, context);
            if let Some(outcome) = task.cancellation.run_until_cancelled(poll).await.flatten() {
                state.result = Some(self.payload(outcome).await);
            }
        }

        if task.cancellation.is_cancelled() {
            self.mark_cancelled(id, &mut state);
        }

        let payload = state.result.clone().unwrap_or(TaskPayload::Working);
        Ok(GetTaskResult::new(DetailedTask::new(self.render(id, &token, &state), payload)))
    }

    /// Cancels a task. A task that has ended keeps its result.
    pub(super) async fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.open(id).await?;
        let task = self.recent_task(id);
        // A poll in progress ends and releases the lock of the state.
        task.cancellation.cancel();
        self.mark_cancelled(id, &mut *task.state.lock().await);
        Ok(())
    }

    /// Accepts the answers of `tasks/update`. A wait has no questions, and answers to unknown questions are ignored
    /// (SEP-2663).
    pub(super) async fn acknowledge(&self, id: &str) -> Result<(), ErrorData> {
        self.open(id).await.map(drop)
    }

    async fn open(&self, id: &str) -> Result<TaskToken, ErrorData> {
        // Without a key no id is valid.
        let token = self.key().await.and_then(|key| TaskToken::open(id, &key));
        token.filter(|token| token.is_valid(self.clock.timestamp())).ok_or_else(|| {
            ErrorData::invalid_params("unknown task: the id is changed, expired or of another API key", None)
        })
    }

    /// Returns what this process knows of a task. A task that it does not know has the state of a new one.
    fn recent_task(&self, id: &str) -> Arc<RecentTask> {
        let mut recent = lock(&self.recent);
        let digest = TaskDigest::of(id);
        let task = Arc::clone(recent.get_or_insert(digest, || {
            let cancelled = lock(&self.cancelled).date(digest).map(TaskState::cancelled);
            Arc::new(RecentTask {
                state: cancelled.unwrap_or_default().into(),
                cancellation: CancellationToken::new(),
            })
        }));

        if recent.len() > MAX_TASKS {
            recent.pop_lru();
        }

        task
    }

    /// Polls the service once and updates `state`. Returns the outcome of the task if the task has ended.
    async fn poll(
        &self,
        token: &TaskToken,
        state: &mut TaskState,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<Reply, Failure>> {
        let progress = Arc::new(LastProgress::default());
        let arguments = ToolArguments::from_host(WaitForCompletion::tool().info, token.arguments.clone());
        let outcome = self.runner.poll_once(arguments, Arc::<LastProgress>::clone(&progress), context).await;

        // An interrupted poll gives no information about the task.
        if outcome.as_ref().is_err_and(|failure| failure.code == Code::Cancelled) {
            return None;
        }

        state.record_poll(outcome, &progress, token, &*self.clock)
    }

    fn mark_cancelled(&self, id: &str, state: &mut TaskState) {
        if state.result.is_some() {
            return;
        }

        let date = self.clock.timestamp();
        *state = TaskState::cancelled(date);
        lock(&self.cancelled).add(TaskDigest::of(id), date);
    }

    /// Returns the result of a task: the result of the call, even if the tool failed (SEP-2663).
    async fn payload(&self, outcome: Result<Reply, Failure>) -> TaskPayload {
        let result = tool_result(outcome, &self.profile.config, WaitForCompletion::tool().info).await;
        match serde_json::to_value(result) {
            Ok(Value::Object(result)) => TaskPayload::Completed { result },
            _ => TaskPayload::Completed { result: Fields::new() },
        }
    }

    /// Returns the task as hosts see it.
    fn render(&self, id: &str, token: &TaskToken, state: &TaskState) -> Task {
        let milliseconds = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let created = token.started();
        let updated = state.updated_at.unwrap_or(created);
        let pause = state.paused_until.saturating_sub(self.clock.now());
        let interval = token.interval(self.clock.timestamp()).max(pause);

        let mut task = Task::new(id, TaskStatus::Working, created.to_string(), updated.to_string())
            .with_ttl_ms(milliseconds(token.lifetime()))
            .with_poll_interval_ms(milliseconds(interval));
        task.status_message.clone_from(&state.status_message);
        task
    }

    /// Returns the key that seals the ids of tasks; `None` without a usable API key.
    async fn key(&self) -> Option<Vec<u8>> {
        self.runner.callers().first().ok()?.derived_key(KEY_PURPOSE).await.ok()
    }
}

/// A task that a host has asked for.
#[derive(Debug)]
struct RecentTask {
    /// Locked during a poll.
    state: tokio::sync::Mutex<TaskState>,
    /// Cancelled with the task. Ends a poll in progress.
    cancellation: CancellationToken,
}

/// When hosts have cancelled tasks. A request with the id of such a task must not resume it.
#[derive(Debug)]
struct CancelledTasks(LruCache<TaskDigest, Timestamp>);

impl Default for CancelledTasks {
    fn default() -> Self {
        Self(LruCache::unbounded())
    }
}

impl CancelledTasks {
    fn date(&self, task: TaskDigest) -> Option<Timestamp> {
        self.0.peek(&task).copied()
    }

    /// Adds a task. The one that was cancelled first is dropped if there are too many.
    fn add(&mut self, task: TaskDigest, date: Timestamp) {
        self.0.put(task, date);
        if self.0.len() > MAX_CANCELLED {
            self.0.pop_lru();
        }
    }
}

/// Returns the checked arguments of a call as a host could send them. The fields of the reply are those that it has sent.
fn sealed_arguments(sent: &Fields, checked: CheckedArguments) -> Fields {
    let mut arguments = checked.own;
    arguments.extend(checked.project_id.map(|project| (PROJECT_ID.to_owned(), project.into())));
    arguments.extend(sent.get(FIELDS).map(|fields| (FIELDS.to_owned(), fields.clone())));
    arguments
}

/// Returns the failure of a call whose task would have an id of `length` bytes. Waits up to `wait_limit` need no task.
fn too_long(length: usize, wait_limit: Duration) -> Failure {
    let message = format!(
        "{}: the arguments are too long for a task: its id would have {length} bytes, and the limit is {MAX_ID_BYTES}",
        WaitForCompletion::NAME
    );
    let seconds = wait_limit.saturating_sub(GRACE).as_secs();
    Failure::new(Code::InvalidArguments, message).hint(format!(
        "name fewer `fields`, or call with `timeout_seconds` of at most {seconds}, which needs no task; nothing was sent"
    ))
}

/// The state of a task as this process last saw it. Times without a date are those of the server's clock.
#[derive(Debug, Default)]
struct TaskState {
    /// Number of polls.
    polls: u32,
    /// Time of the last poll.
    polled_at: Option<Duration>,
    /// Time before which the service must not be polled again, because it asked for a pause.
    paused_until: Duration,
    /// Number of polls that have failed since the last success.
    failures: u32,
    /// Time of the first of these failures.
    failing_since: Option<Duration>,
    /// Date of the last change of this state.
    updated_at: Option<Timestamp>,
    /// Progress or failure, as text for a person.
    status_message: Option<String>,
    /// The result; a task with a result is not polled any more.
    result: Option<TaskPayload>,
}

impl TaskState {
    /// Returns the state of a task that was cancelled at `date`.
    fn cancelled(date: Timestamp) -> Self {
        let message = "the task is cancelled; the runs continue until they end or are stopped";
        Self {
            updated_at: Some(date),
            status_message: Some(message.to_owned()),
            result: Some(TaskPayload::Cancelled),
            ..Self::default()
        }
    }

    /// Returns whether the service may be polled at `now`: `pause` after the last poll, and not before the end of a
    /// pause that the service asked for.
    fn is_poll_due(&self, now: Duration, pause: Duration) -> bool {
        now >= self.paused_until
            && self.polled_at.is_none_or(|polled_at| now.saturating_sub(polled_at) >= pause)
    }

    /// Records a poll that ended now. Returns the outcome of the task if the task has ended.
    fn record_poll(
        &mut self,
        outcome: Result<WaitReply, Failure>,
        progress: &LastProgress,
        token: &TaskToken,
        clock: &dyn Clock,
    ) -> Option<Result<Reply, Failure>> {
        let (now, date) = (clock.now(), clock.timestamp());
        let left = token.remaining(date);

        self.polls += 1;
        self.polled_at = Some(now);
        self.updated_at = Some(date);
        // The last poll is due at the end of the wait, even if the service asks for a longer pause.
        self.paused_until = now + left.min(*lock(&progress.pause));

        match outcome {
            Ok(mut reply) => {
                (self.failures, self.failing_since) = (0, None);
                self.status_message = lock(&progress.message).take();

                // The numbers are those of the whole task, not of this poll.
                reply.completion.polls = self.polls;
                reply.completion.elapsed_seconds = (token.elapsed(date).as_secs_f64() * 10.0).round() / 10.0;

                let is_completed = reply.completion.status == WaitStatus::Completed;
                (is_completed || left.is_zero()).then(|| Ok(reply.into_reply()))
            }
            Err(failure) => {
                self.failures += 1;
                self.status_message = Some(format!("the last poll failed: {failure}"));

                let outage = now.saturating_sub(*self.failing_since.get_or_insert(now));
                let gives_up = should_give_up(self.failures, outage) || left.is_zero();
                (gives_up || !failure.is_transient()).then_some(Err(failure))
            }
        }
    }
}

/// Keeps the last progress of a poll, for the state of the task.
#[derive(Debug, Default)]
struct LastProgress {
    message: Mutex<Option<String>>,
    /// The pause that the service asked for.
    pause: Mutex<Duration>,
}

impl ProgressSink for LastProgress {
    fn report(&self, _: u64, _: u64, message: &str) {
        *lock(&self.message) = Some(message.to_owned());
    }

    fn report_pause(&self, pause: Duration) {
        *lock(&self.pause) = pause;
    }

    fn is_observed(&self) -> bool {
        false
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;

    use super::{CancelledTasks, MAX_CANCELLED, TaskDigest, TaskState};

    #[test]
    fn the_tasks_that_were_cancelled_first_are_forgotten_first() {
        let mut cancelled = CancelledTasks::default();
        let task = |number: usize| TaskDigest::of(&number.to_string());
        for number in 0..=MAX_CANCELLED {
            cancelled.add(task(number), Timestamp::UNIX_EPOCH);
            // A task does not stay because a host asks for it.
            cancelled.date(task(0));
        }

        let is_known = |number| cancelled.date(task(number)).is_some();
        assert!(!is_known(0) && is_known(1) && is_known(MAX_CANCELLED));
    }

    #[test]
    fn a_poll_is_due_after_the_interval_and_the_pause_of_the_service() {
        let seconds = Duration::from_secs;
        let is_due = |polled_at: Option<u64>, paused_until, now| {
            let (polled_at, paused_until) = (polled_at.map(seconds), seconds(paused_until));
            let state = TaskState { polled_at, paused_until, ..TaskState::default() };
            state.is_poll_due(seconds(now), seconds(5))
        };

        assert!(is_due(None, 0, 0));
        assert!(!is_due(Some(10), 0, 14));
        assert!(is_due(Some(10), 0, 15));
        assert!(!is_due(Some(10), 100, 99));
        assert!(is_due(Some(10), 100, 100));
    }
}
