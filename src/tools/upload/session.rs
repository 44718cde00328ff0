//! The calls of one upload: initiation, addresses of the parts, completion and cancellation (service.md 10.4 to 10.7).

use std::{collections::BTreeMap, ops::Range, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{UploadIds, UploadTiming};
use crate::{
    backoff::Attempts,
    failure::{Code, Failure},
    service::{
        api::{
            Id, Uuid,
            builds::GetBuild,
            uploads::{
                CancelBuildUpload, CompleteBuildUpload, CompletedPart, GetBuildUploadParts, InitiatedUpload,
            },
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

/// The `ETag`s of the parts that the storage host has, by part number.
pub(super) type PartEtags = BTreeMap<u64, String>;

/// How the bytes of an upload are sent: the service decides it at the initiation (service.md 10.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UploadPlan {
    pub(super) ids: UploadIds,
    /// Size of the file in bytes.
    pub(super) size: u64,
    /// Size of each part in bytes; the last part may be shorter.
    pub(super) part_size: u64,
    /// Address of an upload in one piece. It is never written down.
    pub(super) upload_url: Option<String>,
}

impl UploadPlan {
    /// Reads the answer to the initiation of an upload of `size` bytes.
    ///
    /// # Errors
    /// `bad_response` if a field is missing or the number of parts does not match the size.
    fn new(answer: InitiatedUpload, size: u64) -> Result<Self, Failure> {
        let missing = |name: &str| unusable_answer(&format!("lacks `{name}`"));
        let required = |name, text: Option<String>| present(text).ok_or_else(|| missing(name));

        let upload_id = present(answer.upload_id);
        let is_single_part = match present(answer.upload_type) {
            Some(upload_type) => upload_type == "single-part",
            // Only multipart uploads have an `upload_id`.
            None => upload_id.is_none(),
        };
        let (upload_id, part_size, upload_url) = if is_single_part {
            (None, size, Some(required("upload_url", answer.upload_url)?))
        } else {
            let part_size = answer.part_size.ok_or_else(|| missing("part_size"))?;
            let total_parts = answer.total_parts.ok_or_else(|| missing("total_parts"))?;
            if !is_part_count(size, part_size, total_parts) {
                return Err(unusable_answer(&format!(
                    "states {total_parts} parts of {part_size} bytes, which does not match the {size} bytes of the file"
                )));
            }
            (Some(required("upload_id", upload_id)?), part_size, None)
        };

        let build_id = required("build_id", Some(answer.build_id))?;
        let object_key = required("object_key", Some(answer.object_key))?;

        Ok(Self { ids: UploadIds { build_id, upload_id, object_key }, size, part_size, upload_url })
    }

    pub(super) fn is_multipart(&self) -> bool {
        self.ids.upload_id.is_some()
    }

    pub(super) fn total_parts(&self) -> u64 {
        self.size.div_ceil(self.part_size.max(1))
    }

    /// Returns the bytes of part `number`, counted from 1.
    pub(super) fn part_range(&self, number: u64) -> Range<u64> {
        let start = number.saturating_sub(1).saturating_mul(self.part_size).min(self.size);
        start..start.saturating_add(self.part_size).min(self.size)
    }
}

fn is_part_count(size: u64, part_size: u64, total_parts: u64) -> bool {
    part_size > 0 && total_parts > 0 && size.div_ceil(part_size) == total_parts
}

/// Returns the text unless it is empty.
fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

fn unusable_answer(problem: &str) -> Failure {
    Failure::new(Code::BadResponse, format!("initiate_build_upload: the service's answer {problem}"))
        .hint("nothing was uploaded; try again later")
}

/// Outcome of a cancellation.
pub(super) enum CancelOutcome {
    /// The service has freed the space.
    Cancelled,
    /// The service does not have the upload any more.
    NotFound,
    /// The space remains reserved until the upload times out.
    Failed(Failure),
}

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
    /// Finds the project that calls of the operation `O` go to, and uses it for all calls of the session.
    pub(super) async fn resolve_project<O: ListedOperation>(&mut self) -> Result<(), Failure> {
        let requested = self.client.project.as_deref();
        self.client.project = self.client.caller.resolve_project(O::entry(), requested).await?;
        Ok(())
    }

    pub(super) fn set_deadline_after(&mut self, time_limit: Duration) {
        self.deadline = self.client.caller.clock().now() + time_limit;
    }

    /// Pauses before another attempt after `failure`.
    ///
    /// # Errors
    /// `failure`, if no attempt is left or the service asks for a pause beyond the deadline; `cancelled`.
    pub(super) async fn pause_after(&self, failure: Failure, attempts: &mut Attempts) -> Result<(), Failure> {
        let clock = self.client.caller.clock();
        let time_left = self.deadline.saturating_sub(clock.now());

        tokio::select! {
            paused = attempts.pause_after(failure, &**clock, time_left) => paused,
            () = self.cancelled.cancelled() => Err(cancelled_failure()),
        }
    }

    /// Calls `operation`, which may be repeated, until it succeeds, fails permanently or has no attempt left.
    async fn call_with_retries<O: ListedOperation>(&self, operation: &O) -> Result<O::Answer, Failure> {
        let mut attempts = self.timing.retries.start();

        loop {
            match self.client.call(operation).await {
                Ok(reply) => return Ok(reply.view::<O>()),
                Err(failure) if may_be_repeated(&failure) => self.pause_after(failure, &mut attempts).await?,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Returns the plan in the answer to the initiation of an upload of `size` bytes. The upload is cancelled if the
    /// answer is unusable.
    pub(super) async fn plan_of(&self, answer: InitiatedUpload, size: u64) -> Result<UploadPlan, Failure> {
        let (build_id, object_key) = (answer.build_id.clone(), answer.object_key.clone());
        let ids = UploadIds { build_id, upload_id: present(answer.upload_id.clone()), object_key };

        match UploadPlan::new(answer, size) {
            Ok(plan) => Ok(plan),
            Err(failure) if ids.build_id.is_empty() || ids.object_key.is_empty() => {
                Err(failure.hint("storage space may be reserved until the upload times out"))
            }
            Err(failure) => Err(self.cancel_failed(&ids, failure).await),
        }
    }

    /// Returns the addresses of the parts `numbers`, each with its number, in this order.
    pub(super) async fn part_addresses(
        &self,
        plan: &UploadPlan,
        numbers: Vec<u64>,
    ) -> Result<Vec<(u64, String)>, Failure> {
        let Some(upload_id) = &plan.ids.upload_id else {
            return Ok(plan.upload_url.iter().map(|address| (1, address.clone())).collect());
        };
        let operation = GetBuildUploadParts {
            upload_id: Id(upload_id.clone()),
            object_key: Id(plan.ids.object_key.clone()),
            part_numbers: numbers,
        };
        let listed = self.call_with_retries(&operation).await?.upload_urls;

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

    /// Returns whether the upload exists at the service, which then returns addresses for its parts.
    pub(super) async fn upload_exists(&self, plan: &UploadPlan) -> Result<bool, Failure> {
        match self.part_addresses(plan, vec![1]).await {
            Ok(_) => Ok(true),
            Err(failure) if matches!(failure.code, Code::Rejected | Code::NotFound) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Completes the upload.
    ///
    /// If the answer gets lost or the upload is cancelled at the same time, the upload may have become a build all the
    /// same. The build is therefore read before a failure is reported.
    pub(super) async fn complete(&self, ids: &UploadIds, etags: &PartEtags) -> Result<(), Failure> {
        let part =
            |(number, etag): (&u64, &String)| CompletedPart { part_number: *number, etag: etag.clone() };
        let operation = CompleteBuildUpload {
            build_id: ids.build_id.clone(),
            upload_id: ids.upload_id.clone(),
            // An upload in one piece is completed by its build id alone.
            object_key: ids.upload_id.is_some().then(|| ids.object_key.clone()),
            parts: ids.upload_id.is_some().then(|| etags.iter().map(part).collect()),
        };
        let completion = self.call_with_retries(&operation);
        let Err(failure) = self.within_grace_period(completion).await else { return Ok(()) };

        // If an earlier answer was lost, a repeated completion does not find the upload any more.
        let is_uncertain =
            matches!(failure.code, Code::NotFound | Code::Cancelled) || may_be_repeated(&failure);
        let is_built =
            is_uncertain && self.within_grace_period(self.is_built(&ids.build_id)).await.unwrap_or_default();

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

    pub(super) async fn is_built(&self, build_id: &str) -> Result<bool, Failure> {
        match self.call_with_retries(&GetBuild { build_id: Uuid(build_id.to_owned()) }).await {
            Ok(found) => {
                let is_status = |status: &&str| status.eq_ignore_ascii_case(&found.build.status);
                Ok(COMPLETE_STATUSES.iter().any(is_status))
            }
            Err(failure) if matches!(failure.code, Code::NotFound | Code::Rejected) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Cancels an upload, within a short time.
    pub(super) async fn cancel(&self, ids: &UploadIds) -> CancelOutcome {
        let operation = CancelBuildUpload {
            build_id: Id(ids.build_id.clone()),
            object_key: Id(ids.object_key.clone()),
            upload_id: ids.upload_id.clone().map(Id),
        };
        // The cancellation of the upload does not end its own calls.
        let limit = self.timing.cancel_limit;
        let mut session = Self { cancelled: CancellationToken::new(), ..self.clone() };
        session.set_deadline_after(limit);

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

    /// Cancels an upload of an earlier process. Another process may have finished or cancelled it already.
    ///
    /// # Errors
    /// The upload exists and could not be cancelled.
    pub(super) async fn cancel_leftover(&self, ids: &UploadIds) -> Result<(), Failure> {
        match self.cancel(ids).await {
            CancelOutcome::Cancelled | CancelOutcome::NotFound => Ok(()),
            CancelOutcome::Failed(failure) => Err(failure),
        }
    }

    /// Cancels an upload that failed with `failure`, and adds to `failure` what remains at the service.
    pub(super) async fn cancel_failed(&self, ids: &UploadIds, failure: Failure) -> Failure {
        describe_cancellation(ids, self.cancel(ids).await, failure)
    }
}

fn missing_address(number: u64, count: &str) -> Failure {
    let message = format!(
        "get_build_upload_parts: one address of part {number} was requested, but the answer contains {count}"
    );
    Failure::new(Code::BadResponse, message)
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

/// Adds the outcome of the cancellation of an upload to `failure`, the failure of the upload.
pub(super) fn describe_cancellation(ids: &UploadIds, outcome: CancelOutcome, failure: Failure) -> Failure {
    let mut failure = failure.detail("build_id", ids.build_id.as_str());

    match outcome {
        CancelOutcome::Cancelled => {
            // A cancelled upload cannot have become a build.
            if failure.facts.is_uncertain || failure.code == Code::OutcomeUnknown {
                failure.facts.is_uncertain = false;
                failure = failure.hint("upload it again");
            }
            failure.detail("upload", "cancelled: nothing remains at the service")
        }
        CancelOutcome::NotFound => {
            let hint = match failure.code {
                Code::OutcomeUnknown => "the build may be complete[[: read it with `tool:get_build`]]",
                _ => UNKNOWN_UPLOAD_HINT,
            };
            failure.and_hint(hint).detail("upload", "the service has no such upload any more")
        }
        CancelOutcome::Failed(error) => {
            let remains =
                format!("could not be cancelled ({error}): its space remains reserved until it times out");
            failure.detail("upload", remains)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_may_be_shorter() {
        let ids = UploadIds { build_id: "b".to_owned(), upload_id: None, object_key: "o".to_owned() };
        let plan = UploadPlan { ids, size: 2_500, part_size: 1_000, upload_url: None };
        let cases = [(1, 0..1_000), (2, 1_000..2_000), (3, 2_000..2_500), (4, 2_500..2_500)];
        for (number, range) in cases {
            assert_eq!(plan.part_range(number), range, "part {number}");
        }
        assert_eq!(plan.total_parts(), 3);
    }

    #[test]
    fn the_number_of_parts_follows_from_the_size() {
        let cases = [
            ((2_500, 1_000, 3), true),
            ((3_000, 1_000, 3), true),
            ((3_001, 1_000, 3), false),
            ((1, 0, 1), false),
            ((0, 1, 0), false),
        ];
        for ((size, part_size, parts), expected) in cases {
            assert_eq!(is_part_count(size, part_size, parts), expected, "{size} {part_size} {parts}");
        }
    }
}
