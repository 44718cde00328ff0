//! Prints failures on standard error.

use std::io::{IsTerminal as _, Write as _};

use super::exit_status::ExitStatus;
use crate::failure::Failure;

/// Prints a failure and returns its exit status. A terminal shows a message; a pipe receives the JSON with which tools
/// report failures.
pub(super) fn print_failure(failure: &Failure) -> ExitStatus {
    let text = if std::io::stderr().is_terminal() {
        let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("error: {failure}{hint}")
    } else {
        failure.to_json()
    };

    // If standard error is closed, the exit status is all that can be reported.
    drop(writeln!(anstream::stderr(), "{text}"));

    failure.code.into()
}

/// Prints a failure that occurred after requests had been sent, and returns its exit status.
pub(super) fn print_failure_after_requests(failure: &Failure) -> ExitStatus {
    print_failure(failure);
    ExitStatus::after_requests(failure.code)
}
