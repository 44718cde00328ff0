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
    service::RequestContext,
};
use serde_json::Value;

use super::is_modern;
use crate::{failure::Failure, gateway::CONFIRM};

/// How long a person may think about it.
const PATIENCE: Duration = Duration::from_secs(600);

/// What came of asking.
pub(super) enum Asked {
    /// The person agreed.
    Yes,
    /// The person did not.
    No,
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
        context: &RequestContext<RoleServer>,
    ) -> Asked {
        if let Some(state) = repeated.state {
            return self.answered(call, &state, repeated.answers);
        }
        let can_ask = context.client_capabilities().and_then(|client| client.elicitation);
        if !can_ask.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Asked::NotPossible;
        }
        let Some(question) = question(failure) else { return Asked::NotPossible };
        if is_modern(context) {
            return self.later(call, question);
        }
        match context.peer.create_elicitation_with_timeout(question, Some(PATIENCE)).await {
            Ok(answer) if is_yes(&answer) => Asked::Yes,
            _ => Asked::No,
        }
    }

    fn later(&self, call: &str, question: ElicitRequestParams) -> Asked {
        let options = SealOptions::new().associated_data(call.as_bytes()).ttl(PATIENCE);
        let Some(state) = self.codec.as_ref().map(|codec| codec.seal_with(&[], &options)) else {
            return Asked::NotPossible;
        };
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let questions = [(CONFIRM.to_owned(), question)].into_iter().collect();
        Asked::Later(Box::new(InputRequiredResult::new(Some(questions), Some(state))))
    }

    /// The answer counts only for the very call that was asked about.
    fn answered(&self, call: &str, state: &str, answers: Option<InputResponses>) -> Asked {
        let opened = self.codec.as_ref().is_some_and(|codec| codec.open_with(state, call.as_bytes()).is_ok());
        let answer = answers.and_then(|mut answers| answers.remove(CONFIRM));
        let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        if opened && answer.is_some_and(|answer| is_yes(&answer)) { Asked::Yes } else { Asked::No }
    }
}

fn question(failure: &Failure) -> Option<ElicitRequestParams> {
    let schema = ElicitationSchema::builder().required_bool(CONFIRM).build().ok()?;
    let message = format!("{failure}. Shall it be done?");
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

fn is_yes(answer: &ElicitResult) -> bool {
    let confirmed = answer.content.as_ref().and_then(|content| content.get(CONFIRM));
    answer.action == ElicitationAction::Accept && confirmed == Some(&Value::Bool(true))
}
