//! The calls of one upload: addresses of the parts, completion and cancellation (service.md 10.5 to 10.7).

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{UploadIds, UploadTiming, parts::UploadState};
use crate::{
    backoff::{AttemptError, Attempts},
    failure::{Code, Failure},
    service::{
        api::{
            Id, Uuid,
            builds::GetBuild,
            uploads::{CancelBuildUpload, CompleteBuildUpload, CompletedPart, GetBuildUploadParts},
        },
        catalog::ListedOperation,
    },
    tools::project_client::ProjectClient,
};

/// Statuses of a complete build (service.md 10.1). The set is open: a build with another status may be incomplete.
const COMPLETE_STATUSES: [&str; 3] = ["OK", "UNHEALTHY", "ready"];

/// Hint for an upload that the service does not have any more.
const UNKNOWN_UPLOAD_HINT: &str = "the upload was cancelled elsewhere, or took longer than its `argument:upload_timeout`: upload \
                                   the file again, with more minutes (at most 1440) if the line is slow";

/// Calls operations for one upload.
#[derive(Clone, Debug)]
pub(super) struct UploadSession {
    pub(super) client: ProjectClient,
    pub(super) timing: UploadTiming,
    /// Time on the caller's clock at which the service ends the upload. No pause lasts longer.
    pub(super) deadline: Duration,
    /// Ends the pauses, and the upload.
    pub(super) cancelled: CancellationToken,
}

impl UploadSession {
    pub(super) fn set_deadline_after(&mut self, time_limit: Duration) {
        self.deadline = self.client.caller.clock().now() + time_limit;
    }

