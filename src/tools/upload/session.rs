//! Calls of operations for one upload.

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::timing::UploadTiming;
use crate::{
    call::reply::Reply,
    failure::{Code, Failure},
    service::catalog::ListedOperation,
    tools::project_client::ProjectClient,
};

/// Calls operations for one upload.
#[derive(Clone, Debug)]
pub(super) struct UploadSession {
    pub(super) client: ProjectClient,
    pub(super) timing: UploadTiming,
    /// Time on the gateway's clock at which the service ends the upload. No pause lasts longer.
    pub(super) deadline: Duration,
    /// Ends the pauses, and the upload.
    pub(super) cancelled: CancellationToken,
}

impl UploadSession {
    /// Finds the project that calls of the operation `O` go to, and uses it for all calls of the session.
    pub(super) async fn resolve_project<O: ListedOperation>(&mut self) -> Result<(), Failure> {
        let requested = self.client.project.as_deref();
        self.client.project = self.client.gateway.resolve_project(O::entry(), requested).await?;
        Ok(())
    }

    /// Sets the deadline to `time_limit` from now.
    pub(super) fn set_deadline_after(&mut self, time_limit: Duration) {
        self.deadline = self.client.gateway.clock().now() + time_limit;
    }

    /// Returns a session for the cancellation of the upload: it is not cancelled itself and has a short deadline.
    pub(super) fn for_cancellation(&self) -> Self {
        let mut session = Self { cancelled: CancellationToken::new(), ..self.clone() };
        session.set_deadline_after(session.timing.cancel_limit);
        session
    }

    /// Pauses before a repetition of what failed with `failure`: for `pause`, or for longer if the service asks for it.
    ///
    /// # Errors
    /// `failure`, if the service asks for a pause beyond the deadline; `cancelled`.
    pub(super) async fn pause_after(&self, failure: Failure, pause: Duration) -> Result<(), Failure> {
        let clock = self.client.gateway.clock();
        let retry_after = failure.facts.retry_after.unwrap_or_default();
        let time_left = self.deadline.saturating_sub(clock.now());

        if retry_after > time_left {
            return Err(failure.hint(format!(
                "the service asks to wait {} s, and the upload has {} s left: upload the file again after that, with a longer `upload_timeout` if it needs one",
                retry_after.as_secs(),
                time_left.as_secs()
            )));
        }

        tokio::select! {
            () = clock.sleep(retry_after.max(pause)) => Ok(()),
            () = self.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Calls `operation` and returns the answer.
    pub(super) async fn call<O: ListedOperation>(&self, operation: &O) -> Result<Value, Failure> {
        self.client.call(operation).await.map(Reply::into_value)
    }

    /// Calls `operation`, which may be repeated, until it succeeds, fails permanently or has no attempt left.
    pub(super) async fn call_with_retries<O: ListedOperation>(
        &self,
        operation: &O,
    ) -> Result<Value, Failure> {
        let mut pauses = self.timing.pauses();

        loop {
            let failure = match self.call(operation).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match pauses.next() {
                Some(pause) if may_be_repeated(&failure) => {
                    tracing::debug!(operation = O::entry().name, "the call is repeated: {failure}");
                    self.pause_after(failure, pause).await?;
                }
                _ => return Err(failure),
            }
        }
    }
}

/// Returns whether a call of an upload is repeated after `failure`.
pub(super) fn may_be_repeated(failure: &Failure) -> bool {
    match failure.code {
        // The operations name an existing upload, and have the same effect once or twice.
        Code::OutcomeUnknown => true,
        // The service has performed the call. Its answer to an equal call would be just as unusable.
        Code::BadResponse => false,
        _ => failure.is_transient(),
    }
}

/// Returns the failure of an upload that the caller cancelled.
pub(super) fn cancelled_failure() -> Failure {
    Failure::new(Code::Cancelled, "upload_build: cancelled by the caller")
}
