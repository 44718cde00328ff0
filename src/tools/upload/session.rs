//! Calls of operations for one project.

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{cancelled, timing::UploadTiming};
use crate::{
    call::gateway::Gateway,
    failure::{Code, Failure},
    fields::Fields,
    service::{
        catalog::{self, OperationEntry},
        tool::{CONFIRM, PROJECT_ID},
    },
};

/// The way to the operations of one project.
#[derive(Clone, Debug)]
pub(super) struct UploadSession {
    pub(super) gateway: Gateway,
    /// `None`: it follows from the settings or the key.
    pub(super) project: Option<String>,
    pub(super) timing: UploadTiming,
    /// When the service ends the upload, by the clock of the gateway: no pause is longer than that.
    pub(super) end: Duration,
    /// Ends the pauses.
    pub(super) cancelled: CancellationToken,
}

impl UploadSession {
    /// Finds out to which project `operation` goes, and stays with it.
    pub(super) async fn settle(&mut self, operation: &str) -> Result<(), Failure> {
        self.project = self.gateway.resolve_project(entry(operation)?, self.project.as_deref()).await?;
        Ok(())
    }

    /// From now on the upload may take so long.
    pub(super) fn allow(&mut self, span: Duration) {
        self.end = self.gateway.clock().now() + span;
    }

    /// The same for the last words of an upload, which nobody waits for long.
    pub(super) fn leaving(&self) -> Self {
        let mut leaving = Self { cancelled: CancellationToken::new(), ..self.clone() };
        leaving.allow(leaving.timing.cancel_limit);
        leaving
    }

    /// Waits before what failed is tried again: for so long, or as long as the service asks for.
    ///
    /// # Errors
    /// The failure itself when that is longer than there is time; `cancelled`.
    pub(super) async fn pause(&self, pause: Duration, failure: Failure) -> Result<(), Failure> {
        let clock = self.gateway.clock();
        let asked = failure.facts.retry_after;
        let left = self.end.saturating_sub(clock.now());

        if let Some(asked) = asked.filter(|asked| *asked > left) {
            return Err(failure.hint(format!(
                "it asks to wait {} s, and the upload has {} s left: upload the file again after that, with a longer `upload_timeout` where it needs one",
                asked.as_secs(),
                left.as_secs()
            )));
        }

        tokio::select! {
            () = clock.sleep(asked.unwrap_or_default().max(pause)) => Ok(()),
            () = self.cancelled.cancelled() => Err(cancelled()),
        }
    }

    /// Calls an operation that a person has agreed to, if it needs that; gives the answer.
    pub(super) async fn call(&self, operation: &str, mut arguments: Fields) -> Result<Value, Failure> {
        let entry = entry(operation)?;
        if let Some(project) = &self.project {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }

        if entry.confirmation_question.is_some() {
            arguments.insert(CONFIRM.to_owned(), Value::Bool(true));
        }

        self.gateway.call(entry, arguments).await.map(|reply| reply.value().clone())
    }

    /// The same for what may be repeated: again after a pause, as long as the service cannot be reached or is busy.
    pub(super) async fn insist(&self, operation: &str, arguments: Value) -> Result<Value, Failure> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Fields::new(),
        };
        let mut pauses = self.timing.pauses();

        loop {
            let failure = match self.call(operation, arguments.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match pauses.next() {
                Some(pause) if is_transient(&failure) => {
                    tracing::debug!(operation, "called again: {failure}");
                    self.pause(pause, failure).await?;
                }
                _ => return Err(failure),
            }
        }
    }
}

/// Whether it may go better the next time.
pub(super) fn is_transient(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::ServiceUnavailable | Code::RateLimited | Code::Timeout | Code::OutcomeUnknown
    )
}

fn entry(operation: &str) -> Result<&'static OperationEntry, Failure> {
    let unknown = || Failure::new(Code::NotFound, format!("there is no operation `{operation}`"));
    catalog::find(operation).ok_or_else(unknown)
}
