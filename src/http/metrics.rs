//! Numbers for monitoring, in the text form of `OpenMetrics`. The names are those of `OpenTelemetry` for MCP. No label has a value
//! that a client chooses.

use std::{
    sync::atomic::AtomicU64,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _, text::encode},
    metrics::{
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
        info::Info,
    },
    registry::{Registry, Unit},
};

use crate::client::ServiceTraffic;

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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FailureLabels {
    /// Code of the failure of a tool, or of JSON-RPC.
    code: String,
}

/// The numbers of the HTTP server.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    durations: Family<OperationLabels, Histogram, fn() -> Histogram>,
    failures: Family<FailureLabels, Counter<u64, AtomicU64>>,
    refusals: Family<RefusalLabels, Counter<u64, AtomicU64>>,
    connections: Gauge,
    tenants: Gauge,
}

impl Metrics {
    /// Creates the numbers. `store` is the store that several processes share, if there is one, and `traffic` counts the requests to
    /// the service.
    pub(super) fn new(traffic: &ServiceTraffic) -> Self {
        let mut registry = Registry::default();
        let durations: Family<_, _, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(BUCKETS));
        let (failures, refusals) = (Family::default(), Family::default());
        let (connections, tenants) = (Gauge::default(), Gauge::default());

        registry.register_with_unit(
            "mcp_server_operation_duration",
            "Duration of requests",
            Unit::Seconds,
            durations.clone(),
        );
        registry.register("tas_mcp_failures", "Failed requests by code", failures.clone());
        registry.register(
            "tas_mcp_http_refusals",
            "Requests that were refused before a method ran",
            refusals.clone(),
        );
        registry.register("tas_mcp_http_connections", "Open connections", connections.clone());
        registry.register("tas_mcp_http_credentials", "Remembered credentials", tenants.clone());
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("tas_mcp_build", "Version of the program", version);
        traffic.register(&mut registry);
        registry.register_collector(Box::new(ProcessNumbers { started: SystemTime::now() }));

        Self { registry, durations, failures, refusals, connections, tenants }
    }

    /// Counts a request that has ended, with the code of its failure; the code is empty after a success.
    pub(super) fn record(&self, operation: &OperationLabels, code: &str, duration: Duration) {
        self.durations.get_or_create(operation).observe(duration.as_secs_f64());
        if !code.is_empty() {
            self.record_failure(code);
        }
    }

    /// Counts a request that has failed with this code.
    pub(super) fn record_failure(&self, code: &str) {
        self.failures.get_or_create(&FailureLabels { code: code.to_owned() }).inc();
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

/// Numbers of the process, with the names that monitoring systems expect. Only Linux tells most of them.
#[derive(Debug)]
struct ProcessNumbers {
    started: SystemTime,
}

impl Collector for ProcessNumbers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let mut gauge = |name: &str, help: &str, unit: Option<&Unit>, value: Option<f64>| {
            let Some(value) = value else { return Ok(()) };
            let value = ConstGauge::new(value);
            let encoder = encoder.encode_descriptor(name, help, unit, value.metric_type())?;
            value.encode(encoder)
        };
        let files = std::fs::read_dir("/proc/self/fd").ok().map(|files| as_number(files.count() as u64));
        let most_files = rlimit::Resource::NOFILE.get_soft().ok().map(as_number);

        gauge("process_start_time", "Start of the process since 1970", Some(&Unit::Seconds), Some(started))?;
        gauge("process_resident_memory", "Memory in use", Some(&Unit::Bytes), resident_bytes())?;
        gauge("process_open_fds", "Open files and connections", None, files)?;
        gauge("process_max_fds", "Largest number of open files and connections", None, most_files)?;
        if let Some(seconds) = processor_seconds() {
            let counter = ConstCounter::new(seconds);
            let help = "Time of all processors";
            let encoder = encoder.encode_descriptor(
                "process_cpu",
                help,
                Some(&Unit::Seconds),
                counter.metric_type(),
            )?;
            counter.encode(encoder)?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "the numbers are far below 2^52")]
fn as_number(count: u64) -> f64 {
    count as f64
}

fn resident_bytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    Some(as_number(kib.parse().ok()?) * 1024.0)
}

/// Returns the time that processors have worked for the process.
fn processor_seconds() -> Option<f64> {
    /// Linux reports times in this unit on every architecture.
    const TICKS_PER_SECOND: f64 = 100.0;

    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may have spaces. The times are the fields 14 and 15, and the first one after the
    // name is field 3.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_ascii_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok());
    Some(as_number(ticks.sum::<Option<u64>>()?) / TICKS_PER_SECOND)
}
