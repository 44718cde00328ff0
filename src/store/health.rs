//! Whether the store is available.

use std::{
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge},
    registry::Registry,
};
use tokio::time::Instant;

/// Shortest time between two warnings, so that a store that fails now and then does not fill the log.
const WARNING_PAUSE: Duration = Duration::from_secs(60);

/// Numbers and warnings about the store. The clones are one.
#[derive(Clone, Debug, Default)]
pub struct StoreHealth {
    failures: Counter<u64, AtomicU64>,
    is_available: Gauge,
    state: std::sync::Arc<Mutex<ReportedState>>,
}

/// What the log says about the store.
#[derive(Debug, Default)]
struct ReportedState {
    is_failing: bool,
    warned_at: Option<Instant>,
}

impl StoreHealth {
    /// Adds the numbers to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "tas_mcp_shared_store_failures",
            "Operations that the shared store did not perform",
            self.failures.clone(),
        );
        registry.register(
            "tas_mcp_shared_store_available",
            "Whether the last operation of the shared store succeeded",
            self.is_available.clone(),
        );
    }

    /// Records an operation that succeeded.
    pub(super) fn record_success(&self) {
        self.is_available.set(1);

        if std::mem::take(&mut self.lock().is_failing) {
            tracing::info!("the shared store is available again");
        }
    }

    /// Records an operation that failed for this reason.
    pub(super) fn record_failure(&self, reason: &str) {
        self.failures.inc();
        self.is_available.set(0);

        let mut state = self.lock();
        let is_known = std::mem::replace(&mut state.is_failing, true);
        let is_recent = state.warned_at.is_some_and(|time| time.elapsed() < WARNING_PAUSE);
        if !is_known && !is_recent {
            state.warned_at = Some(Instant::now());
            tracing::warn!(
                "the shared store is not available: {reason}; until it is, each process remembers its own calls only"
            );
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReportedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