    /// Pauses before another attempt after `error`.
    ///
    /// # Errors
    /// The failure, if no attempt is left or the service asks for a pause beyond the deadline; `cancelled`.
    pub(super) async fn pause_after(
        &self,
        error: AttemptError,
        attempts: &mut Attempts,
    ) -> Result<(), Failure> {
        let clock = self.client.caller.clock();
        let time_left = self.deadline.saturating_sub(clock.now());

        tokio::select! {
            paused = attempts.pause_after(error, &**clock, time_left) => paused,
            () = self.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Calls `operation`, which may be repeated, until it succeeds, fails permanently or has no attempt left.
    async fn call<O: ListedOperation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        let mut attempts = self.timing.retries.start();

        loop {
            let failure = match self.client.call(operation).await {
                Ok(reply) => return Ok(reply.view::<O>()),
                Err(failure) => failure,
            };
            let is_transient = may_be_repeated(&failure);
            self.pause_after(AttemptError { failure, is_transient }, &mut attempts).await?;
        }
    }

    /// Returns the addresses of the parts `numbers`, each with its number, in this order.
    pub(super) async fn part_addresses(
        &self,
        upload: &UploadState,
        numbers: Vec<u64>,
    ) -> Result<Vec<(u64, String)>, Failure> {
        let Some(upload_id) = &upload.ids.upload_id else {
            return Ok(upload.upload_url.iter().map(|address| (1, address.clone())).collect());
        };
        let operation = GetBuildUploadParts {
            upload_id: Id(upload_id.clone()),
            object_key: Id(upload.ids.object_key.clone()),
            part_numbers: numbers,
        };
        let listed = self.call(&operation).await?.upload_urls;

        let address = |number: &u64| {
            let mut found = listed.iter().filter(|part| part.part_number == *number && !part.url.is_empty());
            match (found.next(), found.next()) {
                (Some(part), None) => Ok((*number, part.url.clone())),
                (None, _) => Err(missing_address(*number, "none")),
                (Some(_), Some(_)) => Err(missing_address(*number, "several")),
            }
        };
        operation.part_numbers.iter().map(address).collect()
    }

    /// Returns whether the service has the upload, and then returns addresses for its parts.
    pub(super) async fn exists(&self, upload: &UploadState) -> Result<bool, Failure> {
        match self.part_addresses(upload, vec![1]).await {
            Ok(_) => Ok(true),
            Err(failure) if is_unknown(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    pub(super) async fn is_built(&self, build_id: &str) -> Result<bool, Failure> {
        match self.call(&GetBuild { build_id: Uuid(build_id.to_owned()) }).await {
            Ok(found) => {
                let is_status = |status: &&str| status.eq_ignore_ascii_case(&found.build.status);
                Ok(COMPLETE_STATUSES.iter().any(is_status))
            }
            Err(failure) if is_unknown(&failure) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Completes the upload. One that is cancelled meanwhile has a short time to learn whether it is complete.
    pub(super) async fn complete(&self, upload: &UploadState) -> Result<(), Failure> {
        let grace_period = async {
            self.cancelled.cancelled().await;
            tokio::time::sleep(self.timing.cancel_limit).await;
        };

        tokio::select! {
            outcome = self.complete_or_find(upload) => outcome,
            () = grace_period => Err(cancelled_failure()),
        }
    }

    /// Completes the upload. If the answer gets lost, the upload may have become a build all the same. The build is therefore
    /// read before a failure is reported.
    async fn complete_or_find(&self, upload: &UploadState) -> Result<(), Failure> {
        let UploadIds { build_id, upload_id, object_key } = upload.ids.clone();
        let part =
            |(number, etag): (&u64, &String)| CompletedPart { part_number: *number, etag: etag.clone() };
        let operation = CompleteBuildUpload {
            // An upload in one piece is completed by its build id alone.
            object_key: upload_id.is_some().then_some(object_key),
            parts: upload_id.is_some().then(|| upload.etags.iter().map(part).collect()),
            build_id,
            upload_id,
        };
        let Err(failure) = self.call(&operation).await else { return Ok(()) };

        // If an earlier answer was lost, a repeated completion does not find the upload any more.
        let is_uncertain =
            matches!(failure.code, Code::NotFound | Code::Cancelled) || may_be_repeated(&failure);
        let is_built = is_uncertain && self.is_built(&operation.build_id).await.unwrap_or_default();

        if is_built { Ok(()) } else { Err(failure) }
    }

    /// Cancels an upload, within a short time. Returns whether the service still had it.
    pub(super) async fn cancel(&self, ids: &UploadIds) -> Result<bool, Failure> {
        let operation = CancelBuildUpload {
            build_id: Id(ids.build_id.clone()),
            object_key: Id(ids.object_key.clone()),
            upload_id: ids.upload_id.clone().map(Id),
        };
        // The cancellation of the upload does not end its own calls.
        let limit = self.timing.cancel_limit;
        let mut session = Self { cancelled: CancellationToken::new(), ..self.clone() };
        session.set_deadline_after(limit);

        match tokio::time::timeout(limit, session.call(&operation)).await {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(failure)) if is_unknown(&failure) => Ok(false),
            Ok(Err(failure)) => Err(failure),
            Err(_) => {
                let message = format!("the service did not answer within {} s", limit.as_secs());
                Err(Failure::new(Code::Timeout, message))
            }
        }
    }
}

fn missing_address(number: u64, count: &str) -> Failure {
    let message = format!(
        "get_build_upload_parts: one address of part {number} was requested, but the answer contains {count}"
    );
    Failure::new(Code::BadResponse, message)
}

/// Returns whether the service does not have the upload or the build: it refuses an unknown one with 404 or 400.
fn is_unknown(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::Rejected)
}

/// Returns whether a call of an upload is repeated after `failure`.
fn may_be_repeated(failure: &Failure) -> bool {
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

/// Adds to `failure`, the failure of an upload, what [`UploadSession::cancel`] returned.
pub(super) fn describe_cancellation(
    ids: &UploadIds,
    outcome: &Result<bool, Failure>,
    failure: Failure,
) -> Failure {
    let mut failure = failure.detail("build_id", ids.build_id.as_str());

    match outcome {
        Ok(true) => {
            // A cancelled upload cannot have become a build.
            if failure.facts.is_uncertain || failure.code == Code::OutcomeUnknown {
                failure.facts.is_uncertain = false;
                failure = failure.hint("upload it again");
            }
            failure.detail("upload", "cancelled: nothing remains at the service")
        }
        Ok(false) => {
            let hint = match failure.code {
                Code::OutcomeUnknown => "the build may be complete[[: read it with `tool:get_build`]]",
                _ => UNKNOWN_UPLOAD_HINT,
            };
            failure.and_hint(hint).detail("upload", "the service has no such upload any more")
        }
        Err(error) => {
            let remains =
                format!("could not be cancelled ({error}): its space remains reserved until it times out");
            failure.detail("upload", remains)
        }
    }
}
