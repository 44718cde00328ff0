//! The span of one request.

use std::{
    net::IpAddr,
    time::{Duration, SystemTime},
};

use http::{Version, request::Parts};
use opentelemetry::{
    KeyValue,
    trace::{Span as _, SpanBuilder, SpanKind, Status},
};
use opentelemetry_sdk::trace::SdkTracer;
use rmcp::model::{ClientRequest, GetMeta as _, JsonRpcRequest, ProtocolVersion};

use super::parent::Parent;
use crate::{http::metrics::OperationLabels, mcp, text::shorten_name};

/// A span that has begun. It is sent when it ends.
#[derive(Debug)]
pub(in crate::http) struct RequestSpan {
    tracer: SdkTracer,
    parent: Parent,
    prompt: Option<&'static str>,
    attributes: Vec<KeyValue>,
}

impl RequestSpan {
    pub(super) fn new(
        tracer: SdkTracer,
        parent: Parent,
        parts: &Parts,
        request: &JsonRpcRequest<ClientRequest>,
    ) -> Self {
        let protocol = if parts.version == Version::HTTP_10 { "1.0" } else { "1.1" };
        let mut attributes = vec![
            // A client may choose an id of any length.
            KeyValue::new("jsonrpc.request.id", shorten_name(&request.id.to_string())),
            KeyValue::new("network.transport", "tcp"),
            KeyValue::new("network.protocol.name", "http"),
            KeyValue::new("network.protocol.version", protocol),
        ];
        attributes.extend(
            revision(parts, &request.request).map(|revision| KeyValue::new("mcp.protocol.version", revision)),
        );

        Self { tracer, parent, prompt: prompt(&request.request), attributes }
    }

    /// Ends the span of an operation that took `duration`.
    pub(in crate::http) fn end(self, operation: &OperationLabels, client: IpAddr, duration: Duration) {
        let Self { tracer, parent, prompt, mut attributes } = self;
        let method = operation.mcp_method_name;
        let tool = Some(operation.gen_ai_tool_name).filter(|tool| !tool.is_empty());
        let name = tool.or(prompt).map_or(method.to_owned(), |target| format!("{method} {target}"));
        let error = Some(operation.error_type.clone()).filter(|error| !error.is_empty());

        attributes.push(KeyValue::new("mcp.method.name", method));
        attributes.push(KeyValue::new("client.address", client.to_string()));
        attributes.extend(tool.map(|tool| KeyValue::new("gen_ai.tool.name", tool)));
        attributes.extend(prompt.map(|prompt| KeyValue::new("gen_ai.prompt.name", prompt)));
        attributes.extend(tool.map(|_| KeyValue::new("gen_ai.operation.name", "execute_tool")));
        let code = error.clone().filter(|error| error.parse::<i32>().is_ok());
        attributes.extend(code.map(|code| KeyValue::new("rpc.response.status_code", code)));
        attributes.extend(error.clone().map(|error| KeyValue::new("error.type", error)));

        let end = SystemTime::now();
        let mut span = SpanBuilder::from_name(name)
            .with_kind(SpanKind::Server)
            .with_start_time(end.checked_sub(duration).unwrap_or(end))
            .with_attributes(attributes)
            .with_links(parent.links)
            .start_with_context(&tracer, &parent.context);
        if error.is_some() {
            // The message of an error may repeat an argument, and is left out.
            span.set_status(Status::error(""));
        }
        span.end_with_timestamp(end);
    }
}

/// Returns the revision of the protocol, if it is a known one.
fn revision(parts: &Parts, request: &ClientRequest) -> Option<&'static str> {
    let header = parts.headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    let version = request.get_meta().protocol_version();
    let stated = match request {
        ClientRequest::InitializeRequest(initialize) => Some(initialize.params.protocol_version.as_str()),
        _ => version.as_ref().map(ProtocolVersion::as_str).or(header),
    };
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
    known.find(|known| Some(*known) == stated)
}

/// Returns the name of the prompt of a request, if it is one of the list.
fn prompt(request: &ClientRequest) -> Option<&'static str> {
    match request {
        ClientRequest::GetPromptRequest(get) => mcp::known_prompt(&get.params.name),
        _ => None,
    }
}
