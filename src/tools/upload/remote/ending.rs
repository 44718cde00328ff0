//! The last step of an upload whose bytes the caller sends: completion or cancellation.

use super::{
    super::{
        cancellation::{CancelOutcome, UNKNOWN_UPLOAD_HINT},
        journal::PartEtags,
    },
    RemoteUpload, RemoteUploadAnswer, UploadToken, violation,
};
use crate::{
    failure::{Code, Failure},
    service::api::uploads::CompletedPart,
};

/// Hint for a completion whose outcome is unknown.
const REPEAT_HINT: &str =
    "call again with the same `upload_token` and `parts`: an upload becomes a build only once";

impl RemoteUpload {
    /// Completes the upload. A completion of an upload that is complete already has the same reply: the service has no such
    /// upload any more, and the build exists.
    ///
    /// # Errors
    /// `invalid_arguments` unless `parts` are all parts; the failures of the operation.
    pub(crate) async fn complete(
        &self,
        token: &UploadToken,
        parts: Vec<CompletedPart>,
    ) -> Result<RemoteUploadAnswer, Failure> {
        let plan = token.plan();
        check_count(parts.len() as u64, plan.total_parts())?;
        let etags: PartEtags = parts.into_iter().map(|part| (part.part_number, part.etag)).collect();

        let limit = self.session.timing.wait_limit;
        let completion = self.session.complete(&plan, &etags);
        let outcome = tokio::time::timeout(limit, completion).await.unwrap_or_else(|_| {
            let message = format!("complete_build_upload: no answer within {} s", limit.as_secs());
            Err(Failure::new(Code::OutcomeUnknown, message).uncertain(REPEAT_HINT))
        });

        match outcome {
            Ok(()) => Ok(RemoteUploadAnswer::uploaded(token.build())),
            Err(failure) => Err(describe_failure(failure).detail("build_id", token.build_id())),
        }
    }

    /// Cancels the upload. A second cancellation has the same reply.
    ///
    /// # Errors
    /// `conflict` if the upload has become a build; the failure of the operation.
    pub(crate) async fn cancel(&self, token: &UploadToken) -> Result<RemoteUploadAnswer, Failure> {
        let plan = token.plan();

        match self.session.cancel_at_service(&plan).await {
            CancelOutcome::NotFound if self.session.is_built(&plan).await? => {
                let message =
                    format!("upload_build: the upload is complete: build `{}` exists", plan.build_id);
                Err(Failure::new(Code::Conflict, message)
                    .hint("`delete_build` deletes a build; nothing was changed"))
            }
            CancelOutcome::Cancelled | CancelOutcome::NotFound => Ok(RemoteUploadAnswer::cancelled(&plan)),
            CancelOutcome::Failed(failure) => {
                let hint =
                    "call again: the space remains reserved until the upload is cancelled or times out";
                Err(failure.hint(hint).detail("build_id", token.build_id()))
            }
        }
    }
}

/// Checks the number of parts. A rule of the tool has checked that they are numbered from 1 without gaps.
fn check_count(count: u64, total: u64) -> Result<(), Failure> {
    let rule = match count {
        _ if count == total => return Ok(()),
        more if more > total => format!("has {more} parts, the upload has {total}"),
        fewer => {
            format!("lacks parts {} to {total}: complete the upload when all parts are stored", fewer + 1)
        }
    };
    Err(violation("parts", &rule))
}

/// Adds to the failure of a completion what the caller does next. The upload is not cancelled.
fn describe_failure(failure: Failure) -> Failure {
    match failure.code {
        Code::NotFound => failure.hint(UNKNOWN_UPLOAD_HINT),
        Code::Rejected => failure.hint(
            "send the part that the message names again and pass its new `ETag`, with all other parts; `cancel: true` gives up",
        ),
        Code::OutcomeUnknown => failure.uncertain(REPEAT_HINT),
        _ if failure.is_transient() => failure.hint(REPEAT_HINT),
        _ => failure,
    }
}
