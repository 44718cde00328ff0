//! The outcome of a question, and how the answer of a host is understood.

use rmcp::{
    model::{ElicitResult, ElicitationAction, InputRequiredResult},
    service::ServiceError,
};
use serde_json::Value;

use super::error::ConfirmationError;
use crate::service::tool::CONFIRM;

/// The outcome of a question.
#[derive(Debug)]
pub(in crate::mcp) enum ConfirmationOutcome {
    /// The person agreed.
    Confirmed,
    /// The person did not agree.
    NotConfirmed(ConfirmationError),
    /// The host asks the person and repeats the call with the answer.
    InputRequired(Box<InputRequiredResult>),
    /// The host cannot ask.
    Unsupported,
}

impl From<&ElicitResult> for ConfirmationOutcome {
    fn from(answer: &ElicitResult) -> Self {
        let content = answer.content.as_ref();
        let confirmed = content.and_then(|content| content.get(CONFIRM)).and_then(Value::as_bool);

        match (&answer.action, confirmed) {
            (ElicitationAction::Accept, Some(true)) => Self::Confirmed,
            (ElicitationAction::Accept, None) => Self::NotConfirmed(ConfirmationError::Unanswered),
            (ElicitationAction::Cancel, _) => Self::NotConfirmed(ConfirmationError::Dismissed),
            _ => Self::NotConfirmed(ConfirmationError::Declined),
        }
    }
}

impl From<ServiceError> for ConfirmationError {
    fn from(error: ServiceError) -> Self {
        tracing::warn!("the host did not ask the person: {error}");
        match error {
            ServiceError::McpError(error) => Self::HostFailed(error.message.into_owned()),
            ServiceError::UnexpectedResponse => Self::Unanswered,
            ServiceError::Timeout { .. } => Self::Late,
            _ => Self::Withdrawn,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ConfirmationOutcome;

    #[test]
    fn only_an_accepted_true_confirms() {
        let cases = [
            (json!({"action": "accept", "content": {"confirm": true}}), "Confirmed"),
            (json!({"action": "accept", "content": {"confirm": false}}), "NotConfirmed(Declined)"),
            (json!({"action": "accept", "content": {}}), "NotConfirmed(Unanswered)"),
            (json!({"action": "accept"}), "NotConfirmed(Unanswered)"),
            (json!({"action": "decline", "content": {"confirm": true}}), "NotConfirmed(Declined)"),
            (json!({"action": "cancel"}), "NotConfirmed(Dismissed)"),
        ];

        for (answer, expected) in cases {
            let outcome = ConfirmationOutcome::from(&parse(&answer));
            assert_eq!(format!("{outcome:?}"), expected, "{answer}");
        }
    }

    fn parse(answer: &Value) -> rmcp::model::ElicitResult {
        serde_json::from_value(answer.clone()).expect("an answer")
    }
}
