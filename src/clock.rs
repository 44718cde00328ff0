//! Time as a wait sees it. Tests put their own in its place, and wait for nothing.

use std::{fmt::Debug, time::Duration};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use tokio::time::Instant;

/// Passes time.
pub trait Clock: Debug + Send + Sync {
    /// Time since a fixed moment.
    fn now(&self) -> Duration;

    /// What time it is, for what outlasts this process.
    fn date(&self) -> Timestamp;

    /// Lets so much time pass.
    fn pause(&self, span: Duration) -> BoxFuture<'_, ()>;

    /// Rings when something else has taken so long.
    fn alarm(&self, span: Duration) -> BoxFuture<'_, ()>;
}

/// The time of this machine.
#[derive(Clone, Copy, Debug)]
pub struct RealTime(Instant);

impl Default for RealTime {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn date(&self) -> Timestamp {
        Timestamp::now()
    }

    fn pause(&self, span: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(span))
    }

    fn alarm(&self, span: Duration) -> BoxFuture<'_, ()> {
        self.pause(span)
    }
}
