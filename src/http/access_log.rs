//! One log line for each request, with the code of a failure or the reason of a refusal, one more for each call that writes, the
//! numbers of the request in the metrics, and its span if spans are sent.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Request, StatusCode};
use serde_json::json;
use tokio::time::Instant;
use tower_http::request_id::RequestId;
use tracing::Level;

#[cfg(feature = "otlp")]
use super::traces::RequestSpan;
use super::{
    metrics::{Metrics, OperationLabels},
    refusal::Exceeded,
    tenants::Tenant,
};
use crate::{
    client::KEY_PREFIX,
    failure::Code,
    text::shorten_line,
    tools::composite::{CompositeTool as _, WaitForCompletion},
};

/// Target of the lines of requests. The log filter `access=off` switches them off.
pub const ACCESS_TARGET: &str = "access";

/// Longest path, reason or name in a line, in characters. A client may send any.
const MAX_TEXT_LENGTH: usize = 200;

/// The line of one request. The parts of the server that serve the request share it, until one of them takes it.
#[derive(Clone, Debug)]
pub(super) struct AccessLine {
    id: Arc<str>,
    entry: Arc<Mutex<Option<AccessEntry>>>,
}

impl AccessLine {
    pub(super) fn new<B>(metrics: Arc<Metrics>, client: IpAddr, request: &Request<B>) -> Self {
        let id = request.extensions().get::<RequestId>().and_then(|id| id.header_value().to_str().ok());
        let id = id.unwrap_or_default();

        let entry = AccessEntry {
            metrics,
            started: Instant::now(),
            client,
            id: id.to_owned(),
            path: without_keys(request.uri().path()),
            is_identified: false,
            credential: String::new(),
            subject: String::new(),
            project: String::new(),
            operation: Operation::default(),
        };

        Self { id: id.into(), entry: Arc::new(Mutex::new(Some(entry))) }
    }

    /// Returns the id of the request, which its response has too.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Adds the credential, and the project of the endpoint.
    pub(super) fn identify(&self, tenant: &Tenant, project: Option<&str>) {
        if let Some(entry) = &mut *self.lock() {
            entry.is_identified = true;
            entry.credential = tenant.log_name();
            entry.subject = shorten_line(tenant.subject(), MAX_TEXT_LENGTH);
            entry.project = without_keys(project.unwrap_or_default());
        }
    }

    /// Adds what the message asks for.
    pub(super) fn describe(&self, operation: Operation) {
        if let Some(entry) = &mut *self.lock() {
            entry.operation = operation;
        }
    }

    /// Takes the line, to write it when the request has ended.
    pub(super) fn take(&self) -> Option<AccessEntry> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<AccessEntry>> {
        self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a message asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operation {
    /// Method of the protocol, or `other`.
    pub(super) method: &'static str,
    /// Name of a tool of the list; empty for other methods and unknown tools.
    pub(super) tool: &'static str,
    /// Name of a prompt of the list.
    #[cfg_attr(not(feature = "otlp"), expect(dead_code, reason = "only spans contain it"))]
    pub(super) prompt: Option<&'static str>,
}

impl Operation {
    /// Returns whether the operation waits for changes of runs.
    pub(super) fn is_wait(self) -> bool {
        self.tool == WaitForCompletion::NAME
    }
}

/// How a method has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It has a result.
    Success,
    /// A user is asked, who has to agree to the call.
    Asked,
    /// A tool has failed, with this code if it is known.
    ToolFailure(Option<Code>),
    /// The request has failed with this code of JSON-RPC.
    ProtocolError(i32),
}

impl Ending {
    /// Returns the code of a failure; empty after a success.
    fn code(self) -> String {
        match self {
            Self::Success | Self::Asked => String::new(),
            Self::ToolFailure(None) => TOOL_ERROR.to_owned(),
            Self::ToolFailure(Some(code)) => json!(code).as_str().unwrap_or(TOOL_ERROR).to_owned(),
            Self::ProtocolError(code) => code.to_string(),
        }
    }

