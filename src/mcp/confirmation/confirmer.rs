//! Asks the person and checks the answer.

use std::{
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use lru::LruCache;
use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses, RequestStateCodec, SealOptions,
    },
    service::RequestContext,
};
use serde_json::json;
use uuid::Uuid;

use super::{
    answer::ConfirmationOutcome,
    error::{ANSWER_LIMIT, ConfirmationError},
};
use crate::{failure::Failure, mcp::revision::is_stateless, service::tool::CONFIRM, text::single_line};

/// Largest number of questions that wait for an answer. The answer to a question that was dropped does not count.
const MAX_PENDING: NonZeroUsize = NonZeroUsize::new(1_000).expect("not zero");

/// What a host adds when it repeats a call after `input_required`.
#[derive(Debug, Default)]
pub(in crate::mcp) struct RetriedCall {
    pub(in crate::mcp) state: Option<String>,
    pub(in crate::mcp) answers: Option<InputResponses>,
}

/// Asks persons to confirm calls.
#[derive(Debug)]
pub(in crate::mcp) struct Confirmer {
    /// Seals the request state; `None` if the system provides no random key.
    codec: Option<RequestStateCodec>,
    /// Questions without an answer. Each answer counts once.
    pending: Mutex<LruCache<String, ()>>,
}

impl Confirmer {
    /// Creates a confirmer with a random key, so that only this confirmer accepts the answers to its questions.
    pub(in crate::mcp) fn new() -> Self {
        let mut key = [0; 32];
        let random = rustls::crypto::ring::default_provider().secure_random.fill(&mut key);
        let codec = random.ok().and_then(|()| RequestStateCodec::try_new(key.to_vec()).ok());

        Self { codec, pending: Mutex::new(LruCache::new(MAX_PENDING)) }
    }

    /// Asks whether the call that was refused with `required` is to be made. `call` is the tool and its arguments as
    /// text, `now` the time of the server's clock.
    pub(in crate::mcp) async fn ask(
        &self,
        call: &str,
        required: &Failure,
        retried: RetriedCall,
        now: Duration,
        context: &RequestContext<RoleServer>,
    ) -> ConfirmationOutcome {
        if let Some(state) = retried.state {
            return self.check_answer(call, &state, retried.answers, now);
        }

        if !can_ask(context) {
            return ConfirmationOutcome::Unsupported;
        }
        let Some(question) = question(required) else { return ConfirmationOutcome::Unsupported };

        if is_stateless(context) {
            let response = self.require_input(call, question, now);
            return response.map_or(ConfirmationOutcome::Unsupported, |response| {
                ConfirmationOutcome::InputRequired(Box::new(response))
            });
        }

        match context.peer.create_elicitation_with_timeout(question, Some(ANSWER_LIMIT)).await {
            Ok(answer) => ConfirmationOutcome::from(&answer),
            Err(error) => ConfirmationOutcome::NotConfirmed(error.into()),
        }
    }

    /// Returns the response that makes the host ask. Its sealed state holds the time and the id of the question, and is
    /// bound to `call`.
    fn require_input(
        &self,
        call: &str,
        question: ElicitRequestParams,
        now: Duration,
    ) -> Option<InputRequiredResult> {
        let options = SealOptions::new().associated_data(call.as_bytes());
        let id = Uuid::now_v7().to_string();
        let state = self.codec.as_ref()?.seal_json_with(&json!((now.as_secs(), &id)), &options).ok()?;
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).put(id, ());

        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [(CONFIRM.to_owned(), question)].into_iter().collect();

        Some(InputRequiredResult::new(Some(questions), Some(state)))
    }

    /// Checks the answer to an earlier question. The answer counts once, only for the same call, and until
    /// [`ANSWER_LIMIT`].
    fn check_answer(
        &self,
        call: &str,
        state: &str,
        answers: Option<InputResponses>,
        now: Duration,
    ) -> ConfirmationOutcome {
        let opened = self.codec.as_ref().and_then(|codec| codec.open_json_with(state, call.as_bytes()).ok());
        let Some((asked_at, id)): Option<(u64, String)> = opened else {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::OtherCall);
        };
        if self.pending.lock().unwrap_or_else(PoisonError::into_inner).pop(&id).is_none() {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::AlreadyAnswered);
        }
        if now.saturating_sub(Duration::from_secs(asked_at)) > ANSWER_LIMIT {
            return ConfirmationOutcome::NotConfirmed(ConfirmationError::Late);
        }

        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        match answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok()) {
            Some(answer) => ConfirmationOutcome::from(&answer),
            None => ConfirmationOutcome::NotConfirmed(ConfirmationError::Unanswered),
        }
    }
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
