//! A service with invented records, and a server in front of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use serde_json::Value;
use tas_mcp::{clock::Clock, mcp::Server, sandbox::keys, settings::Settings, tools::dispatcher::Dispatcher};
use tokio::sync::Semaphore;

use super::History;
use crate::{
    support::{host::Host, stub::Stub},
    tools::summary::TOOL,
};

impl History {
    /// Starts a service with these records.
    pub(in crate::tools::summary) async fn serve(self) -> Stub {
        let history = Arc::new(self);
        Stub::start(move |target| {
            let history = Arc::clone(&history);
            async move { history.answer(&target) }
        })
        .await
    }

    /// Starts a service with these records. Requests of `held` wait until eight of them have arrived.
    pub(in crate::tools::summary) async fn serve_together(
        self,
        held: fn(&str) -> bool,
    ) -> (Stub, Arc<AtomicUsize>) {
        let (history, most) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let (under_way, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let seen = Arc::clone(&most);
        let stub = Stub::start(move |target| {
            let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
            let (under_way, gate) = (Arc::clone(&under_way), Arc::clone(&gate));
            async move {
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                seen.fetch_max(now, Ordering::SeqCst);
                if now == 8 {
                    // The gate stays open, because the last requests are fewer than eight.
                    gate.add_permits(1_000);
                }
                if held(&target) {
                    drop(gate.acquire().await);
                }
                // More than eight concurrent requests are detected here.
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                under_way.fetch_sub(1, Ordering::SeqCst);
                history.answer(&target)
            }
        });

        (stub.await, most)
    }

    /// Returns the summary of a server in front of a service with these records.
    pub(in crate::tools::summary) async fn summary(self, arguments: Value) -> Value {
        let stub = self.serve().await;
        host(&stub).await.succeed(TOOL, arguments).await
    }
}

/// Starts a server in front of a service.
pub(in crate::tools::summary) async fn host(stub: &Stub) -> Host {
    patient(&stub.settings(keys::DEMO, &[])).await
}

/// Starts a server whose clock stands still, so that no call reaches its time limit.
pub(in crate::tools::summary) async fn patient(settings: &Settings) -> Host {
    let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(Arc::new(Still));
    let mut host = Host::to(Server::new(dispatcher, settings));
    host.initialize("2025-11-25").await;
    host
}

#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn timestamp(&self) -> jiff::Timestamp {
        jiff::Timestamp::UNIX_EPOCH
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn timeout(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}
