//! The completion of an upload.

use serde_json::Value;

use super::{
    journal::PartEtags,
    plan::{UploadMode, UploadPlan},
    session::{UploadSession, cancelled_failure, may_be_repeated},
};
use crate::{
    failure::{Code, Failure},
    service::api::{
        Uuid,
        builds::GetBuild,
        uploads::{CompleteBuildUpload, CompletedPart},
    },
};

/// Statuses of a complete build (supplement 10.1). The set is open: a build with another status may be incomplete.
const COMPLETE_STATUSES: [&str; 3] = ["OK", "UNHEALTHY", "ready"];

impl UploadSession {
    /// Completes the upload.
    ///
    /// If the answer gets lost or the upload is cancelled at the same time, the upload may have become a build all the
    /// same. The build is therefore read before a failure is reported.
    pub(super) async fn complete(&self, plan: &UploadPlan, etags: &PartEtags) -> Result<(), Failure> {
        let operation = complete_operation(plan, etags);
        let completion = self.call_with_retries(&operation);
        let Err(failure) = self.within_grace_period(completion).await else { return Ok(()) };

        // If an earlier answer was lost, a repeated completion does not find the upload any more.
        let is_uncertain =
            matches!(failure.code, Code::NotFound | Code::Cancelled) || may_be_repeated(&failure);
        let is_built =
            is_uncertain && self.within_grace_period(self.is_built(plan)).await.unwrap_or_default();

        if is_built { Ok(()) } else { Err(failure) }
    }

    /// Waits for `call`. Returns `cancelled` if it is still pending a grace period after the upload was cancelled.
    async fn within_grace_period<T>(
        &self,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let grace_period = async {
            self.cancelled.cancelled().await;
            tokio::time::sleep(self.timing.cancel_limit).await;
        };

        tokio::select! {
            outcome = call => outcome,
            () = grace_period => Err(cancelled_failure()),
        }
    }

    /// Returns whether the upload has become a build.
    ///
    /// # Errors
    /// The build cannot be read.
    pub(super) async fn is_built(&self, plan: &UploadPlan) -> Result<bool, Failure> {
        let operation = GetBuild { build_id: Uuid(plan.build_id.clone()) };
        match self.call_with_retries(&operation).await {
            Ok(build) => {
                let status = build.get("status").and_then(Value::as_str).unwrap_or_default();
                Ok(COMPLETE_STATUSES.iter().any(|complete| complete.eq_ignore_ascii_case(status)))
            }
            Err(failure) if matches!(failure.code, Code::NotFound | Code::Rejected) => Ok(false),
            Err(failure) => Err(failure),
        }
    }
}

/// Returns the call that completes the upload. A single-part upload is completed by its build id alone.
fn complete_operation(plan: &UploadPlan, etags: &PartEtags) -> CompleteBuildUpload {
    let build_id = plan.build_id.clone();
    let UploadMode::Multipart { upload_id, .. } = &plan.mode else {
        return CompleteBuildUpload { build_id, upload_id: None, object_key: None, parts: None };
    };

    let parts = etags.iter().map(|(number, etag)| CompletedPart { part_number: *number, etag: etag.clone() });

    CompleteBuildUpload {
        build_id,
        upload_id: Some(upload_id.clone()),
        object_key: Some(plan.object_key.clone()),
        parts: Some(parts.collect()),
    }
}
