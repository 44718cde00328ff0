//! One log line for each request, its numbers in the metrics, and its span if spans are sent.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{HeaderValue, StatusCode};
use tokio::time::Instant;

#[cfg(feature = "otlp")]
use super::traces::RequestSpan;
use super::{
    metrics::{Metrics, OperationLabels},
    tenants::Tenant,
};
use crate::text::shorten_line;

/// Target of the lines. The log filter `access=off` switches them off.
pub const ACCESS_TARGET: &str = "access";

/// Longest request id in a line, in characters. A client may send any.
const MAX_ID_LENGTH: usize = 80;

/// The line of one request. The parts of the server that serve the request share it, until one of them takes it.
#[derive(Clone, Debug)]
pub(super) struct AccessLine(Arc<Mutex<Option<AccessEntry>>>);

impl AccessLine {
    pub(super) fn new(metrics: Arc<Metrics>, client: IpAddr, id: Option<&HeaderValue>) -> Self {
        let id = id.and_then(|id| id.to_str().ok()).map(|id| shorten_line(id, MAX_ID_LENGTH));
        Self(Arc::new(Mutex::new(Some(AccessEntry {
            metrics,
            started: Instant::now(),
            client,
            id: id.unwrap_or_default(),
            is_identified: false,
            credential: String::new(),
            subject: String::new(),
            project: String::new(),
            operation: Operation::default(),
        }))))
    }

    /// Adds the credential, and the project of the endpoint.
    pub(super) fn identify(&self, tenant: &Tenant, project: Option<&str>) {
        if let Some(entry) = &mut *self.lock() {
            entry.is_identified = true;
            entry.credential = tenant.log_name();
            tenant.subject().clone_into(&mut entry.subject);
            project.unwrap_or_default().clone_into(&mut entry.project);
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A request that is being served.
#[derive(Debug)]
pub(super) struct AccessEntry {
    metrics: Arc<Metrics>,
    started: Instant,
    client: IpAddr,
    id: String,
    is_identified: bool,
    credential: String,
    subject: String,
    project: String,
    operation: Operation,
}

impl AccessEntry {
    /// Logs a request that a method has answered. `error` is the kind of its failure, as `OpenTelemetry` names it for MCP, and
    /// empty after a success.
    pub(super) fn log_end(self, error: String, #[cfg(feature = "otlp")] span: Option<RequestSpan>) {
        let duration = self.started.elapsed();
        self.log(StatusCode::OK, &error, duration);

        let Operation { method, tool, .. } = self.operation;
        let labels = OperationLabels { mcp_method_name: method, gen_ai_tool_name: tool, error_type: error };
        self.metrics.record(&labels, duration);
        #[cfg(feature = "otlp")]
        if let Some(span) = span {
            span.end(&labels, self.operation.prompt, self.client, duration);
        }
    }

    /// Returns whether the caller of the request is known, so that its limits apply.
    pub(super) fn is_identified(&self) -> bool {
        self.is_identified
    }

    /// Logs a request that no method has answered.
    pub(super) fn log_refusal(self, status: StatusCode) {
        self.metrics.record_refusal(status.as_u16());
        self.log(status, "", self.started.elapsed());
    }

    fn log(&self, status: StatusCode, error: &str, duration: Duration) {
        let Self {
            client, id, credential, subject, project, operation: Operation { method, tool, .. }, ..
        } = self;
        let status = status.as_u16();
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(target: ACCESS_TARGET, %client, id, credential, subject, project, method, tool, status, error, duration_ms);
    }
}
