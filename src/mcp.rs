//! The MCP server: every offered operation as a tool, in every protocol revision that the library knows.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResult, ContentBlock, CreateTaskResult, Implementation,
        InputRequiredResult, MetaObject, ProtocolVersion, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

mod completion;
mod confirmation;
mod guarded;
mod handler;
mod instructions;
pub mod line;
mod progress;
mod prompts;
mod resources;
mod stdio;
mod tasks;
mod tool;
mod view;

pub use stdio::serve as serve_stdio;
pub use tool::published as published_tool;

use self::{
    completion::Completion,
    confirmation::{Asked, Confirmation, Repeated},
};
use crate::{
    call::{
        gateway::Gateway,
        reply::{self, Reply},
    },
    failure::{Code, Failure},
    fields::Fields,
    service::{tool as described, tool::CONFIRM},
    settings::Settings,
    tools::{
        caller::CallerContext,
        catalog::{self, ToolEntry},
        dispatcher::Dispatcher,
        selection::Selection,
    },
};

/// How long hosts may keep the list of tools and the description of the server, which never change while it runs.
const CACHE_MS: u64 = 3_600_000;

/// The server; cheap to clone.
#[derive(Clone, Debug)]
pub struct Server(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    dispatcher: Dispatcher,
    selection: Selection,
    project: Option<String>,
    instructions: String,
    /// Longest reply, in characters.
    max_reply_chars: usize,
    tools: OnceLock<Vec<Tool>>,
    confirmation: Confirmation,
    completion: Completion,
    tasks: tasks::Memory,
    /// How long a call waits for work that goes on by itself.
    patience: Duration,
    /// Ends every call under way: the host has gone, or we are told to stop.
    stopping: CancellationToken,
}

impl Inner {
    fn gateway(&self) -> &Gateway {
        self.dispatcher.gateway()
    }
}

impl Server {
    /// Creates a server with these settings.
    pub fn from_settings(settings: &Settings) -> Self {
        Self::new(Dispatcher::new(settings.tools_config()), settings)
    }

    /// Creates a server that calls tools through `dispatcher`, with these settings.
    pub fn new(dispatcher: Dispatcher, settings: &Settings) -> Self {
        let selection = settings.selection();
        if let Some(problem) = dispatcher.gateway().settings_failure() {
            tracing::warn!("{problem}");
        }

        let instructions = instructions::text(&selection, settings.project());

        Self(Arc::new(Inner {
            dispatcher,
            selection,
            project: settings.project().map(str::to_owned),
            instructions,
            max_reply_chars: settings.max_reply_chars(),
            tools: OnceLock::new(),
            confirmation: Confirmation::new(),
            completion: Completion::default(),
            tasks: tasks::Memory::default(),
            patience: settings.upload_timing().wait_limit,
            stopping: CancellationToken::new(),
        }))
    }

    /// Returns the token whose cancellation ends every call in progress.
    pub fn shutdown_token(&self) -> &CancellationToken {
        &self.0.stopping
    }

    /// When the session has ended: frees what would be left behind at the service.
    async fn farewell(&self) {
        if let Ok(files) = self.0.dispatcher.files() {
            files.uploads.leave().await;
        }
    }

    fn tools(&self) -> &[Tool] {
        let published = |entry: ToolEntry| tool::published(entry.tool(), self.0.project.is_none());
        self.0.tools.get_or_init(|| self.0.selection.tools().map(published).collect())
    }

    fn offered(&self, name: &str) -> Result<ToolEntry, ErrorData> {
        let tool = catalog::find_tool(name).ok_or_else(|| {
            let nearest = catalog::nearest_name(name).map(|nearest| format!("; did you mean `{nearest}`?"));
            unknown_tool(name, &nearest.unwrap_or_default())
        })?;
        if self.0.selection.offers(&tool) {
            Ok(tool)
        } else {
            Err(ErrorData::invalid_params(self.0.selection.refusal(&tool), None))
        }
    }

