//! One log line for each request, with the code of a failure or the reason of a refusal, and the numbers of the request in the
//! metrics.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::http::{HeaderValue, StatusCode};
use serde_json::json;
use tokio::time::Instant;
use tracing::Level;

use super::{credentials::Credential, limits::Kind, metrics::Metrics};
use crate::{client::KEY_PREFIX, failure::Code, text::shorten_line};

/// Target of the lines of requests. The log filter `access=off` switches them off.
pub const ACCESS_TARGET: &str = "access";

/// Longest path, reason or name in a line, in characters. A client may send any.
const MAX_TEXT_LENGTH: usize = 200;

/// Code of JSON-RPC for a fault of the server.
const INTERNAL_ERROR: &str = "-32603";

/// Codes of failures of the service or of this server, and of a client that sends too much: they concern the operator.
const CODES_FOR_OPERATORS: [&str; 7] = [
    "bad_response",
    "not_configured",
    "outcome_unknown",
    "quota_exceeded",
    "rate_limited",
    "service_unavailable",
    "timeout",
];

/// Kind of the failure of a tool (`OpenTelemetry`, semantic conventions for MCP).
const TOOL_ERROR: &str = "tool_error";

/// The line of one request. The parts of the server that serve the request share it, until one of them takes it.
#[derive(Clone, Debug)]
pub(super) struct AccessLine {
    pub(super) client: IpAddr,
    /// The id of the request, which its response has too.
    pub(super) id: Arc<str>,
    entry: Arc<Mutex<Option<AccessEntry>>>,
}

/// A request that is being served.
#[derive(Debug)]
pub(super) struct AccessEntry {
    metrics: Arc<Metrics>,
    started: Instant,
    path: String,
    /// Whether the caller of the request is known, so that its limits apply.
    pub(super) is_identified: bool,
    credential: String,
    subject: String,
    project: String,
    operation: Operation,
}

/// What a message asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    /// Method of the protocol, or `other`.
    pub(super) method: &'static str,
    /// Name of a tool of the list; empty for other methods and unknown tools.
    pub(super) tool: &'static str,
    /// The place that it takes beside that of a request.
    pub(super) further_place: Option<Kind>,
}

/// How a method has ended. Both texts are empty after a success.
#[derive(Clone, Debug, Default)]
pub(super) struct Ending {
    /// Code of the failure of a tool or of JSON-RPC, or `asked` if a user has to agree to the call.
    pub(super) code: String,
    /// Kind of the failure, as `OpenTelemetry` names it for MCP.
    pub(super) error_type: String,
}

impl Ending {
    pub(super) fn of_tool(code: Option<Code>) -> Self {
        let code = json!(code).as_str().unwrap_or(TOOL_ERROR).to_owned();
        Self { code, error_type: TOOL_ERROR.to_owned() }
    }
}

impl AccessLine {
    pub(super) fn new(metrics: Arc<Metrics>, client: IpAddr, id: &HeaderValue, path: &str) -> Self {
        let id = without_keys(id.to_str().unwrap_or_default()).into();
        let entry = AccessEntry {
            metrics,
            started: Instant::now(),
            path: without_keys(path),
            is_identified: false,
            credential: String::new(),
            subject: String::new(),
            project: String::new(),
            operation: Operation::default(),
        };
        Self { client, id, entry: Arc::new(Mutex::new(Some(entry))) }
    }

    pub(super) fn identify(&self, credential: &Credential, project: Option<&str>) {
        if let Some(entry) = &mut *self.lock() {
            entry.is_identified = true;
            entry.credential = credential.log_name();
            entry.subject = shorten_line(&credential.subject, MAX_TEXT_LENGTH);
            entry.project = without_keys(project.unwrap_or_default());
        }
    }

    pub(super) fn describe(&self, operation: Operation) {
        if let Some(entry) = &mut *self.lock() {
            entry.operation = operation;
        }
    }

    /// Takes the line, to write it when the request has ended.
    pub(super) fn take(&self) -> Option<AccessEntry> {
        self.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<AccessEntry>> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AccessEntry {
    /// Logs a request that a method has answered.
    pub(super) fn log_end(self, line: &AccessLine, ending: &Ending) {
        let level = match ending.code.as_str() {
            INTERNAL_ERROR => Level::ERROR,
            code if CODES_FOR_OPERATORS.contains(&code) => Level::WARN,
            _ => Level::INFO,
        };
        self.metrics.record(self.operation, ending, self.started.elapsed());
        self.log(line, StatusCode::OK, level, &ending.code, "");
    }

    /// Logs a request that no method has answered: a refused one, with the reason, or one without an answer of its own.
    pub(super) fn log_response(self, line: &AccessLine, status: StatusCode, reason: &str) {
        let level = match status {
            StatusCode::INTERNAL_SERVER_ERROR => Level::ERROR,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Level::WARN,
            _ => Level::INFO,
        };
        if status.is_client_error() || status.is_server_error() {
            self.metrics.record_refusal(status.as_u16());
        }
        self.log(line, status, level, "", &without_keys(reason));
    }

    fn log(self, line: &AccessLine, status: StatusCode, level: Level, error: &str, reason: &str) {
        let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let AccessLine { client, id, .. } = line;
        let Self { path, credential, subject, project, operation: Operation { method, tool, .. }, .. } = self;
        let status = status.as_u16();

        macro_rules! write_line {
            ($level:expr) => {
                tracing::event!(target: ACCESS_TARGET, $level, %client, id = &**id, credential, subject, path, project, method, tool, status, error, reason, duration_ms)
            };
        }

        match level {
            Level::ERROR => write_line!(Level::ERROR),
            Level::WARN => write_line!(Level::WARN),
            _ => write_line!(Level::INFO),
        }
    }
}

/// Returns the beginning of a text of a client, in one line and without what looks like an API key.
fn without_keys(text: &str) -> String {
    let line = shorten_line(text, MAX_TEXT_LENGTH);
    let mut parts = line.split(KEY_PREFIX);
    let start = parts.next().unwrap_or_default().to_owned();
    let is_of_key = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
    parts.fold(start, |text, part| text + "[key]" + part.trim_start_matches(is_of_key))
}
