//! Asks a person before a costly or irreversible call, in the way of the protocol revision.
//!
//! Revisions with `initialize` have an elicitation request. Later revisions answer the call with `input_required`, and
//! the host repeats the call with the answer. A host that cannot ask gets the failure `confirmation_required`.
//!
//! The state of a question is sealed with a key that is derived from the API key, so that every process with the same API
//! key accepts the answer.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses, SealOptions,
    },
    service::{RequestContext, ServiceError},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{
    callers::{Callers, sealing},
    revision::is_stateless,
};
use crate::{
    failure::{self, Code, Failure},
    service::tool::CONFIRM,
    text::single_line,
};

/// Purpose of the derived key that seals the state of a question.
const KEY_PURPOSE: &[u8] = b"tas-mcp confirmations 2";

/// How long a person may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(300);

/// What a host adds when it repeats a call after `input_required`.
#[derive(Debug, Default)]
pub(super) struct RetriedCall {
    pub(super) state: Option<String>,
    pub(super) answers: Option<InputResponses>,
}

/// The outcome of a question.
#[derive(Debug)]
pub(super) enum ConfirmationOutcome {
    /// The person agreed.
    Confirmed,
    /// The person did not agree.
    NotConfirmed(ConfirmationError),
    /// The host asks the person and repeats the call with the answer.
    InputRequired(Box<InputRequiredResult>),
    /// The host cannot ask.
    Unsupported,
    /// The settings are unusable.
    Unusable(Failure),
}

impl From<Result<(), ConfirmationError>> for ConfirmationOutcome {
    fn from(answer: Result<(), ConfirmationError>) -> Self {
        answer.map_or_else(Self::NotConfirmed, |()| Self::Confirmed)
    }
}

/// Returns whether the host can show a form. A host that names no mode can show forms.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Asks persons to confirm calls. All servers of a process share one.
#[derive(Debug, Default)]
pub struct Confirmer {
    /// The questions that were answered and could be answered again. Each answer counts once in this process.
    answered: Mutex<BTreeMap<Uuid, Timestamp>>,
}

/// The sealed state of a question.
#[derive(Debug, Serialize, Deserialize)]
struct Question {
    id: Uuid,
    asked_at: Timestamp,
}

impl Confirmer {
    /// Asks whether the call that was refused with `required` is to be made. `call` is the scope, the tool and its
    /// arguments as text. `callers` provide the key and the clock.
    pub(super) async fn ask(
        &self,
        call: &str,
        required: &Failure,
        retried: RetriedCall,
        callers: &dyn Callers,
        context: &RequestContext<RoleServer>,
    ) -> ConfirmationOutcome {
        if let Some(state) = retried.state {
            return self.check_retry(call, &state, retried.answers, callers).await.into();
        }

        if !can_ask(context) {
            return ConfirmationOutcome::Unsupported;
        }
        let Some(question) = question(required) else { return ConfirmationOutcome::Unsupported };

        if is_stateless(context) {
            let response = require_input(call, question, callers).await;
            return response.map_or_else(ConfirmationOutcome::Unusable, |response| {
                ConfirmationOutcome::InputRequired(Box::new(response))
            });
        }

        match context.peer.create_elicitation_with_timeout(question, Some(ANSWER_LIMIT)).await {
            Ok(answer) => check_answer(&answer).into(),
            Err(error) => ConfirmationOutcome::NotConfirmed(error.into()),
        }
    }

    /// Checks the answer to an earlier question. The answer counts once, only for the same call, and until
    /// [`ANSWER_LIMIT`].
    async fn check_retry(
        &self,
        call: &str,
        state: &str,
        answers: Option<InputResponses>,
        callers: &dyn Callers,
    ) -> Result<(), ConfirmationError> {
        let caller = callers.first().map_err(|_| ConfirmationError::OtherCall)?;
        let codec = sealing(callers, KEY_PURPOSE).await.map_err(|_| ConfirmationError::OtherCall)?;
        let opened = codec.open_json_with(state, call.as_bytes());
        let question: Question = opened.map_err(|_| ConfirmationError::OtherCall)?;

        let now = caller.clock().timestamp();
        if !is_recent(question.asked_at, now) {
            return Err(ConfirmationError::Late);
        }
        if self.is_answered(&question, now) {
            return Err(ConfirmationError::AlreadyAnswered);
        }

        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        let answer = answer.and_then(|answer| serde_json::from_value(answer).ok());
        check_answer(&answer.ok_or(ConfirmationError::Unanswered)?)
    }

