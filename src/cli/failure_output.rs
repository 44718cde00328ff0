//! Prints failures on standard error.

use std::io::{IsTerminal as _, Write as _};

use super::exit_status::ExitStatus;
use crate::{failure::Failure, text::single_line};

/// Prints a failure and returns its exit status. A terminal shows a message; a pipe receives the JSON with which tools
/// report failures.
pub(super) fn print_failure(failure: &Failure) -> ExitStatus {
    let failure = failure.clone().visible();
    let text = if std::io::stderr().is_terminal() {
        // A line break in a text of the service must not look like a line of this program.
        let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {}", single_line(hint)));
        format!("error: {}{}", single_line(&failure.message), hint.unwrap_or_default())
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
