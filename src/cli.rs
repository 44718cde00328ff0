//! The operations as a command line, for people and CI: read from the same catalog as the tools.

use std::io::Write;

mod call;
mod completions;
mod doctor;
mod download;
mod images;
mod live;
mod new_file;
mod program;
mod progress;
mod report;
mod run;
mod signals;
mod table;
mod tools;
mod upload;
mod verdicts;
mod wait;

pub use call::{command as call_command, run as call};
pub use completions::{command as completions_command, run as completions};
pub use doctor::{command as doctor_command, run as doctor};
pub use download::{command as download_command, run as download};
pub use program::program;
pub use report::{command as report_command, run as report};
pub use run::{command as run_command, run as start};
pub use signals::Signals;
pub use tools::{command as tools_command, run as tools};
pub use upload::{command as upload_command, run as upload};
pub use wait::{command as wait_command, run as wait};

use crate::{
    failure::{Code, Failure},
    settings::PROBLEMS,
};

/// How a command ended, as its exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Done = 0,
    /// The service said no, or what came could not be written.
    Refused = 1,
    /// The arguments or settings are wrong; no writing request was sent.
    Unusable = 2,
    /// The service cannot be reached, or its answer cannot be used.
    Unreachable = 3,
    /// A writing request was sent and no answer came: it may have happened.
    Unknown = 4,
    /// Everything is over, and not every verdict is SUCCESS.
    NotPassed = 10,
    /// Not everything was over in time.
    TimedOut = 11,
}

impl Exit {
    /// The exit codes, for the help of commands that send requests.
    pub const HELP: &'static str = "Exit codes: 0 done, 1 the service said no or a file could not be written, 2 wrong arguments or settings (no writing request was sent), 3 the service cannot be reached, 4 outcome unknown";

    /// The exit codes of commands that wait.
    pub const HELP_OF_WAITING: &'static str = "Exit codes: 0 every verdict is SUCCESS, 10 some are not, 11 not all was over in time; 1 the service said no or a file could not be written, 2 wrong arguments or settings (no writing request was sent), 3 the service cannot be reached, 4 outcome unknown";
}

impl Exit {
    /// How a command ends that failed after requests had been sent.
    fn late(code: Code) -> Self {
        if code == Code::FileError { Self::Refused } else { code.into() }
    }
}

impl From<Code> for Exit {
    fn from(code: Code) -> Self {
        match code {
            Code::InvalidArguments
            | Code::NotConfigured
            | Code::ProjectRequired
            | Code::ProjectScopeMismatch
            | Code::FileError
            | Code::ConfirmationRequired => Self::Unusable,
            Code::ServiceUnavailable | Code::BadResponse | Code::Timeout => Self::Unreachable,
            Code::OutcomeUnknown => Self::Unknown,
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
            | Code::Cancelled => Self::Refused,
        }
    }
}

/// Says a failure that came after requests had been sent: no argument is at fault then.
fn complain_late(failure: &Failure) -> Exit {
    complain(failure);
    Exit::late(failure.code)
}

/// A failure of a command: its settings are at hand, where a server's are in its host.
fn at_hand(failure: &Failure) -> Failure {
    let failure = failure.clone();
    if failure.code != Code::NotConfigured || !failure.details.contains_key(PROBLEMS) {
        return failure;
    }
    failure.hint("set them as flags or variables, which `tas-mcp --help` lists; `--sandbox` needs none")
}

/// Says a failure on standard error: for people on a terminal, else as the JSON that tools answer.
fn complain(failure: &Failure) -> Exit {
    let mut errors = anstream::stderr();
    let failure = at_hand(failure);
    let said = if std::io::IsTerminal::is_terminal(&std::io::stderr()) {
        let hint = failure.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
        format!("error: {failure}{hint}")
    } else {
        failure.to_json()
    };

    // Nothing is left to say it to when standard error is gone.
    drop(writeln!(errors, "{said}"));

    failure.code.into()
}