    fn is_answered(&self, question: &Question, now: Timestamp) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, asked_at| is_recent(*asked_at, now));
        answered.insert(question.id, question.asked_at).is_some()
    }
}

fn question(required: &Failure) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().ok()?;
    // A person does not know the tool, with which the refusal begins. The question quotes arguments, which the model has chosen.
    let effect = required.message.split_once(' ').map_or(&*required.message, |(_, effect)| effect);
    let message = format!("This {}. Do you agree?", single_line(effect));

    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Returns the response that makes the host ask. Its sealed state holds the time and the id of the question, and is
/// bound to `call`.
async fn require_input(
    call: &str,
    question: ElicitRequestParams,
    callers: &dyn Callers,
) -> Result<InputRequiredResult, Failure> {
    let content = Question { id: Uuid::now_v7(), asked_at: callers.first()?.clock().timestamp() };
    let codec = sealing(callers, KEY_PURPOSE).await?;
    let state = codec
        .seal_json_with(&content, &SealOptions::new().associated_data(call.as_bytes()))
        .map_err(|error| Failure::new(Code::NotConfigured, error.to_string()))?;

    let question = InputRequest::Elicitation(ElicitRequest::new(question));
    let questions = [(CONFIRM.to_owned(), question)].into_iter().collect();

    Ok(InputRequiredResult::new(Some(questions), Some(state)))
}

/// Returns whether a question of the time `asked_at` can still be answered. The clocks of two
/// processes may differ, so that the question may seem to be of the future.
fn is_recent(asked_at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(asked_at) <= SignedDuration::try_from(ANSWER_LIMIT).unwrap_or_default()
}

/// Returns nothing if the person agreed, or else why the call is not confirmed.
fn check_answer(answer: &ElicitResult) -> Result<(), ConfirmationError> {
    let content = answer.content.as_ref();
    let confirmed = content.and_then(|content| content.get(CONFIRM)).and_then(Value::as_bool);

    match (&answer.action, confirmed) {
        (ElicitationAction::Accept, Some(true)) => Ok(()),
        (ElicitationAction::Accept, None) => Err(ConfirmationError::Empty),
        (ElicitationAction::Cancel, _) => Err(ConfirmationError::Dismissed),
        _ => Err(ConfirmationError::Declined),
    }
}

/// Why a call was not confirmed. In all these cases no request was sent to the service.
#[derive(Debug)]
pub(super) enum ConfirmationError {
    /// The person declined.
    Declined,
    /// The person closed the question.
    Dismissed,
    /// The host returned no answer, or an answer of another form.
    Unanswered,
    /// The host accepted without the answer of a person: it shows no form.
    Empty,
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

impl ConfirmationError {
    /// Returns the failure of the call. `required` is the failure that says that the call needs confirmation.
    pub(super) fn into_failure(self, required: Failure) -> Failure {
        const CALL_AGAIN: &str = "nothing was sent: call again to ask the person again";

        let failure = |code: Code, reason: &str| Failure::new(code, format!("{required}: {reason}"));

        match self {
            Self::Declined => required.hint("the person did not agree; nothing was sent"),
            Self::Dismissed => required.hint("the person closed the question; nothing was sent"),
            Self::Unanswered => required.hint(format!("the host returned no answer; {CALL_AGAIN}")),
            Self::HostFailed(message) => required.detail("host_error", failure::quote(&message)).hint(format!(
                "the host failed to ask; nothing was sent: ask the person, then call again with `{CONFIRM}: true`"
            )),
            Self::Empty => required.hint(
                "the host agreed without an answer of the person, which is no agreement; nothing was sent: do not call again, the person can make the call with `tas-mcp` in a terminal",
            ),
            Self::Late => required.hint(format!("no answer within {} s; {CALL_AGAIN}", ANSWER_LIMIT.as_secs())),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check_answer;

    #[test]
    fn only_an_accepted_true_confirms() {
        let cases = [
            (json!({"action": "accept", "content": {"confirm": true}}), "Ok(())"),
            (json!({"action": "accept", "content": {"confirm": false}}), "Err(Declined)"),
            (json!({"action": "accept", "content": {}}), "Err(Empty)"),
            (json!({"action": "accept"}), "Err(Empty)"),
            (json!({"action": "decline", "content": {"confirm": true}}), "Err(Declined)"),
            (json!({"action": "cancel"}), "Err(Dismissed)"),
        ];

        for (answer, expected) in cases {
            let parsed = serde_json::from_value(answer.clone()).expect("an answer");
            assert_eq!(format!("{:?}", check_answer(&parsed)), expected, "{answer}");
        }
    }
}
