//! Calls of operations for one project.

use serde_json::Value;

use super::pace::Pace;
use crate::{
    catalog::{self, Entry},
    failure::{Code, Failure},
    gateway::{CONFIRM, Gateway, PROJECT_ID},
    operation::Fields,
};

/// The way to the operations of one project.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) gateway: Gateway,
    /// `None`: it follows from the settings or the key.
    pub(super) project: Option<String>,
    pub(super) pace: Pace,
}

impl Counter {
    /// Finds out to which project `operation` goes, and stays with it.
    pub(super) async fn settle(&mut self, operation: &str) -> Result<(), Failure> {
        self.project = self.gateway.project_of(entry(operation)?, self.project.as_deref()).await?;
        Ok(())
    }

    /// Calls an operation that a person has agreed to, if it needs that; gives the answer.
    pub(super) async fn call(&self, operation: &str, mut arguments: Fields) -> Result<Value, Failure> {
        let entry = entry(operation)?;
        if let Some(project) = &self.project {
            arguments.insert(PROJECT_ID.to_owned(), Value::from(project.as_str()));
        }
        if entry.confirm.is_some() {
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
        let mut pauses = self.pace.pauses();
        loop {
            let failure = match self.call(operation, arguments.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match pauses.next() {
                Some(pause) if is_passing(&failure) => {
                    tracing::debug!(operation, "called again: {failure}");
                    tokio::time::sleep(pause).await;
                }
                _ => return Err(failure),
            }
        }
    }
}

/// Whether it may go better the next time.
pub(super) fn is_passing(failure: &Failure) -> bool {
    matches!(
        failure.code,
        Code::ServiceUnavailable | Code::RateLimited | Code::Timeout | Code::OutcomeUnknown
    )
}

fn entry(operation: &str) -> Result<&'static Entry, Failure> {
    let unknown = || Failure::new(Code::NotFound, format!("there is no operation `{operation}`"));
    catalog::find(operation).ok_or_else(unknown)
}
