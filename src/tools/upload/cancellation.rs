//! The cancellation of uploads that will not be finished.

use serde_json::Value;

use super::{
    job::UploadJob,
    open_upload::{OpenUpload, UploadStage},
    plan::{UploadMode, UploadPlan},
    session::UploadSession,
};
use crate::{
    failure::{Code, Failure},
    service::api::{Id, uploads::CancelBuildUpload},
};

/// Hint for an upload that failed and can be resumed.
const RESUME_HINT: &str = "the parts that were sent are kept: upload the same file again (on the command line with \
                           `--resume`) to resume the upload";

/// Hint for an upload that the service does not have any more.
pub(super) const UNKNOWN_UPLOAD_HINT: &str = "the upload was cancelled elsewhere, or took longer than its `upload_timeout`: upload \
                                   the file again, with more minutes (at most 1440) if the line is slow";

/// Outcome of a cancellation.
pub(super) enum CancelOutcome {
    /// The service has freed the space.
    Cancelled,
    /// The service does not have the upload any more.
    NotFound,
    /// The space remains reserved until the upload times out.
    Failed(Failure),
}

impl UploadJob {
    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service.
    ///
    /// The journal is kept if the upload could not be cancelled, so that the next upload of the file resumes or cancels
    /// it.
    pub(super) async fn abandon(&self, upload: OpenUpload, failure: Failure) -> Failure {
        if upload.stage != UploadStage::Initiated {
            return failure;
        }

        let outcome = self.session.cancel_at_service(&upload.plan).await;
        let keeps_journal = matches!(outcome, CancelOutcome::Failed(_));
        let has_journal = upload.journal.is_some();

        if !keeps_journal && let Some(journal) = upload.journal {
            journal.remove();
        }

        // A file that changed cannot be resumed: its content is a different upload.
        let is_resumable = keeps_journal && has_journal && failure.code != Code::FileError;
        let failure = describe_cancellation(&upload.plan, outcome, failure);
        if is_resumable { append_hint(failure, RESUME_HINT) } else { failure }
    }
}

impl UploadSession {
    /// Returns the plan in the answer to the initiation of an upload of `size` bytes. The upload is cancelled if the answer is
    /// unusable.
    pub(super) async fn plan_of(&self, answer: &Value, size: u64) -> Result<UploadPlan, Failure> {
        match UploadPlan::from_answer(answer, size) {
            Ok(plan) => Ok(plan),
            Err(failure) => Err(self.cancel_unusable(answer, failure).await),
        }
    }

    /// Cancels an upload whose initiation returned an unusable answer, if the answer has the ids for it.
    async fn cancel_unusable(&self, answer: &Value, failure: Failure) -> Failure {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(build_id), Some(object_key)) = (text("build_id"), text("object_key")) else {
            return failure.hint("storage space may be reserved until the upload times out");
        };
        let mode = match text("upload_id") {
            // The cancellation uses only the ids. No part is sent.
            Some(upload_id) => UploadMode::Multipart { upload_id, part_size: 1, total_parts: 1 },
            None => UploadMode::SinglePart { upload_url: String::new() },
        };
        let plan = UploadPlan { build_id, object_key, mode };

        self.cancel_failed(&plan, failure).await
    }

    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service.
    pub(super) async fn cancel_failed(&self, plan: &UploadPlan, failure: Failure) -> Failure {
        describe_cancellation(plan, self.cancel_at_service(plan).await, failure)
    }

    /// Cancels an upload of an earlier process. Another process may have finished or cancelled it already.
    ///
    /// # Errors
    /// The upload exists and could not be cancelled.
    pub(super) async fn cancel_leftover(&self, plan: &UploadPlan) -> Result<(), Failure> {
        match self.cancel_at_service(plan).await {
            CancelOutcome::Cancelled | CancelOutcome::NotFound => Ok(()),
            CancelOutcome::Failed(failure) => Err(failure),
        }
    }

    /// Cancels an upload, within a short time.
    pub(super) async fn cancel_at_service(&self, plan: &UploadPlan) -> CancelOutcome {
        let upload_id = match &plan.mode {
            UploadMode::Multipart { upload_id, .. } => Some(Id(upload_id.clone())),
            UploadMode::SinglePart { .. } => None,
        };
        let (build_id, object_key) = (Id(plan.build_id.clone()), Id(plan.object_key.clone()));
        let operation = CancelBuildUpload { build_id, object_key, upload_id };

        let (session, limit) = (self.for_cancellation(), self.timing.cancel_limit);
        match tokio::time::timeout(limit, session.call_with_retries(&operation)).await {
            Ok(Ok(_)) => CancelOutcome::Cancelled,
            // The service refuses an unknown upload with 404 or 400.
            Ok(Err(failure)) if matches!(failure.code, Code::NotFound | Code::Rejected) => {
                CancelOutcome::NotFound
            }
            Ok(Err(failure)) => CancelOutcome::Failed(failure),
            Err(_) => {
                let message = format!("the service did not answer within {} s", limit.as_secs());
                CancelOutcome::Failed(Failure::new(Code::Timeout, message))
            }
        }
    }
}

/// Adds the outcome of the cancellation of an upload to `failure`, the failure of the upload.
fn describe_cancellation(plan: &UploadPlan, outcome: CancelOutcome, failure: Failure) -> Failure {
    let failure = failure.detail("build_id", plan.build_id.as_str());

    match outcome {
        CancelOutcome::Cancelled => {
            without_uncertainty(failure).detail("upload", "cancelled: nothing remains at the service")
        }
        CancelOutcome::NotFound => {
            let hint = match failure.code {
                Code::OutcomeUnknown => "the build may be complete: read it with `get_build`",
                _ => UNKNOWN_UPLOAD_HINT,
            };
            append_hint(failure, hint).detail("upload", "the service has no such upload any more")
        }
        CancelOutcome::Failed(error) => {
            let remains =
                format!("could not be cancelled ({error}): its space remains reserved until it times out");
            failure.detail("upload", remains)
        }
    }
}

/// Adds `advice` to the hint of `failure`.
fn append_hint(failure: Failure, advice: &str) -> Failure {
    let hint = match &failure.hint {
        Some(hint) => format!("{hint}; {advice}"),
        None => advice.to_owned(),
    };
    failure.hint(hint)
}

/// Removes the uncertainty from the failure of a cancelled upload: the upload cannot have become a build.
fn without_uncertainty(mut failure: Failure) -> Failure {
    if failure.facts.is_uncertain || failure.code == Code::OutcomeUnknown {
        failure.facts.is_uncertain = false;
        return failure.hint("upload it again");
    }
    failure
}
