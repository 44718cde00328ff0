//! The result of a wait.

use serde_json::Value;

use crate::{
    cli::exit_status::ExitStatus,
    tools::waiting::{Completion, WaitStatus},
};

/// Result of a wait, or of a start and the wait for it.
#[derive(Debug)]
pub(in crate::cli) struct WaitResult {
    pub(in crate::cli) completion: Completion,
    /// The service's answer to the start, if the command started anything.
    pub(in crate::cli) started: Option<Value>,
    pub(in crate::cli) not_started: Vec<NotStarted>,
}

/// A run that could not be started.
#[derive(Clone, Debug)]
pub(in crate::cli) struct NotStarted {
    /// Label of the device; empty if the service does not name the device.
    pub(in crate::cli) device: String,
    pub(in crate::cli) reason: String,
}

impl WaitResult {
    /// Returns success only if every requested run was started, has finished and has passed.
    pub(super) fn exit_status(&self) -> ExitStatus {
        if self.completion.status == WaitStatus::TimedOut {
            ExitStatus::TimedOut
        } else if self.completion.all_passed == Some(true) && self.not_started.is_empty() {
            ExitStatus::Success
        } else {
            ExitStatus::NotPassed
        }
    }

    /// Returns the reasons why tests are missing from the items.
    pub(super) fn unread_reasons(&self) -> Vec<String> {
        let unread = self.completion.unread.iter();
        unread.map(|unread| format!("{}: {}", unread.what, unread.why)).collect()
    }
}
