//! Traces: one span of each request that a method has answered, sent to a collector (OTLP over HTTP, as protocol buffers).
//! Names and attributes are those of `OpenTelemetry` for MCP.
//!
//! A thread of the library sends the spans. The queue to it is bounded: spans that it cannot hold are dropped, so that a
//! collector that is slow or down delays no request.

mod collector;
mod exporter;
mod parent;
mod span;

use std::time::Duration;

use http::request::Parts;
use opentelemetry::{InstrumentationScope, KeyValue, Value, trace::TracerProvider as _};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    trace::{BatchSpanProcessor, SdkTracer, SdkTracerProvider},
};
use rmcp::model::{ClientRequest, JsonRpcRequest};

pub(super) use self::span::RequestSpan;
use self::{collector::CollectorClient, exporter::ReportingExporter, parent::Parent};
use crate::{
    failure::{Code, Failure},
    settings::TraceSettings,
};

/// How long the last spans may take to be sent at the end of the process.
const FLUSH_LIMIT: Duration = Duration::from_secs(3);

/// Name of the program in traces. The variable `OTEL_SERVICE_NAME` replaces it.
const SERVICE_NAME: &str = "tas-mcp";

/// Sends spans to a collector.
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

    /// Begins the span of a request.
    pub(super) fn begin(&self, parts: &Parts, request: &JsonRpcRequest<ClientRequest>) -> RequestSpan {
        let parent = Parent::read(&request.request, &parts.headers);
        RequestSpan::new(self.tracer.clone(), parent, parts, request)
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
