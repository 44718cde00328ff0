//! The span of the client that a request belongs to (W3C Trace Context).
//!
//! The metadata of a message decides. Headers belong to the transport: they are the parent of a message without a trace
//! context, and a link otherwise.

use http::HeaderMap;
use opentelemetry::{
    Context,
    propagation::{Extractor, TextMapPropagator as _},
    trace::{Link, TraceContextExt as _},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use rmcp::model::{ClientRequest, GetMeta as _};

/// Longest `traceparent` and `tracestate` that are read, in bytes. W3C demands this much of `tracestate`.
const MAX_BYTES: usize = 512;

/// Where the span of a request belongs.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) context: Context,
    pub(super) links: Vec<Link>,
}

impl Parent {
    /// Reads the trace context of a request. An invalid one counts as absent.
    pub(super) fn read(request: &ClientRequest, headers: &HeaderMap) -> Self {
        let metadata = request.get_meta();
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
