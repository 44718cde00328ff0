//! Requests to end: SIGTERM, SIGINT, or Ctrl-C where there are no signals.

/// Listens from its making on; a second request is heard too.
#[derive(Debug)]
pub struct Signals {
    #[cfg(unix)]
    listeners: Vec<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen: from now on a signal no longer ends the process by itself.
    pub fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        Self { listeners: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Waits for the next request.
    pub async fn next(&mut self) {
        let waiting = self.listeners.iter_mut().map(|listener| Box::pin(listener.recv()));
        let waiting: Vec<_> = waiting.collect();
        if waiting.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(waiting).await;
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub fn new() -> Self {
        Self {}
    }

    /// Waits for the next request.
    pub async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::new()
    }
}
