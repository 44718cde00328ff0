//! The signals that end the process: SIGTERM, SIGINT and SIGHUP, or Ctrl-C on systems without signals.

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
        let mut kinds = vec![SignalKind::terminate(), SignalKind::interrupt()];
        // A listener would undo what `nohup` has set.
        if !ignores_hangup() {
            kinds.push(SignalKind::hangup());
        }

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

/// Returns whether this process ignores SIGHUP since its start. Only Linux tells.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // The lowest bit stands for signal 1, which is SIGHUP.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
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
