//! Traces: one span of each request that a method has answered, sent to a collector (OTLP over HTTP, as protocol buffers).
//! Names and attributes are those of `OpenTelemetry` for MCP.
//!
//! A thread of the library sends the spans. The queue to it is bounded: spans that it cannot hold are dropped, so that a
//! collector that is slow or down delays no request.

use std::{
    net::IpAddr,
    pin::Pin,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version, request::Parts};
use opentelemetry::{
    Context, InstrumentationScope, KeyValue, Value,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{Link, Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, TracerProvider as _},
};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    propagation::TraceContextPropagator,
    trace::{BatchSpanProcessor, SdkTracer, SdkTracerProvider, SpanData, SpanExporter},
};
use rmcp::{
    RoleServer,
    model::{ProtocolVersion, RequestMetaObject},
    service::RequestContext,
};
use tokio::runtime::Handle;

use super::metrics::OperationLabels;
use crate::{
    client,
    failure::{Code, Failure},
    settings::TraceSettings,
    text::shorten_name,
};

/// How long the last spans may take to be sent at the end of the process.
const FLUSH_LIMIT: Duration = Duration::from_secs(3);

/// Name of the program in traces. The variable `OTEL_SERVICE_NAME` replaces it.
const SERVICE_NAME: &str = "tas-mcp";

#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Starts to send spans. Call it in a Tokio runtime.
    ///
    /// # Errors
    /// `not_configured` if the certificates or the variables of the exporter cannot be used.
    pub(super) fn new(settings: &TraceSettings) -> Result<Self, Failure> {
        let unusable = |reason: String| {
            Failure::new(Code::NotConfigured, format!("traces cannot be sent to the collector: {reason}"))
        };
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_endpoint(settings.endpoint.as_str())
            .with_http_client(CollectorClient::new(settings).map_err(unusable)?)
            .build()
            .map_err(|error| unusable(error.to_string()))?;

        let processor = BatchSpanProcessor::builder(ReportingExporter::new(exporter)).build();
        let provider =
            SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource()).build();
        let scope =
            InstrumentationScope::builder(SERVICE_NAME).with_version(env!("CARGO_PKG_VERSION")).build();
        let tracer = provider.tracer_with_scope(scope);

        Ok(Self { provider, tracer })
    }

    /// Begins the span of a request that came with `parts`.
    pub(super) fn begin(&self, parts: &Parts, context: &RequestContext<RoleServer>) -> RequestSpan {
        let protocol = if parts.version == Version::HTTP_10 { "1.0" } else { "1.1" };
        let mut attributes = vec![
            // A client may choose an id of any length.
            KeyValue::new("jsonrpc.request.id", shorten_name(&context.id.to_string())),
            KeyValue::new("network.transport", "tcp"),
            KeyValue::new("network.protocol.name", "http"),
            KeyValue::new("network.protocol.version", protocol),
        ];
        attributes.extend(revision(context).map(|revision| KeyValue::new("mcp.protocol.version", revision)));

        let parent = Parent::read(&context.meta, &parts.headers);
        RequestSpan { tracer: self.tracer.clone(), parent, attributes }
    }

    /// Sends the spans that have not been sent yet. Nothing is sent afterwards.
    pub(super) async fn flush(&self) {
        let provider = self.provider.clone();
        // The library blocks the thread, and this one sends the spans.
        let flushing =
            tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(FLUSH_LIMIT).is_ok());
        if !flushing.await.unwrap_or(false) {
            tracing::warn!("the collector of traces has not received all spans");
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // The library would wait for the collector. After `flush`, this does nothing.
        drop(self.provider.shutdown_with_timeout(Duration::ZERO));
    }
}

/// Describes this program, with the name and the attributes of the variables of `OpenTelemetry`.
fn resource() -> Resource {
    let named = Resource::builder().build();
    let name = named.get(&"service.name".into());
    let has_name = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let version = KeyValue::new("service.version", Value::from(env!("CARGO_PKG_VERSION")));

    let builder = Resource::builder().with_attribute(version);
    if has_name { builder.build() } else { builder.with_service_name(SERVICE_NAME).build() }
}

/// A span that has begun. It is sent when it ends.
#[derive(Debug)]
pub(super) struct RequestSpan {
    tracer: SdkTracer,
    parent: Parent,
    attributes: Vec<KeyValue>,
}

