//! Numbers about the requests to the service, and whether it answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use tokio::time::Instant;

use super::{ServiceHost, transport_error::TransportError};

/// Upper bounds of the buckets of durations, in seconds (`OpenTelemetry`, semantic conventions for HTTP).
const BUCKETS: [f64; 12] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// A kind of requests. Each member has few values, so that the number of series is bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    /// The host of the service, by its purpose: its address is in the settings.
    host: &'static str,
    /// `2xx` and so on; `none` without a response.
    status_class: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HostLabels {
    host: &'static str,
}

/// Numbers about the requests to the service. The clones are one.
#[derive(Clone, Debug)]
pub struct ServiceTraffic {
    durations: Family<RequestLabels, Histogram, fn() -> Histogram>,
    is_available: Family<HostLabels, Gauge>,
    outages: Arc<Mutex<BTreeMap<&'static str, Outage>>>,
}

/// A time in which a host of the service did not answer.
#[derive(Clone, Debug)]
pub struct Outage {
    /// The setting with the address of the host.
    pub setting: &'static str,
    began: Instant,
    /// Why the last request was not answered.
    pub reason: String,
}

impl Outage {
    /// Returns for how long the service has not answered.
    pub fn duration(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Default for ServiceTraffic {
    fn default() -> Self {
        let durations = Family::new_with_constructor((|| Histogram::new(BUCKETS)) as fn() -> Histogram);
        Self { durations, is_available: Family::default(), outages: Arc::default() }
    }
}

impl ServiceTraffic {
    /// Adds the numbers to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "tas_mcp_service_request_duration",
            "Duration of requests to the service",
            Unit::Seconds,
            self.durations.clone(),
        );
        registry.register(
            "tas_mcp_service_available",
            "Whether a host of the service answered the last request, with another status than 5xx",
            self.is_available.clone(),
        );
    }

    /// Returns the hosts that did not answer the last request.
    pub fn outages(&self) -> Vec<Outage> {
        self.lock().values().cloned().collect()
    }

    /// Records a request that ended after `duration` with a response of this status, or without one.
    pub(super) fn record(
        &self,
        host: ServiceHost,
        outcome: Result<u16, &TransportError>,
        duration: Duration,
    ) {
        let status_class = match outcome {
            Ok(status) => status_class(status),
            // Nothing was sent.
            Err(TransportError::Setup(_)) => return,
            Err(_) => "none",
        };
        let (host, setting) = match host {
            ServiceHost::Main => ("main", host.setting()),
            ServiceHost::Knowledge => ("knowledge", host.setting()),
        };
        let labels = RequestLabels { host, status_class };
        self.durations.get_or_create(&labels).observe(duration.as_secs_f64());

        let reason = match outcome {
            Ok(status) if status < 500 => None,
            Ok(status) => Some(format!("its last response has the status {status}")),
            Err(error) => Some(error.to_string()),
        };
        self.is_available.get_or_create(&HostLabels { host }).set(i64::from(reason.is_none()));
        let mut outages = self.lock();
        let began = outages.remove(host).map_or_else(Instant::now, |outage| outage.began);
        outages.extend(reason.map(|reason| (host, Outage { setting, began, reason })));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Outage>> {
        self.outages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn status_class(status: u16) -> &'static str {
    match status {
        0..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        500.. => "5xx",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_outage_lasts_from_the_first_request_without_an_answer_to_the_next_answer() {
        let traffic = ServiceTraffic::default();
        let lost = TransportError::Lost("reset".to_owned());
        let second = Duration::from_secs(1);
        assert!(traffic.outages().is_empty());

        for outcome in [Err(&lost), Ok(503)] {
            traffic.record(ServiceHost::Main, outcome, second);
            tokio::time::advance(second).await;
        }
        traffic.record(ServiceHost::Knowledge, Ok(200), second);
        let [outage] = traffic.outages().try_into().expect("one outage");
        assert_eq!((outage.duration(), outage.setting), (2 * second, "TAS_BASE_URL"));
        assert!(outage.reason.contains("503"), "{outage:?}");

        traffic.record(ServiceHost::Main, Ok(404), second);
        assert!(traffic.outages().is_empty());
    }
}
