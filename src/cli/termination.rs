//! The signals that end the process: SIGINT, which is Ctrl-C, and SIGTERM. Systems without signals have Ctrl-C alone.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::exit_status::ExitStatus;

/// A signal that would otherwise end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminationSignal {
    /// A user has pressed Ctrl-C.
    Interrupt,
    /// Another program ends this one, such as a service manager or `timeout`.
    Terminate,
}

impl TerminationSignal {
    pub(super) fn exit_status(self) -> ExitStatus {
        match self {
            Self::Interrupt => ExitStatus::Interrupted,
            Self::Terminate => ExitStatus::Terminated,
        }
    }
}

/// Receives the signals that would otherwise end the process.
#[derive(Debug)]
pub struct TerminationSignals {
    #[cfg(unix)]
    interrupt: Option<Signal>,
    #[cfg(unix)]
    terminate: Option<Signal>,
}

#[cfg(unix)]
impl TerminationSignals {
    /// Starts to listen. From now on a signal does not end the process by itself.
    pub fn new() -> Self {
        let [interrupt, terminate] =
            [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
        Self { interrupt, terminate }
    }

    /// Waits for the next signal, and returns it.
    pub(super) async fn receive(&mut self) -> TerminationSignal {
        tokio::select! {
            () = received(&mut self.interrupt) => TerminationSignal::Interrupt,
            () = received(&mut self.terminate) => TerminationSignal::Terminate,
        }
    }
}

/// Waits for a signal; forever if the process cannot listen to it.
#[cfg(unix)]
async fn received(listener: &mut Option<Signal>) {
    match listener {
        Some(listener) => drop(listener.recv().await),
        None => std::future::pending().await,
    }
}

#[cfg(not(unix))]
impl TerminationSignals {
    /// Starts to listen.
    pub fn new() -> Self {
        Self {}
    }

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
