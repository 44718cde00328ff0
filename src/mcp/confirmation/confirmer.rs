//! Asks the person and checks the answer.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use lru::LruCache;
use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses,
    },
    service::RequestContext,
};
use uuid::Uuid;

use super::{
    answer::ConfirmationOutcome,
    error::{ANSWER_LIMIT, ConfirmationError},
};
use crate::{
    call::gateway::Gateway, failure::Failure, mcp::revision::is_stateless, sealing, service::tool::CONFIRM,
    text::single_line,
};

/// Purpose of the derived key that seals the state of a question.
const KEY_PURPOSE: &[u8] = b"tas-mcp confirmations 1";

/// Largest number of answered questions that are remembered.
const MAX_ANSWERED: usize = 1_000;

/// What a host adds when it repeats a call after `input_required`.
#[derive(Debug, Default)]
pub(in crate::mcp) struct RetriedCall {
    pub(in crate::mcp) state: Option<String>,
    pub(in crate::mcp) answers: Option<InputResponses>,
}

/// Asks persons to confirm calls. The state of a question is sealed with a key that is derived from the API key, so that
/// every process with the same API key accepts the answer.
#[derive(Debug)]
pub(in crate::mcp) struct Confirmer {
    /// Ids of the questions that were answered. Each answer counts once in this process, and
    /// once in all processes that share a store.
    answered: Mutex<LruCache<String, ()>>,
}

impl Default for Confirmer {
    fn default() -> Self {
        Self { answered: Mutex::new(LruCache::unbounded()) }
    }
}

impl Confirmer {
    /// Asks whether the call that was refused with `required` is to be made. `call` is the scope, the tool and its
    /// arguments as text. `gateway` provides the key and the clock.
    pub(in crate::mcp) async fn ask(
        &self,
        call: &str,
        required: &Failure,
        retried: RetriedCall,
        gateway: &Gateway,
        context: &RequestContext<RoleServer>,
    ) -> ConfirmationOutcome {
        if let Some(state) = retried.state {
            return self.check_answer(call, &state, retried.answers, gateway).await;
        }

        if !can_ask(context) {
            return ConfirmationOutcome::Unsupported;
        }
        let Some(question) = question(required) else { return ConfirmationOutcome::Unsupported };

        if is_stateless(context) {
            let response = require_input(call, question, gateway).await;
            return response.map_or(ConfirmationOutcome::Unsupported, |response| {
                ConfirmationOutcome::InputRequired(Box::new(response))
            });
        }

        match context.peer.create_elicitation_with_timeout(question, Some(ANSWER_LIMIT)).await {
            Ok(answer) => ConfirmationOutcome::from(&answer),
            Err(error) => ConfirmationOutcome::NotConfirmed(error.into()),
        }
    }

    /// Checks the answer to an earlier question. The answer counts once, only for the same call, and until
    /// [`ANSWER_LIMIT`].
    async fn check_answer(
        &self,
        call: &str,
        state: &str,
        answers: Option<InputResponses>,
        gateway: &Gateway,
    ) -> ConfirmationOutcome {
        let key = gateway.derived_key(KEY_PURPOSE).await.ok();
        let opened = key.and_then(|key| sealing::open(&key, call.as_bytes(), state));
        let Some((asked_at, id)): Option<(i64, String)> = opened else {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::OtherCall);
        };
        if !is_recent(asked_at, gateway.clock().timestamp()) {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::Late);
        }
        if self.is_answered(id, gateway).await {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::AlreadyAnswered);
        }

        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        match answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok()) {
            Some(answer) => ConfirmationOutcome::from(&answer),
            None => ConfirmationOutcome::NotConfirmed(ConfirmationError::Unanswered),
        }
    }

    /// Returns whether the question `id` was answered before, and records that it is answered.
    async fn is_answered(&self, id: String, gateway: &Gateway) -> bool {
        let is_first = {
            let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = answered.put(id.clone(), ()).is_none();
            if answered.len() > MAX_ANSWERED {
                answered.pop_lru();
            }
            is_first
        };

        !is_first || gateway.is_used_elsewhere(&id, ANSWER_LIMIT).await
    }
}

/// Returns the response that makes the host ask. Its sealed state holds the time and the id of the question, and is
/// bound to `call`.
async fn require_input(
    call: &str,
    question: ElicitRequestParams,
    gateway: &Gateway,
) -> Option<InputRequiredResult> {
    let content = (gateway.clock().timestamp().as_second(), Uuid::now_v7().to_string());
    let state = sealing::seal(&gateway.derived_key(KEY_PURPOSE).await.ok()?, call.as_bytes(), &content)?;

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

/// Returns whether the host can show a form. A host that names no mode can show forms.
pub(in crate::mcp) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let elicitation = context.client_capabilities().and_then(|client| client.elicitation);
    elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
}

/// Returns the question that `required` states.
fn question(required: &Failure) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().ok()?;
    // The question quotes arguments, which the model has chosen.
    let message = format!("{}. Do you agree?", single_line(&required.message));
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}
