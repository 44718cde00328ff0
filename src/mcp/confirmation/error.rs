//! Why a call was not confirmed, and the failure that the caller gets for it.

use std::time::Duration;

use crate::{
    failure::{self, Code, Failure},
    service::tool::CONFIRM,
};

/// How long a person may take to answer.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(600);

/// Why a call was not confirmed. In all these cases no request was sent to the service.
#[derive(Debug)]
pub(in crate::mcp) enum ConfirmationError {
    /// The person declined.
    Declined,
    /// The person closed the question.
    Dismissed,
    /// The host returned no answer, or an answer of another form.
    Unanswered,
    /// The answer came after [`ANSWER_LIMIT`].
    Late,
    /// The host could not ask. Holds the error message of the host.
    HostFailed(String),
    /// The host disconnected or cancelled the call.
    Withdrawn,
    /// The answer belongs to another call.
    OtherCall,
    /// The question was answered before.
    AlreadyAnswered,
}

impl ConfirmationError {
    /// Returns the failure of the call. `required` is the failure that says that the call needs confirmation.
    pub(in crate::mcp) fn into_failure(self, required: Failure) -> Failure {
        const CALL_AGAIN: &str = "nothing was sent: call again to ask the person again";

        let failure = |code: Code, reason: &str| Failure::new(code, format!("{required}: {reason}"));

        match self {
            Self::Declined => required.hint("the person did not agree; nothing was sent"),
            Self::Dismissed => required.hint("the person closed the question; nothing was sent"),
            Self::Unanswered => required.hint(format!("the host returned no answer; {CALL_AGAIN}")),
            Self::HostFailed(message) => required.detail("host_error", failure::quote(&message)).hint(format!(
                "the host failed to ask; nothing was sent: ask the person, then call again with `{CONFIRM}: true`"
            )),
            Self::Late => {
                let reason = format!("no answer within {} s", ANSWER_LIMIT.as_secs());
                failure(Code::Timeout, &reason).hint(CALL_AGAIN)
            }
            Self::Withdrawn => failure(Code::Cancelled, "the question was withdrawn").hint(CALL_AGAIN),
            Self::OtherCall => {
                failure(Code::InvalidArguments, "`requestState` belongs to another call").hint(CALL_AGAIN)
            }
            Self::AlreadyAnswered => {
                failure(Code::InvalidArguments, "`requestState` was used before").hint(CALL_AGAIN)
            }
        }
    }
}
