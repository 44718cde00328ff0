//! A service with invented records, and a server in front of it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::Value;
use tokio::sync::Semaphore;

use super::History;
use crate::{
    support::stub::Stub,
    tools::summary::{TOOL, fixture},
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
        let (history, maximum) = (Arc::new(self), Arc::new(AtomicUsize::new(0)));
        let (in_flight, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let seen = Arc::clone(&maximum);
        let stub = Stub::start(move |target| {
            let (history, seen) = (Arc::clone(&history), Arc::clone(&seen));
            let (in_flight, gate) = (Arc::clone(&in_flight), Arc::clone(&gate));
            async move {
                let now = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
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
                in_flight.fetch_sub(1, Ordering::SeqCst);
                history.answer(&target)
            }
        });

        (stub.await, maximum)
    }

    /// Returns the summary of a server in front of a service with these records.
    pub(in crate::tools::summary) async fn summary(self, arguments: Value) -> Value {
        let mut session = fixture().open_with(self.serve().await).await;
        session.host.succeed(TOOL, arguments).await
    }
}