    /// Returns the kind of the failure, as `OpenTelemetry` names it for MCP; empty after a success.
    fn error_type(self) -> String {
        if matches!(self, Self::ToolFailure(_)) { TOOL_ERROR.to_owned() } else { self.code() }
    }

    /// A failure of the service or of this server, and a client that sends too much, concern the operator.
    fn level(self) -> Level {
        use Code::{
            BadResponse, NotConfigured, OutcomeUnknown, QuotaExceeded, RateLimited, ServiceUnavailable,
            Timeout,
        };
        match self {
            Self::ToolFailure(Some(
                BadResponse | NotConfigured | OutcomeUnknown | QuotaExceeded | RateLimited
                | ServiceUnavailable | Timeout,
            )) => Level::WARN,
            Self::ProtocolError(INTERNAL_ERROR) => Level::ERROR,
            _ => Level::INFO,
        }
    }
}

/// Kind of the failure of a tool (`OpenTelemetry`, semantic conventions for MCP).
const TOOL_ERROR: &str = "tool_error";

/// Code of JSON-RPC for a fault of the server.
const INTERNAL_ERROR: i32 = -32603;

/// A request that is being served.
#[derive(Debug)]
pub(super) struct AccessEntry {
    metrics: Arc<Metrics>,
    started: Instant,
    client: IpAddr,
    id: String,
    path: String,
    is_identified: bool,
    credential: String,
    subject: String,
    project: String,
    operation: Operation,
}

impl AccessEntry {
    /// Logs a request that a method has answered.
    pub(super) fn log_end(self, ending: Ending, #[cfg(feature = "otlp")] span: Option<RequestSpan>) {
        let duration = self.started.elapsed();
        self.log(StatusCode::OK, ending.level(), &ending.code(), "", duration);

        let Operation { method, tool, .. } = self.operation;
        let labels = OperationLabels {
            mcp_method_name: method,
            gen_ai_tool_name: tool,
            error_type: ending.error_type(),
        };
        self.metrics.record(&labels, &ending.code(), duration);
        #[cfg(feature = "otlp")]
        if let Some(span) = span {
            span.end(&labels, self.operation.prompt, self.client, duration);
        }
    }

    /// Logs a request that exceeds a limit of its caller, or of all. Its method has not run, and the response has this status.
    pub(super) fn log_limit(self, exceeded: Exceeded, status: StatusCode) {
        self.metrics.record_refusal(exceeded.status().as_u16());
        let code = Ending::ToolFailure(Some(Code::RateLimited)).code();
        self.metrics.record_failure(&code);
        self.log(status, Level::WARN, &code, exceeded.message(), self.started.elapsed());
    }

    /// Returns whether the caller of the request is known, so that its limits apply.
    pub(super) fn is_identified(&self) -> bool {
        self.is_identified
    }

    /// Logs a request that no method has answered: a refused one, with the reason, or one without an answer of its own.
    pub(super) fn log_response(self, status: StatusCode, reason: &str) {
        let level = match status {
            StatusCode::INTERNAL_SERVER_ERROR => Level::ERROR,
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => Level::WARN,
            _ => Level::INFO,
        };
        if status.is_client_error() || status.is_server_error() {
            self.metrics.record_refusal(status.as_u16());
        }
        self.log(status, level, "", &without_keys(reason), self.started.elapsed());
    }

    fn log(&self, status: StatusCode, level: Level, error: &str, reason: &str, duration: Duration) {
        let Self { client, id, path, credential, subject, project, operation, .. } = self;
        let Operation { method, tool, .. } = operation;
        let status = status.as_u16();
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);

        macro_rules! write_line {
            ($level:expr) => {
                tracing::event!(target: ACCESS_TARGET, $level, %client, id, credential, subject, path, project, method, tool, status, error, reason, duration_ms)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_client_is_logged_without_keys() {
        for (text, expected) in [
            ("/mcp/demo", "/mcp/demo"),
            ("/mcp/svc_secret-1.x/readonly", "/mcp/[key]/readonly"),
            ("`svc_a` and svc_b", "`[key]` and [key]"),
            ("a\nb", "a b"),
        ] {
            assert_eq!(without_keys(text), expected);
        }
    }
}
