//! Traces: the spans of requests, sent to a collector over OTLP. The library reads the address of the collector, headers and
//! certificates from the variables `OTEL_*`; without an address nothing is sent.

use std::{sync::OnceLock, time::Duration};

use axum::http::HeaderMap;
use opentelemetry::{
    Context,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{TraceContextExt as _, TracerProvider as _},
};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use rmcp::model::RequestMetaObject;
use tracing::{Span, Subscriber};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{Layer, filter::FilterFn, registry::LookupSpan};

use super::handler::SPAN_TARGET;

/// Variables that name a collector.
const COLLECTOR: [&str; 2] = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];

/// How long the last spans may take to be sent at the end of the process.
const FLUSH_LIMIT: Duration = Duration::from_secs(3);

static PROVIDER: OnceLock<SdkTracerProvider> = OnceLock::new();

/// Returns the layer that sends the spans of requests; `None` without a collector. Call it outside of a runtime.
pub(crate) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> Option<impl Layer<S>> {
    #[expect(clippy::disallowed_methods, reason = "the variables are those of the library")]
    let has_collector = COLLECTOR.iter().any(|name| std::env::var_os(name).is_some());
    if !has_collector {
        return None;
    }

    // The HTTP client of the exporter needs an installed provider of cryptography. An error means that one is installed already.
    drop(rustls::crypto::ring::default_provider().install_default());
    let exporter = opentelemetry_otlp::SpanExporter::builder().with_http().build().ok()?;

    let resource = Resource::builder().with_service_name("tas-mcp").build();
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
    let tracer = PROVIDER.get_or_init(|| provider).tracer("tas-mcp");
    let is_request = FilterFn::new(|metadata| metadata.target() == SPAN_TARGET);
    Some(tracing_opentelemetry::layer().with_tracer(tracer).with_filter(is_request))
}

/// Makes a span the child of the span of its client (W3C Trace Context). The metadata of a message decides before the headers.
pub(super) fn continue_trace(span: &Span, metadata: &RequestMetaObject, headers: &HeaderMap) {
    let of_message = extract(&|name| metadata.get(name)?.as_str());
    let parent = if of_message.has_active_span() {
        of_message
    } else {
        extract(&|name| headers.get(name)?.to_str().ok())
    };
    // A span that nobody records has no parent.
    span.set_parent(parent).unwrap_or_default();
}

/// Sends the spans that have not been sent yet. Nothing is sent afterwards.
pub(super) async fn flush() {
    let shutdown = || PROVIDER.get().map(|provider| provider.shutdown_with_timeout(FLUSH_LIMIT));
    if let Ok(Some(Err(error))) = tokio::task::spawn_blocking(shutdown).await {
        tracing::warn!("the collector of traces has not received all spans: {error}");
    }
}

/// The values of a trace context by name.
struct Carrier<'a>(&'a dyn Fn(&str) -> Option<&'a str>);

impl Extractor for Carrier<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        (self.0)(name)
    }

    fn keys(&self) -> Vec<&str> {
        Vec::new()
    }
}

fn extract<'a>(value: &'a dyn Fn(&str) -> Option<&'a str>) -> Context {
    TraceContextPropagator::new().extract_with_context(&Context::new(), &Carrier(value))
}
