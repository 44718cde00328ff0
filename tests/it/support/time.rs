//! Time that passes when somebody waits, and at once: that of the sandbox goes with it.

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

use super::service::Service;

/// A clock that is ahead of the sandbox's by nothing.
#[derive(Debug)]
pub(crate) struct Simulated {
    service: Weak<Service>,
    now: Mutex<Duration>,
    slept: Mutex<Duration>,
    pauses: Mutex<Vec<Duration>>,
    /// Whether what is waited for takes longer than anybody waits.
    pub(crate) is_slow: AtomicBool,
    /// Whether pauses never end.
    pub(crate) stands_still: AtomicBool,
}

impl Simulated {
    pub(crate) fn of(service: &Arc<Service>) -> Arc<Self> {
        Self::with(Arc::downgrade(service))
    }

    /// A clock that takes no sandbox with it.
    pub(crate) fn alone() -> Arc<Self> {
        Self::with(Weak::new())
    }

    fn with(service: Weak<Service>) -> Arc<Self> {
        let (now, slept, pauses) = (Mutex::default(), Mutex::default(), Mutex::default());
        let (is_slow, stands_still) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Self { service, now, slept, pauses, is_slow, stands_still })
    }

    /// The pauses so far.
    pub(crate) fn pauses(&self) -> Vec<Duration> {
        self.pauses.lock().expect("no test panics here").clone()
    }

    /// Lets the machine sleep for so long, and nothing but its clock.
    pub(crate) fn suspend(&self, span: Duration) {
        *self.slept.lock().expect("no test panics here") += span;
        if let Some(service) = self.service.upgrade() {
            service.advance(span.as_secs_f64());
        }
    }

    fn advance(&self, span: Duration) {
        *self.now.lock().expect("no test panics here") += span;
        if let Some(service) = self.service.upgrade() {
            service.advance(span.as_secs_f64());
        }
    }
}

impl Clock for Simulated {
    fn now(&self) -> Duration {
        *self.now.lock().expect("no test panics here")
    }

    /// The sandbox begins at this time too.
    fn timestamp(&self) -> Timestamp {
        let start: Timestamp = "2026-03-02T09:15:00Z".parse().expect("a time");
        let slept = *self.slept.lock().expect("no test panics here");
        start + SignedDuration::try_from(self.now() + slept).expect("a span")
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.pauses.lock().expect("no test panics here").push(span);
            if self.stands_still.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            self.advance(span);
        })
    }

    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if !self.is_slow.load(Ordering::Relaxed) {
                std::future::pending::<()>().await;
            }
            tokio::task::yield_now().await;
            self.advance(span);
        })
    }
}