impl RequestSpan {
    /// Ends the span of an operation that took `duration`. `prompt` is the prompt that it read, if it is one of the list.
    pub(super) fn end(
        self,
        operation: &OperationLabels,
        prompt: Option<&'static str>,
        client: IpAddr,
        duration: Duration,
    ) {
        let Self { tracer, parent, mut attributes } = self;
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
fn revision(context: &RequestContext<RoleServer>) -> Option<&'static str> {
    let stated = context.protocol_version()?;
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str);
    known.find(|known| *known == stated.as_str())
}

/// Longest `traceparent` and `tracestate` that are read, in bytes. W3C demands this much of `tracestate`.
const MAX_BYTES: usize = 512;

/// The span of the client that a request belongs to (W3C Trace Context).
#[derive(Debug)]
struct Parent {
    context: Context,
    links: Vec<Link>,
}

impl Parent {
    /// Reads the trace context of a request. The metadata of a message decides. Headers belong to the transport: they are the
    /// parent of a message without a trace context, and a link otherwise. An invalid context counts as absent.
    fn read(metadata: &RequestMetaObject, headers: &HeaderMap) -> Self {
        let of_message = extract(&|name| metadata.get(name)?.as_str());
        let of_transport = extract(&|name| headers.get(name)?.to_str().ok());

        if !of_message.has_active_span() {
            return Self { context: of_transport, links: Vec::new() };
        }

        let transport = of_transport.span().span_context().clone();
        let is_another =
            transport.is_valid() && transport.span_id() != of_message.span().span_context().span_id();
        let links = if is_another { vec![Link::with_context(transport)] } else { Vec::new() };
        Self { context: of_message, links }
    }
}

/// The values of a trace context by name.
struct Carrier<'a>(&'a dyn Fn(&str) -> Option<&'a str>);

impl Extractor for Carrier<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        (self.0)(name).filter(|value| value.len() <= MAX_BYTES)
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

fn extract<'a>(value: &'a dyn Fn(&str) -> Option<&'a str>) -> Context {
    TraceContextPropagator::new().extract_with_context(&Context::new(), &Carrier(value))
}

const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Sends requests on the runtime of the server. The thread of the exporter has none.
#[derive(Debug)]
struct CollectorClient {
    client: reqwest::Client,
    runtime: Handle,
}

impl CollectorClient {
    fn new(settings: &TraceSettings) -> Result<Self, String> {
        let client = client::http_client(&settings.endpoint, settings.ca_file.clone(), REQUEST_LIMIT)?;
        Ok(Self { client, runtime: Handle::current() })
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'client, 'sending>(
        &'client self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sending>>
    where
        'client: 'sending,
        Self: 'sending,
    {
        let client = self.client.clone();
        // The time limit is set in the task, because only a task of the runtime has a clock.
        let exchange = async move {
            let sending = client.execute(request.try_into()?);
            Ok::<_, HttpError>(tokio::time::timeout(REQUEST_LIMIT, sending).await??)
        };
        let sending = self.runtime.spawn(exchange);

        Box::pin(async move {
            let received = sending.await??;
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = received.status();
            *response.headers_mut() = received.headers().clone();

            Ok(response)
        })
    }
}

const WARNING_PAUSE: Duration = Duration::from_secs(60);

/// Sends spans through another exporter, and reports failures.
#[derive(Debug)]
struct ReportingExporter<E> {
    exporter: E,
    /// When the last warning was written.
    warned: Mutex<Option<Instant>>,
}

impl<E> ReportingExporter<E> {
    fn new(exporter: E) -> Self {
        Self { exporter, warned: Mutex::default() }
    }
}

impl<E: SpanExporter> SpanExporter for ReportingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let outcome = self.exporter.export(batch).await;

        if let Err(error) = &outcome {
            let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
            if is_warning_due(&mut warned, Instant::now()) {
                tracing::warn!(
                    "{count} spans are lost, because the collector of traces does not take them: {error}; spans are sent as OTLP over HTTP, which collectors receive on port 4318"
                );
            }
        }

        outcome
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Returns whether a warning is due, and then counts it. A collector may be down for days.
fn is_warning_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = last.is_none_or(|last| now.saturating_duration_since(last) >= WARNING_PAUSE);
    if is_due {
        *last = Some(now);
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_lasts_is_reported_once_a_minute() {
        let start = Instant::now();
        let mut last = None;
        let seconds = [0, 1, 59, 60, 61, 119, 120];
        let permitted = seconds.map(|second| is_warning_due(&mut last, start + Duration::from_secs(second)));

        assert_eq!(permitted, [true, false, false, true, false, false, true]);
    }
}
