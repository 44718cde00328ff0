//! Why nobody agreed, as the caller is told.

use crate::{
    failure::{self, Code, Failure},
    service::tool::CONFIRM,
};

use super::PATIENCE;

/// Why nobody agreed. Whatever it is, nothing was sent.
#[derive(Debug)]
pub(in crate::mcp) enum Unagreed {
    /// The person said no.
    Declined,
    /// The person closed the question.
    Dismissed,
    /// The host came back with nothing that could be an answer.
    Unanswered,
    /// The person took too long.
    Late,
    /// The host could not ask; its own words.
    HostFailed(String),
    /// The host has gone, or took the call back.
    Gone,
    /// The answer is to another question.
    OfAnotherCall,
}

impl Unagreed {
    /// The failure of the call: `failure` is the one that asked for a person's yes.
    pub(in crate::mcp) fn told(self, failure: Failure) -> Failure {
        const ASK: &str = "ask the person, then call again with";
        const ANEW: &str = "nothing was sent: call again, and the person is asked anew";

        let other = |code: Code, why: &str| Failure::new(code, format!("{failure}: {why}"));
        match self {
            Self::Declined => failure.hint("the person did not agree; nothing was sent"),
            Self::Dismissed => failure.hint("the person closed the question; nothing was sent"),
            Self::Unanswered => {
                failure.hint(format!("the host brought no answer; nothing was sent: {ASK} `{CONFIRM}: true`"))
            }
            Self::HostFailed(why) => failure
                .detail("host_error", failure::quotation(&why))
                .hint(format!("the host failed to ask; nothing was sent: {ASK} `{CONFIRM}: true`")),
            Self::Late => {
                let why = format!("no answer within {} s", PATIENCE.as_secs());
                other(Code::Timeout, &why).hint(ANEW)
            }
            Self::Gone => other(Code::Cancelled, "the question was taken back").hint(ANEW),
            Self::OfAnotherCall => {
                other(Code::InvalidArguments, "`requestState` is not of this call").hint(ANEW)
            }
        }
    }
}
