//! How a command ends: with an exit status, early with failures or an error, or by SIGINT, which is Ctrl-C, and SIGTERM. Systems
//! without signals have Ctrl-C alone.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::failure::{Code, Failure};

/// Result of a command, with the number that the process exits with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// The command succeeded.
    Success = 0,
    /// The service refused a request, or the output could not be written.
    Rejected = 1,
    /// The arguments or settings are invalid. No writing request was sent.
    InvalidInput = 2,
    /// The service cannot be reached, or its answer cannot be used.
    Unavailable = 3,
    /// A writing request was sent and not answered, so its effect is unknown.
    OutcomeUnknown = 4,
    /// Everything has finished, and at least one verdict is not SUCCESS.
    NotPassed = 10,
    /// The time limit of a wait passed before everything had finished.
    TimedOut = 11,
    /// Everything has finished, and a bug is worse than a flag permits.
    WorseBugs = 12,
    /// Ctrl-C ended the command, as shells report it.
    Interrupted = 130,
    /// SIGTERM ended the command, as shells report it.
    Terminated = 143,
}

impl ExitStatus {
    /// Help text about the exit codes of commands that send requests.
    pub(super) const HELP: &'static str = "Exit codes: 0 success, 1 refused by the service or a file could not be written, 2 invalid arguments or settings (no writing request was sent), 3 service unavailable, 4 outcome unknown";

    /// Help text about the exit codes of commands that wait.
    pub(super) const WAIT_HELP: &'static str = "Exit codes: 0 every verdict is SUCCESS, 10 at least one is not, 11 not everything finished in time, 12 a bug is worse than --max-bug-severity, 130 interrupted, 143 terminated; 1 refused by the service or a file could not be written, 2 invalid arguments or settings (no writing request was sent), 3 service unavailable, 4 outcome unknown";

    /// Returns the status for a failure that occurred after requests had been sent. A `file_error` then concerns a file
    /// that the command writes, and not an invalid argument.
    pub(super) fn after_requests(code: Code) -> Self {
        if code == Code::FileError { Self::Rejected } else { code.into() }
    }
}

impl From<Code> for ExitStatus {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidArguments
            | Code::NotConfigured
            | Code::ProjectRequired
            | Code::ProjectScopeMismatch
            | Code::FileError
            | Code::ConfirmationRequired => Self::InvalidInput,

            Code::ServiceUnavailable | Code::BadResponse | Code::Timeout => Self::Unavailable,
            Code::OutcomeUnknown => Self::OutcomeUnknown,

            Code::ProjectNotResolved
            | Code::Unauthenticated
            | Code::PermissionDenied
            | Code::FeatureDisabled
            | Code::NotFound
            | Code::Conflict
            | Code::QuotaExceeded
            | Code::TooLarge
            | Code::RateLimited
            | Code::Rejected
            | Code::Cancelled => Self::Rejected,
        }
    }
}

/// Reason for which a command ends without a result.
#[derive(Debug)]
pub(super) enum CommandError {
    /// Failures of calls, or of checks before a call. The first one determines the exit status.
    Failures(Vec<Failure>),
    /// A failure after requests had been sent, so that the arguments are not the cause.
    AfterRequests(Failure),
    /// Any other error, such as an output that cannot be written.
    Other(anyhow::Error),
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        Self::Failures(vec![failure])
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

impl From<clap::Error> for CommandError {
    fn from(error: clap::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<serde_json::Error> for CommandError {
    fn from(error: serde_json::Error) -> Self {
        Self::Other(error.into())
    }
}

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
