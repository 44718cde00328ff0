//! Reports in the log when the collector does not take spans.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SpanData, SpanExporter},
};

/// Shortest time between two warnings.
const WARNING_PAUSE: Duration = Duration::from_secs(60);

/// Sends spans through another exporter, and reports failures.
#[derive(Debug)]
pub(super) struct ReportingExporter<E> {
    exporter: E,
    warnings: Mutex<WarningLimit>,
}

impl<E> ReportingExporter<E> {
    pub(super) fn new(exporter: E) -> Self {
        Self { exporter, warnings: Mutex::default() }
    }
}

impl<E: SpanExporter> SpanExporter for ReportingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let outcome = self.exporter.export(batch).await;

        if let Err(error) = &outcome {
            let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
            if warnings.permits_one(Instant::now()) {
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

/// Permits a warning now and then, because a collector may be down for days.
#[derive(Debug, Default)]
struct WarningLimit {
    last: Option<Instant>,
}

impl WarningLimit {
    /// Returns whether a warning may be written at this time, and then counts it.
    fn permits_one(&mut self, now: Instant) -> bool {
        let is_due = self.last.is_none_or(|last| now.saturating_duration_since(last) >= WARNING_PAUSE);
        if is_due {
            self.last = Some(now);
        }

        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_lasts_is_reported_once_a_minute() {
        let start = Instant::now();
        let mut limit = WarningLimit::default();
        let seconds = [0, 1, 59, 60, 61, 119, 120];
        let permitted = seconds.map(|second| limit.permits_one(start + Duration::from_secs(second)));

        assert_eq!(permitted, [true, false, false, true, false, false, true]);
    }
}