    /// Calls a tool; where a person has to agree first, asks.
    async fn call_or_ask(
        &self,
        tool: ToolEntry,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let mut arguments = request.arguments.unwrap_or_default();
        if let Some(outcome) = self.begun(tool, &arguments, context).await {
            return outcome;
        }
        if tool.confirmation_question.is_none() {
            return Outcome::Ended(self.call(tool, arguments, context).await);
        }

        let asked_about = arguments.clone();
        let outcome = self.call(tool, asked_about, context).await;
        let Err(failure) = outcome else { return Outcome::Ended(outcome) };
        if failure.code != Code::ConfirmationRequired {
            return Outcome::Ended(Err(failure));
        }

        let call = format!("{}:{}", tool.name, json!(arguments));
        let repeated = Repeated { state: request.request_state, answers: request.input_responses };
        let now = self.0.gateway().clock().now();

        match self.0.confirmation.ask(&call, &failure, repeated, now, context).await {
            Asked::Yes => {
                arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
                Outcome::Ended(self.call(tool, arguments, context).await)
            }
            Asked::No(why) => Outcome::Ended(Err(why.told(failure))),
            Asked::Later(question) => Outcome::Asks(question),
            Asked::NotPossible => Outcome::Ended(Err(failure)),
        }
    }

    async fn call(
        &self,
        tool: ToolEntry,
        arguments: Fields,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Failure> {
        let stopped = |why: &str| {
            let failure = Failure::new(Code::Cancelled, format!("{}: {why}", tool.name));
            match tool.recovery_hint {
                Some(advice) => failure.in_doubt(format!("it may have happened: {advice}")),
                None => failure,
            }
        };

        let started = Instant::now();
        let (watcher, telling) = progress::of(context);
        let (patience, leaving) = (Some(self.0.patience), self.0.stopping.clone());
        let audience = CallerContext { watcher: Arc::new(watcher), patience, leaving };
        let outcome = tokio::select! {
            outcome = telling.until(self.0.dispatcher.call_tool(tool, arguments, audience)) => outcome,
            () = context.ct.cancelled() => Err(stopped("cancelled by the caller")),
            () = self.0.stopping.cancelled() => Err(stopped("the server is stopping")),
        };

        log(tool.tool(), &outcome, started);

        outcome
    }
}

/// How a call ends for now.
enum Outcome {
    Ended(Result<Reply, Failure>),
    /// A person is asked first.
    Asks(Box<InputRequiredResult>),
    /// It goes on as a task.
    Task(Box<CreateTaskResult>),
}

/// The one place where the outcome of a call is logged.
fn log(tool: &described::Tool, outcome: &Result<Reply, Failure>, started: Instant) {
    let (tool, duration_ms) = (tool.name, started.elapsed().as_millis());
    if let Err(failure) = outcome {
        tracing::info!(tool, duration_ms, code = ?failure.code, status = failure.status, "{failure}");
    } else {
        tracing::info!(tool, duration_ms, "call answered");
    }
}

fn unknown_tool(name: &str, more: &str) -> ErrorData {
    const LONGEST_NAME: usize = 80;
    let name: String = name.chars().take(LONGEST_NAME).collect();
    ErrorData::invalid_params(format!("unknown tool `{name}`{more}"), None)
}

/// The same in structure and in text: hosts show one of the two. Pictures follow, and are no part of the limit.
fn success(reply: Reply, max_reply_chars: usize, tool: &described::Tool) -> CallToolResult {
    let image = |picture| ContentBlock::image(reply::base64(picture), picture.mime_type);
    let images: Vec<_> = reply.pictures().iter().map(image).collect();
    let (value, text) = reply.into_limited(max_reply_chars, reply::ReplySource::Call(tool));
    let mut result =
        CallToolResult::success(std::iter::once(ContentBlock::text(text)).chain(images).collect());

    result.structured_content = Some(value);

    result
}

fn implementation() -> Implementation {
    Implementation::new("tas-mcp", env!("CARGO_PKG_VERSION")).with_title("Test Automation Service")
}

/// Whether the request speaks a revision without `initialize`.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Names the server in a result, as the revision asks for.
fn stamp(meta: &mut Option<MetaObject>) {
    if let Ok(info) = serde_json::to_value(implementation()) {
        meta.get_or_insert_default().0.insert("io.modelcontextprotocol/serverInfo".to_owned(), info);
    }
}
