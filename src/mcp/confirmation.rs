//! Asking the person before a costly or irreversible call, in the way that the host's revision has.
//!
//! A host that cannot ask gets `confirmation_required`; the caller then asks in its own words.

use std::time::Duration;

use rmcp::{
    RoleServer,
    model::{
        ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
        InputRequiredResult, InputResponses, RequestStateCodec, SealOptions,
    },
    service::{RequestContext, ServiceError},
};
use serde_json::{Value, json};

mod unagreed;

use self::unagreed::Unagreed;
use super::is_modern;
use crate::{failure::Failure, service::tool::CONFIRM};

/// How long a person may think about it.
const PATIENCE: Duration = Duration::from_secs(600);

/// What came of asking.
pub(super) enum Asked {
    /// The person agreed.
    Yes,
    /// Nobody did.
    No(Unagreed),
    /// The host asks, and repeats the call with the answer.
    Later(Box<InputRequiredResult>),
    /// The host cannot ask.
    NotPossible,
}

/// What a repeated call brings along.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    pub(super) state: Option<String>,
    pub(super) answers: Option<InputResponses>,
}

/// Asks persons.
#[derive(Debug)]
pub(super) struct Confirmation {
    codec: Option<RequestStateCodec>,
}

impl Confirmation {
    /// With a key of this process: a question is answered by who was asked.
    pub(super) fn new() -> Self {
        let mut key = [0; 32];
        let random = rustls::crypto::ring::default_provider().secure_random.fill(&mut key);
        Self { codec: random.ok().and_then(|()| RequestStateCodec::try_new(key.to_vec()).ok()) }
    }

    /// Asks whether the call that `failure` refuses shall be made; `call` names the tool and its arguments.
    pub(super) async fn ask(
        &self,
        call: &str,
        failure: &Failure,
        repeated: Repeated,
        now: Duration,
        context: &RequestContext<RoleServer>,
    ) -> Asked {
        if let Some(state) = repeated.state {
            return self.answered(call, &state, repeated.answers, now);
        }

        let can_ask = context.client_capabilities().and_then(|client| client.elicitation);
        if !can_ask.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Asked::NotPossible;
        }

        let Some(question) = question(failure) else { return Asked::NotPossible };
        if is_modern(context) {
            return self.later(call, question, now);
        }

        match context.peer.create_elicitation_with_timeout(question, Some(PATIENCE)).await {
            Ok(answer) => said(&answer),
            Err(error) => Asked::No(unasked(error)),
        }
    }

    fn later(&self, call: &str, question: ElicitRequestParams, now: Duration) -> Asked {
        let options = SealOptions::new().associated_data(call.as_bytes());
        let asked_at = json!(now.as_secs());
        let Some(state) =
            self.codec.as_ref().and_then(|codec| codec.seal_json_with(&asked_at, &options).ok())
        else {
            return Asked::NotPossible;
        };
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [(CONFIRM.to_owned(), question)].into_iter().collect();

        Asked::Later(Box::new(InputRequiredResult::new(Some(questions), Some(state))))
    }

    /// The answer counts only for the very call that was asked about, and for as long as a person may think.
    fn answered(&self, call: &str, state: &str, answers: Option<InputResponses>, now: Duration) -> Asked {
        let opened = self.codec.as_ref().and_then(|codec| codec.open_json_with(state, call.as_bytes()).ok());
        let Some(asked_at) = opened.map(Duration::from_secs) else {
            return Asked::No(Unagreed::OfAnotherCall);
        };
        if now.saturating_sub(asked_at) > PATIENCE {
            return Asked::No(Unagreed::Late);
        }

        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());

        answer.map_or(Asked::No(Unagreed::Unanswered), |answer| said(&answer))
    }
}

fn question(failure: &Failure) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().ok()?;
    let message = format!("{failure}. Shall it be done?");
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

/// What an answer means.
fn said(answer: &ElicitResult) -> Asked {
    let confirmed = answer.content.as_ref().and_then(|content| content.get(CONFIRM)).and_then(Value::as_bool);
    match (&answer.action, confirmed) {
        (ElicitationAction::Accept, Some(true)) => Asked::Yes,
        (ElicitationAction::Accept, None) => Asked::No(Unagreed::Unanswered),
        (ElicitationAction::Cancel, _) => Asked::No(Unagreed::Dismissed),
        _ => Asked::No(Unagreed::Declined),
    }
}

/// Why there is no answer.
fn unasked(error: ServiceError) -> Unagreed {
    tracing::warn!("the host did not ask the person: {error}");
    match error {
        ServiceError::McpError(error) => Unagreed::HostFailed(error.message.into_owned()),
        ServiceError::UnexpectedResponse => Unagreed::Unanswered,
        ServiceError::Timeout { .. } => Unagreed::Late,
        _ => Unagreed::Gone,
    }
}
