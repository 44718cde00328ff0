//! Numbers for monitoring, in the text form of `OpenMetrics`, and health, on an address of their own. The names are those of
//! `OpenTelemetry` for MCP. No label has a value that a client chooses.

use std::{sync::atomic::AtomicU64, time::Duration};

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::{Router, extract::State, routing::get};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram, info::Info},
    registry::{Registry, Unit},
};
use tokio::net::TcpListener;

use super::{
    access_log::{Ending, Operation},
    state::SharedState,
};
use crate::client::ServiceTraffic;

/// Media type of the metrics (`OpenMetrics` 1.0).
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// How long the service may not answer before this is reported.
const LEAST_OUTAGE: Duration = Duration::from_secs(60);

/// Upper bounds of the buckets of durations, in seconds (`OpenTelemetry`, semantic conventions for MCP).
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// Names and values of labels. Each has few values, so that the number of series is bounded.
type Labels<const COUNT: usize> = [(&'static str, String); COUNT];

#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    durations: Family<Labels<3>, Histogram, fn() -> Histogram>,
    failures: Family<Labels<1>, Counter<u64, AtomicU64>>,
    refusals: Family<Labels<1>, Counter<u64, AtomicU64>>,
    credentials: Gauge,
}

impl Metrics {
    pub(super) fn new(traffic: &ServiceTraffic) -> Self {
        let mut registry = Registry::default();
        let durations: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let (failures, refusals, credentials) = (Family::default(), Family::default(), Gauge::default());

        let name = "mcp_server_operation_duration";
        registry.register_with_unit(name, "Duration of requests", Unit::Seconds, durations.clone());
        registry.register("tas_mcp_failures", "Failed requests by code", failures.clone());
        let help = "Requests that were refused before a method ran";
        registry.register("tas_mcp_http_refusals", help, refusals.clone());
        registry.register("tas_mcp_http_credentials", "Remembered credentials", credentials.clone());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("tas_mcp_build", "Version of the program", version);
        traffic.register(&mut registry);

        Self { registry, durations, failures, refusals, credentials }
    }

    /// Counts a request that has ended.
    pub(super) fn record(&self, operation: Operation, ending: &Ending, duration: Duration) {
        let labels = [
            ("mcp_method_name", operation.method.to_owned()),
            ("gen_ai_tool_name", operation.tool.to_owned()),
            ("error_type", ending.error_type.clone()),
        ];
        self.durations.get_or_create(&labels).observe(duration.as_secs_f64());
        if !ending.error_type.is_empty() {
            self.failures.get_or_create(&[("code", ending.code.clone())]).inc();
        }
    }

    pub(super) fn record_refusal(&self, status: u16) {
        self.refusals.get_or_create(&[("http_response_status_code", status.to_string())]).inc();
    }

    pub(super) fn render(&self, credentials: usize) -> String {
        self.credentials.set(i64::try_from(credentials).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a text cannot fail.
        encode(&mut text, &self.registry).unwrap_or_default();
        text
    }
}

pub(super) async fn serve_admin(listener: TcpListener, app: SharedState) {
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(app);
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!("the admin listener has ended: {error}");
    }
}

/// Reports whether further requests are wanted, and whether the service answers. A process stays ready without the service: its
/// calls say so themselves, and another process would not have it either.
async fn ready(State(app): State<SharedState>) -> (StatusCode, String) {
    if app.draining.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "the process is stopping\n".to_owned());
    }

    let outages = app.traffic.outages().into_iter().filter(|outage| outage.duration() >= LEAST_OUTAGE);
    let outages = outages.map(|outage| {
        let (setting, seconds) = (outage.setting, outage.duration().as_secs());
        format!("the service at {setting} has not answered for {seconds} s: {}\n", outage.reason)
    });
    (StatusCode::OK, ["ready\n".to_owned()].into_iter().chain(outages).collect())
}

async fn metrics(State(app): State<SharedState>) -> ([(HeaderName, HeaderValue); 1], String) {
    ([(header::CONTENT_TYPE, METRICS_TYPE)], app.metrics.render(app.credentials.count()))
}
