//! One log line for each request, its numbers in the metrics, and its span if spans are sent.

use std::{net::IpAddr, sync::Arc, time::Duration};

use http::StatusCode;
#[cfg(feature = "otlp")]
use rmcp::model::JsonRpcRequest;
use rmcp::model::{CallToolResult, ClientRequest, ErrorData, ServerResult};
use tokio::time::Instant;

#[cfg(feature = "otlp")]
use super::traces::{RequestSpan, Traces};
use super::{
    metrics::{Metrics, OperationLabels},
    tenants::Tenant,
};
use crate::{mcp, tools::catalog};

/// Target of the lines. The log filter `access=off` switches them off.
pub const ACCESS_TARGET: &str = "access";

/// A request that is being served.
#[derive(Debug)]
pub(super) struct AccessEntry {
    metrics: Arc<Metrics>,
    started: Instant,
    /// Address of the client.
    pub(super) client: IpAddr,
    credential: String,
    subject: String,
    project: String,
    method: &'static str,
    tool: &'static str,
    /// The span of the request, if spans are sent.
    #[cfg(feature = "otlp")]
    span: Option<RequestSpan>,
}

impl AccessEntry {
    pub(super) fn new(metrics: Arc<Metrics>, client: IpAddr) -> Self {
        let (credential, subject, project) = Default::default();
        Self {
            metrics,
            started: Instant::now(),
            client,
            credential,
            subject,
            project,
            method: "",
            tool: "",
            #[cfg(feature = "otlp")]
            span: None,
        }
    }

    /// Adds the credential, and the project of the endpoint.
    pub(super) fn identify(&mut self, tenant: &Tenant, project: Option<&str>) {
        self.credential = tenant.log_name();
        tenant.subject().clone_into(&mut self.subject);
        project.unwrap_or_default().clone_into(&mut self.project);
    }

    /// Adds the method and the tool of the message.
    pub(super) fn describe(&mut self, request: &ClientRequest) {
        self.method = mcp::known_method(request.method()).unwrap_or("other");
        if let ClientRequest::CallToolRequest(call) = request {
            self.tool = catalog::find_tool(&call.params.name).map_or("", |tool| tool.tool().name);
        }
    }

    /// Begins the span of the message.
    #[cfg(feature = "otlp")]
    pub(super) fn begin_span(
        &mut self,
        traces: Option<&Traces>,
        parts: &http::request::Parts,
        request: &JsonRpcRequest<ClientRequest>,
    ) {
        self.span = traces.map(|traces| traces.begin(parts, request));
    }

    /// Logs a request that a method has answered.
    pub(super) fn log_end(self, outcome: &Result<ServerResult, ErrorData>) {
        let error = error_type(outcome);
        let duration = self.started.elapsed();
        let labels = OperationLabels {
            mcp_method_name: self.method,
            gen_ai_tool_name: self.tool,
            error_type: error.clone(),
        };
        self.metrics.record(&labels, duration);
        self.log(200, &error, duration);

        #[cfg(feature = "otlp")]
        if let Some(span) = self.span {
            span.end(&labels, self.client, duration);
        }
    }

    /// Logs a request that no method has answered.
    pub(super) fn log_refusal(self, status: StatusCode) {
        self.metrics.record_refusal(status.as_u16());
        self.log(status.as_u16(), "", self.started.elapsed());
    }

    fn log(&self, status: u16, error: &str, duration: Duration) {
        let Self { client, credential, subject, project, method, tool, .. } = self;
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(target: ACCESS_TARGET, %client, credential, subject, project, method, tool, status, error, duration_ms);
    }
}

/// Returns the kind of a failure, as `OpenTelemetry` names it for MCP; empty after a success.
fn error_type(outcome: &Result<ServerResult, ErrorData>) -> String {
    match outcome {
        Ok(ServerResult::CallToolResult(CallToolResult { is_error: Some(true), .. })) => {
            "tool_error".to_owned()
        }
        Ok(_) => String::new(),
        Err(error) => error.code.0.to_string(),
    }
}
