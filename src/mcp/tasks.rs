//! Long waits as tasks (extension `io.modelcontextprotocol/tasks`, SEP-2663).
//!
//! A host whose request, in the newest revision, declares the extension gets a task instead of an answer where
//! `wait_for_completion` is to wait for longer than a call lasts; shorter waits are answered, which costs everybody
//! less. The id of a task is its whole state: the arguments and the time of the call, sealed with a key that follows
//! from the API key. So it outlives this process and is understood by every server with the same key. Nothing runs
//! between two questions: `tasks/get` looks once.
//!
//! To cancel a task ends the watching, not what is watched. This process remembers it for as long as the id lasts;
//! after a restart the same id is watched again, which harms nobody, since who cancelled does not ask.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, GetTaskResult, JsonObject,
        ServerCapabilities, TASKS_EXTENSION_ID, Task, TaskPayload, TaskStatus,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

mod memory;
mod ticket;
mod told;

pub(super) use memory::Memory;

use self::{memory::Known, ticket::Ticket, told::Told};
use super::{Outcome, Server, is_modern, log, stamp, success};
use crate::{
    call::reply::Reply,
    clock::Clock,
    failure::{Code, Failure},
    fields::Fields,
    service::tool::FIELDS,
    tools::{
        caller::CallerContext,
        catalog::{ToolEntry, WAIT_FOR_COMPLETION},
        composite::{CompositeTool as _, WaitForCompletion},
        waiting::{GRACE, is_lasting},
    },
};

/// The methods of the extension.
pub(super) const METHODS: [&str; 3] = ["tasks/get", "tasks/update", "tasks/cancel"];

/// Tells hosts that there are tasks.
pub(super) fn declare(capabilities: &mut ServerCapabilities) {
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(TASKS_EXTENSION_ID.to_owned(), JsonObject::new());
}

/// Tells hosts that begin with `initialize` nothing of tasks.
pub(super) fn withdraw(capabilities: &mut ServerCapabilities) {
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(TASKS_EXTENSION_ID);
    }
}

impl Server {
    /// Whether any call can become a task.
    pub(super) fn offers_tasks(&self) -> bool {
        self.offered(WaitForCompletion::NAME).is_ok()
    }

    /// Begins a task in place of a call, where the host can have one and the wait is long. What is over at the first
    /// look, or cannot be looked at, is answered at once.
    pub(super) async fn begun(
        &self,
        tool: ToolEntry,
        arguments: &Fields,
        context: &RequestContext<RoleServer>,
    ) -> Option<Outcome> {
        // Hosts of older revisions declare the extension too, and some take a task for a broken answer.
        let is_able =
            is_modern(context) && context.client_capabilities().is_some_and(|client| client.supports_tasks());
        if tool.name != WaitForCompletion::NAME || !is_able {
            return None;
        }

        let mut checked = arguments.clone();
        self.0.dispatcher.admit(&tool, &mut checked).ok()?;

        let clock = self.0.gateway().clock();
        let ticket = Ticket::new(arguments.clone(), &checked, clock.date());
        if ticket.timeout() <= self.0.patience.saturating_sub(GRACE) {
            return None;
        }

        let id = ticket.seal(&self.0.gateway().derived_key(ticket::PURPOSE).ok()?)?;
        let entry = self.0.tasks.of(&id);
        let mut known = entry.known.lock().await;
        if let Some(outcome) = self.look(&ticket, &mut known, context).await {
            return Some(Outcome::Ended(outcome));
        }

        let task = shown(&id, &ticket, &known, &**clock);

        Some(Outcome::Task(Box::new(CreateTaskResult::new(task))))
    }

    /// The task as it is now.
    pub(super) async fn task(
        &self,
        id: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let ticket = self.ticket(id)?;
        let entry = self.0.tasks.of(id);
        // Who asks twice at once waits for the one look.
        let mut known = entry.known.lock().await;
        let clock = self.0.gateway().clock();
        let pause = ticket.interval(clock.date()) / 2;

        if known.end.is_none()
            && known.is_due(clock.now(), pause)
            && let Some(outcome) =
                entry.given_up.run_until_cancelled(self.look(&ticket, &mut known, context)).await.flatten()
        {
            known.end = Some(self.payload(outcome));
        }

        if entry.given_up.is_cancelled() {
            self.give_up(id, &ticket, &mut known);
        }

        let payload = known.end.clone().unwrap_or(TaskPayload::Working);
        let task = shown(id, &ticket, &known, &**clock);
        let mut result = GetTaskResult::new(DetailedTask::new(task, payload));

        if is_modern(context) {
            stamp(&mut result.meta);
        }

        Ok(result)
    }

