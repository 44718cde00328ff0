//! The reasons for which a command ends early.

use crate::failure::Failure;

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
