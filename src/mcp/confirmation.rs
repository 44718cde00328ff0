//! Asks a person before a costly or irreversible call, in the way of the protocol revision.
//!
//! Revisions with `initialize` have an elicitation request. Later revisions answer the call with `input_required`, and
//! the host repeats the call with the answer. A host that cannot ask gets the failure `confirmation_required`.
//!
//! The state of a question is sealed with a key that is derived from the API key, so that every process with the same API
//! key accepts the answer.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use moka::{policy::EvictionPolicy, sync::Cache};
use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses,
    },
    service::{RequestContext, ServiceError},
};
use serde_json::Value;
use uuid::Uuid;

use super::revision::is_stateless;
use crate::{
    call::Caller,
    failure::{self, Code, Failure},
    sealing,
    service::tool::CONFIRM,
    text::single_line,
};

/// Purpose of the derived key that seals the state of a question.
const KEY_PURPOSE: &[u8] = b"tas-mcp confirmations 1";

/// How long a person may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(600);

/// Largest number of answered questions that are remembered.
const MAX_ANSWERED: u64 = 100_000;

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
#[derive(Debug)]
pub struct Confirmer {
    /// Ids of the questions that were answered. Each answer counts once in this process, and once in all processes that
    /// share a store.
    answered: Cache<String, ()>,
}

impl Default for Confirmer {
    fn default() -> Self {
        let answered = Cache::builder().max_capacity(MAX_ANSWERED).eviction_policy(EvictionPolicy::lru());
        Self { answered: answered.time_to_live(ANSWER_LIMIT).build() }
    }
}

impl Confirmer {
    /// Asks whether the call that was refused with `required` is to be made. `call` is the scope, the tool and its
    /// arguments as text. `caller` provides the key and the clock.
    pub(super) async fn ask(
        &self,
        call: &str,
        required: &Failure,
        retried: RetriedCall,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> ConfirmationOutcome {
        if let Some(state) = retried.state {
            return self.check_retry(call, &state, retried.answers, caller).await.into();
        }

        if !can_ask(context) {
            return ConfirmationOutcome::Unsupported;
        }
        let Some(question) = question(required) else { return ConfirmationOutcome::Unsupported };

        if is_stateless(context) {
            let response = require_input(call, question, caller).await;
            return response.map_or(ConfirmationOutcome::Unsupported, |response| {
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
        caller: &Caller,
    ) -> Result<(), ConfirmationError> {
        let key = caller.derived_key(KEY_PURPOSE).await.ok();
        let opened = key.and_then(|key| sealing::open(&key, call.as_bytes(), state));
        let (asked_at, id): (i64, String) = opened.ok_or(ConfirmationError::OtherCall)?;

        if !is_recent(asked_at, caller.clock().timestamp()) {
            return Err(ConfirmationError::Late);
        }
        if !self.answered.entry(id).or_insert(()).is_fresh() {
            return Err(ConfirmationError::AlreadyAnswered);
        }

        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        let answer = answer.and_then(|answer| serde_json::from_value(answer).ok());
        check_answer(&answer.ok_or(ConfirmationError::Unanswered)?)
    }
}

/// Returns the question that `required` states.
fn question(required: &Failure) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().ok()?;
    // The question quotes arguments, which the model has chosen.
    let message = format!("{}. Do you agree?", single_line(&required.message));

    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// Returns the response that makes the host ask. Its sealed state holds the time and the id of the question, and is
/// bound to `call`.
async fn require_input(
    call: &str,
    question: ElicitRequestParams,
    caller: &Caller,
) -> Option<InputRequiredResult> {
    let content = (caller.clock().timestamp().as_second(), Uuid::now_v7().to_string());
    let state = sealing::seal(&caller.derived_key(KEY_PURPOSE).await.ok()?, call.as_bytes(), &content)?;

    let question = InputRequest::Elicitation(ElicitRequest::new(question));
    let questions = [(CONFIRM.to_owned(), question)].into_iter().collect();

    Some(InputRequiredResult::new(Some(questions), Some(state)))
}

/// Returns whether a question of the time `asked_at`, in seconds since 1970, can still be answered. The clocks of two
/// processes may differ, so that the question may seem to be of the future.
fn is_recent(asked_at: i64, now: Timestamp) -> bool {
    let asked_at = Timestamp::from_second(asked_at).unwrap_or_default();
    now.duration_since(asked_at) <= SignedDuration::try_from(ANSWER_LIMIT).unwrap_or_default()
}

/// Returns nothing if the person agreed, or else why the call is not confirmed.
fn check_answer(answer: &ElicitResult) -> Result<(), ConfirmationError> {
    let content = answer.content.as_ref();
    let confirmed = content.and_then(|content| content.get(CONFIRM)).and_then(Value::as_bool);

    match (&answer.action, confirmed) {
        (ElicitationAction::Accept, Some(true)) => Ok(()),
        (ElicitationAction::Accept, None) => Err(ConfirmationError::Unanswered),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::check_answer;

    #[test]
    fn only_an_accepted_true_confirms() {
        let cases = [
            (json!({"action": "accept", "content": {"confirm": true}}), "Ok(())"),
            (json!({"action": "accept", "content": {"confirm": false}}), "Err(Declined)"),
            (json!({"action": "accept", "content": {}}), "Err(Unanswered)"),
            (json!({"action": "accept"}), "Err(Unanswered)"),
            (json!({"action": "decline", "content": {"confirm": true}}), "Err(Declined)"),
            (json!({"action": "cancel"}), "Err(Dismissed)"),
        ];

        for (answer, expected) in cases {
            let parsed = serde_json::from_value(answer.clone()).expect("an answer");
            assert_eq!(format!("{:?}", check_answer(&parsed)), expected, "{answer}");
        }
    }
}