    /// Ends the watching. A task that has ended stays as it is.
    pub(super) async fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let ticket = self.ticket(id)?;
        let entry = self.0.tasks.of(id);
        // A look under way lets go of what is known.
        entry.given_up.cancel();
        self.give_up(id, &ticket, &mut *entry.known.lock().await);
        Ok(())
    }

    fn give_up(&self, id: &str, ticket: &Ticket, known: &mut Known) {
        if known.end.is_none() {
            let now = self.0.gateway().clock().date();
            self.0.tasks.cancel(id, now, ticket.expires());
            *known = Known::cancelled(now);
        }
    }

    /// Takes answers to questions. A wait never asks any, and answers to none are passed over (SEP-2663).
    pub(super) fn acknowledge(&self, id: &str) -> Result<(), ErrorData> {
        self.ticket(id).map(drop)
    }

    /// What an id says.
    fn ticket(&self, id: &str) -> Result<Ticket, ErrorData> {
        let clock = self.0.gateway().clock();
        let key = self.0.gateway().derived_key(ticket::PURPOSE).ok();
        let ticket = key.and_then(|key| Ticket::open(id, &key)).filter(|ticket| ticket.lasts(clock.date()));
        ticket.ok_or_else(|| {
            ErrorData::invalid_params("unknown task: the id is changed, expired or of another API key", None)
        })
    }

    /// Looks once; the outcome where that is the end of the task.
    async fn look(
        &self,
        ticket: &Ticket,
        known: &mut Known,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<Reply, Failure>> {
        let clock = self.0.gateway().clock();
        let told = Arc::new(Told::default());
        let outcome = self.looked(ticket, &told, context).await;
        if outcome.as_ref().is_err_and(|failure| failure.code == Code::Cancelled) {
            return None;
        }

        known.looked = Some(clock.now());
        known.updated = Some(clock.date());
        known.polls += 1;

        let told = told.last();
        // The last look is due when the time is over, as in a call.
        let left = ticket.timeout().saturating_sub(ticket.elapsed(clock.date()));
        known.rests_until = Some(clock.now() + told.rest.min(left));

        let is_late = ticket.elapsed(clock.date()) >= ticket.timeout();
        match outcome {
            Ok(reply) => {
                (known.troubles, known.failing_since) = (0, None);
                known.told = told.words;
                let is_over = reply.value().get("status").is_none_or(|status| status == "completed");
                (is_over || is_late).then(|| Ok(as_waited(&reply, ticket, known, clock.date())))
            }
            Err(failure) => {
                known.troubles += 1;
                let first = *known.failing_since.get_or_insert(clock.now());
                let is_lasting = is_lasting(known.troubles, clock.now().saturating_sub(first));
                let goes_on = failure.is_passing() && !is_lasting && !is_late;
                known.told = Some(format!("the last look failed: {failure}"));
                (!goes_on).then_some(Err(failure))
            }
        }
    }

    /// What the tool answers when it looks once.
    async fn looked(
        &self,
        ticket: &Ticket,
        told: &Arc<Told>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Failure> {
        let tool = self
            .offered(WaitForCompletion::NAME)
            .map_err(|error| Failure::new(Code::NotFound, error.message))?;
        let leaving = self.0.stopping.clone();
        let audience =
            CallerContext { watcher: Arc::<Told>::clone(told), patience: Some(Duration::ZERO), leaving };
        let started = Instant::now();
        let cancelled = || Failure::new(Code::Cancelled, "the look was cancelled");
        let outcome = tokio::select! {
            outcome = self.0.dispatcher.call_tool(tool, with_status(ticket.arguments().clone()), audience) => outcome,
            () = context.ct.cancelled() => Err(cancelled()),
            () = self.0.stopping.cancelled() => Err(cancelled()),
        };

        log(&tool, &outcome, started);

        outcome
    }

    /// The end of a task: what the call would have answered. Failures of tools are results too (SEP-2663).
    fn payload(&self, outcome: Result<Reply, Failure>) -> TaskPayload {
        let result = match outcome {
            Ok(reply) => success(reply, self.0.max_reply_chars, &WAIT_FOR_COMPLETION),
            Err(failure) => CallToolResult::error(vec![ContentBlock::text(failure.to_json())]),
        };
        match serde_json::to_value(result) {
            Ok(Value::Object(result)) => TaskPayload::Completed { result },
            _ => TaskPayload::Completed { result: Fields::new() },
        }
    }
}

/// What hosts see of a task.
fn shown(id: &str, ticket: &Ticket, known: &Known, clock: &dyn Clock) -> Task {
    let created = ticket.started();
    let updated = known.updated.unwrap_or(created);
    let milliseconds = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let rest = known.rests_until.unwrap_or_default().saturating_sub(clock.now());
    let interval = ticket.interval(clock.date()).max(rest);
    let task = Task::new(id, TaskStatus::Working, created.to_string(), updated.to_string())
        .with_ttl_ms(milliseconds(ticket.lifetime()))
        .with_poll_interval_ms(milliseconds(interval));

    match &known.told {
        Some(told) => task.with_status_message(told),
        None => task,
    }
}

/// The answer of a look as that of the whole wait.
fn as_waited(reply: &Reply, ticket: &Ticket, known: &Known, now: Timestamp) -> Reply {
    let mut value = reply.value().clone();
    let seconds = (ticket.elapsed(now).as_secs_f64() * 10.0).round() / 10.0;

    for (name, told) in [("elapsed_seconds", json!(seconds)), ("polls", json!(known.polls))] {
        if let Some(shown) = value.get_mut(name) {
            *shown = told;
        }
    }

    Reply::from_value(value)
}

/// Whoever selects fields gets the one by which the end is known, too.
fn with_status(mut arguments: Fields) -> Fields {
    match arguments.get_mut(FIELDS) {
        Some(Value::String(names)) if names.trim_start().starts_with('[') => {
            if let Ok(Value::Array(mut list)) = serde_json::from_str(names) {
                list.push(json!("status"));
                *names = Value::Array(list).to_string();
            }
        }
        Some(Value::String(names)) => names.push_str(",status"),
        Some(Value::Array(names)) => names.push(json!("status")),
        _ => {}
    }
    arguments
}
