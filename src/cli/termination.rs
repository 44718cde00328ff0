//! The signals that end the process: SIGTERM, SIGINT and SIGHUP, or Ctrl-C on systems without signals.

/// A signal that would otherwise end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminationSignal {
    /// A user has pressed Ctrl-C.
    Interrupt,
    /// Another one, such as that of a service manager.
    Other,
}

/// Receives the signals that would otherwise end the process.
#[derive(Debug)]
pub struct TerminationSignals {
    #[cfg(unix)]
    listeners: Vec<(TerminationSignal, tokio::signal::unix::Signal)>,
}

#[cfg(unix)]
impl TerminationSignals {
    /// Starts to listen. From now on a signal does not end the process by itself.
    pub fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let mut kinds = vec![
            (TerminationSignal::Other, SignalKind::terminate()),
            (TerminationSignal::Interrupt, SignalKind::interrupt()),
        ];
        // A listener would undo what `nohup` has set.
        if !ignores_hangup() {
            kinds.push((TerminationSignal::Other, SignalKind::hangup()));
        }

        let listeners = kinds.into_iter().filter_map(|(name, kind)| Some((name, signal(kind).ok()?)));
        Self { listeners: listeners.collect() }
    }

    /// Waits for the next signal, and returns it. Waits forever if the process cannot listen to signals.
    pub(super) async fn receive(&mut self) -> TerminationSignal {
        let listeners = self.listeners.iter_mut();
        let received = listeners.map(|(name, listener)| {
            Box::pin(async {
                listener.recv().await;
                *name
            })
        });
        let received: Vec<_> = received.collect();
        if received.is_empty() {
            return std::future::pending().await;
        }
        futures_util::future::select_all(received).await.0
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
    pub(super) async fn receive(&mut self) -> TerminationSignal {
        drop(tokio::signal::ctrl_c().await);
        TerminationSignal::Interrupt
    }
}

impl TerminationSignals {
    /// Waits for the next signal.
    pub async fn next(&mut self) {
        self.receive().await;
    }
}

impl Default for TerminationSignals {
    fn default() -> Self {
        Self::new()
    }
}
