//! Numbers for monitoring, in the text form of `OpenMetrics`. The names are those of `OpenTelemetry` for MCP.

use std::{sync::atomic::AtomicU64, time::Duration};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

use crate::store::StoreHealth;

/// Upper bounds of the buckets of durations, in seconds (`OpenTelemetry`, semantic conventions for MCP).
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The operation that a duration belongs to. Each member has few values, so that the number of series is bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OperationLabels {
    /// Method of the protocol, or `other`.
    pub(super) mcp_method_name: &'static str,
    /// Name of a tool of the list; empty for other methods and unknown tools.
    pub(super) gen_ai_tool_name: &'static str,
    /// Kind of the failure; empty after a success.
    pub(super) error_type: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    http_response_status_code: u16,
}

/// The numbers of the HTTP server.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    durations: Family<OperationLabels, Histogram, fn() -> Histogram>,
    refusals: Family<RefusalLabels, Counter<u64, AtomicU64>>,
    connections: Gauge,
    tenants: Gauge,
}

impl Metrics {
    /// Creates the numbers. `store` is the store that several processes share, if there is one.
    pub(super) fn new(store: Option<&StoreHealth>) -> Self {
        let mut registry = Registry::default();
        let durations: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let (refusals, connections, tenants) = (Family::default(), Gauge::default(), Gauge::default());

        registry.register_with_unit(
            "mcp_server_operation_duration",
            "Duration of requests",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register(
            "tas_mcp_http_refusals",
            "Requests that were refused before a method ran",
            refusals.clone(),
        );
        registry.register("tas_mcp_http_connections", "Open connections", connections.clone());
        registry.register("tas_mcp_http_credentials", "Remembered credentials", tenants.clone());
        if let Some(store) = store {
            store.register(&mut registry);
        }

        Self { registry, durations, refusals, connections, tenants }
    }

    /// Counts a request that has ended.
    pub(super) fn record(&self, operation: &OperationLabels, duration: Duration) {
        self.durations.get_or_create(operation).observe(duration.as_secs_f64());
    }

    /// Counts a request that was refused with this status.
    pub(super) fn record_refusal(&self, status: u16) {
        self.refusals.get_or_create(&RefusalLabels { http_response_status_code: status }).inc();
    }

    /// Counts a connection until the returned value is dropped.
    pub(super) fn count_connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }

    /// Returns the numbers as text. `tenants` is the number of remembered credentials.
    pub(super) fn render(&self, tenants: u64) -> String {
        self.tenants.set(i64::try_from(tenants).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a text cannot fail.
        encode(&mut text, &self.registry).unwrap_or_default();
        text
    }
}

/// A counted connection.
#[derive(Debug)]
pub(super) struct OpenConnection(Gauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}
