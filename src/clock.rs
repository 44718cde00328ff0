//! The clock that waits and timeouts use. Tests replace it, so that they do not sleep.

use std::{fmt::Debug, time::Duration};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::Instant;

/// A source of time and of timers.
pub trait Clock: Debug + Send + Sync {
    /// Returns the time since a fixed point in time. The value never decreases.
    fn now(&self) -> Duration;

    /// Returns the date and time, for values that outlive this process.
    fn timestamp(&self) -> Timestamp;

    /// Completes after `span`: the caller has nothing else to do.
    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()>;

    /// Completes after `span`: limits how long the caller waits for something else. A test clock lets time pass in
    /// [`Self::sleep`] only, so that work that is not waiting never times out.
    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()>;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl Default for SystemClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::now()
    }

    fn sleep(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(span))
    }

    fn timeout(&self, span: Duration) -> BoxFuture<'_, ()> {
        self.sleep(span)
    }
}
