//! Simulated time: it advances when the server pauses, and the clock of the sandbox follows it.

use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tas_mcp::clock::Clock;
use tokio::sync::watch;

use super::service::Service;

/// 2026-03-02T09:15:00Z: when the history of the sandboxes ends, and when the clocks begin.
pub(crate) const START: Timestamp = Timestamp::constant(1_772_442_900, 0);

/// A clock whose pauses end at once and advance it by their length.
#[derive(Debug, Default)]
pub(crate) struct SimulatedClock {
    /// The sandbox whose clock follows, if there is one.
    service: Weak<Service>,
    now: Mutex<Duration>,
    pauses: Mutex<Vec<Duration>>,
    time_limits_expire: watch::Sender<bool>,
    /// Whether pauses never end.
    pub(crate) stands_still: AtomicBool,
}

impl SimulatedClock {
    /// Creates a clock that the clock of the sandbox follows.
    pub(crate) fn with_service(service: &Arc<Service>) -> Arc<Self> {
        Arc::new(Self { service: Arc::downgrade(service), ..Self::default() })
    }

    /// Returns the pauses so far.
    pub(crate) fn pauses(&self) -> Vec<Duration> {
        self.pauses.lock().expect("no test panics here").clone()
    }

    /// Decides whether a time limit expires before what it limits. At first, no time limit expires.
    pub(crate) fn set_time_limits_expire(&self, expire: bool) {
        self.time_limits_expire.send_replace(expire);
    }

    fn advance(&self, span: Duration) {
        *self.now.lock().expect("no test panics here") += span;
        if let Some(service) = self.service.upgrade() {
            service.advance(span.as_secs_f64());
        }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Duration {
        *self.now.lock().expect("no test panics here")
    }

    fn timestamp(&self) -> Timestamp {
        START + SignedDuration::try_from(self.now()).expect("a span")
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.pauses.lock().expect("no test panics here").push(span);
            if self.stands_still.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }

            // Other tasks run before the time advances, as they would during a real pause.
            tokio::task::yield_now().await;
            self.advance(span);
        })
    }

    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // The clock owns the sender, so the channel is open as long as this future exists.
            let expired = self.time_limits_expire.subscribe().wait_for(|expire| *expire).await.is_ok();
            assert!(expired, "the channel is open");

            tokio::task::yield_now().await;
            self.advance(span);
        })
    }
}
