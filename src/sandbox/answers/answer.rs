//! [`Answer`]: the sandbox's side of one operation.

use http::StatusCode;

use crate::{
    sandbox::answers::{answered::Answered, api_error::ApiError, caller::Caller},
    service::operation::Operation,
};

/// The sandbox's side of one operation.
#[diagnostic::on_unimplemented(
    message = "the sandbox does not answer `{O}` yet",
    label = "add `impl Answer<{O}> for World` under src/sandbox/answers/"
)]
pub trait Answer<O: Operation> {
    /// What happens to a request that breaks a rule of the operation.
    const ON_INVALID: InvalidRequestPolicy = InvalidRequestPolicy::Refuse;

    /// Carries out `operation` for `caller` and returns the answer.
    fn answer(&mut self, operation: O, caller: &Caller) -> Result<Answered<O::Answer>, ApiError>;
}

/// What the sandbox does with a request that breaks a rule. Some operations have no 400 in the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidRequestPolicy {
    /// Answers 400 with the text of the rule.
    Refuse,
    /// Ignores the offending parameter, or the whole body if it cannot be read.
    Ignore,
    /// Answers 404 with this text: a record with such an id cannot exist.
    NotFound(&'static str),
}

impl InvalidRequestPolicy {
    /// Returns the error for a request that breaks `rule`.
    pub(crate) fn error(self, rule: String) -> ApiError {
        match self {
            Self::Refuse | Self::Ignore => ApiError::new(StatusCode::BAD_REQUEST, rule),
            Self::NotFound(error) => ApiError::not_found(error),
        }
    }
}
