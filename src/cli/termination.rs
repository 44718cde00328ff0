//! The signals that end the process: SIGTERM and SIGINT, or Ctrl-C on systems without signals.

/// Receives the signals that would otherwise end the process.
#[derive(Debug)]
pub struct TerminationSignals {
    #[cfg(unix)]
    listeners: Vec<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl TerminationSignals {
    /// Starts to listen. From now on a signal does not end the process by itself.
    pub fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::terminate(), SignalKind::interrupt()];
        Self { listeners: kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect() }
    }

    /// Waits for the next signal. Waits forever if the process cannot listen to signals.
    pub async fn next(&mut self) {
        let listeners = self.listeners.iter_mut();
        let received: Vec<_> = listeners.map(|listener| Box::pin(listener.recv())).collect();
        if received.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(received).await;
    }
}

#[cfg(not(unix))]
impl TerminationSignals {
    /// Starts to listen.
    pub fn new() -> Self {
        Self {}
    }

    /// Waits for the next Ctrl-C.
    pub async fn next(&mut self) {
        drop(tokio::signal::ctrl_c().await);
    }
}

impl Default for TerminationSignals {
    fn default() -> Self {
        Self::new()
    }
}
