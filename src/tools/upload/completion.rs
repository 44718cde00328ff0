//! The end of an upload: it is completed, or what the service holds for it is freed.

use serde_json::{Value, json};

use super::{
    OpenUpload, UploadJob, UploadStage, cancelled,
    journal::PartEtags,
    plan::{UploadMode, UploadPlan},
    session::is_transient,
};
use crate::{
    failure::{Code, Failure},
    service::{
        api::{
            builds::GetBuild,
            uploads::{CancelBuildUpload, CompleteBuildUpload},
        },
        operation::Operation as _,
    },
};

/// States of a build that is whole (supplement 10.1). The set is open: what is not known may be on its way.
const BUILT: [&str; 3] = ["OK", "UNHEALTHY", "ready"];

/// What became of an upload that was given up.
enum CancelOutcome {
    Nothing,
    /// The service had no such upload any more.
    Unknown,
    /// Its space, until it times out.
    Space(Failure),
}

impl UploadJob {
    /// Completes the upload. When the answer gets lost, it is asked for again; an upload that is no more then has become
    /// the build. So may one that is cancelled in between.
    pub(super) async fn complete(&self, plan: &UploadPlan, tags: &PartEtags) -> Result<(), Failure> {
        let mut arguments = json!({"build_id": plan.build_id});
        if let (UploadMode::Parts { upload_id, .. }, Value::Object(fields)) = (&plan.flow, &mut arguments) {
            let parts = tags.iter().map(|(number, tag)| json!({"part_number": number, "etag": tag}));
            fields.insert("upload_id".to_owned(), json!(upload_id));
            fields.insert("object_key".to_owned(), json!(plan.object_key));
            fields.insert("parts".to_owned(), parts.collect());
        }

        let completing = self.counter.insist(CompleteBuildUpload::NAME, arguments);
        let Err(failure) = self.soon(completing).await else { return Ok(()) };
        let is_in_doubt = matches!(failure.code, Code::NotFound | Code::Cancelled) || is_transient(&failure);
        let is_built = is_in_doubt && self.soon(self.is_built(plan)).await.unwrap_or_default();

        if is_built { Ok(()) } else { Err(failure) }
    }

    /// What a call comes to; of one that lasts long after the upload was cancelled, that.
    async fn soon<T>(&self, call: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let late = async {
            self.counter.cancelled.cancelled().await;
            tokio::time::sleep(self.counter.timing.cancel_limit).await;
        };
        tokio::select! {
            outcome = call => outcome,
            () = late => Err(cancelled()),
        }
    }

    /// Whether an upload has become a build.
    ///
    /// # Errors
    /// Nobody can say.
    pub(super) async fn is_built(&self, plan: &UploadPlan) -> Result<bool, Failure> {
        match self.counter.insist(GetBuild::NAME, json!({"build_id": plan.build_id})).await {
            Ok(build) => {
                let status = build.get("status").and_then(Value::as_str).unwrap_or_default();
                Ok(BUILT.iter().any(|built| built.eq_ignore_ascii_case(status)))
            }
            Err(failure) if matches!(failure.code, Code::NotFound | Code::Rejected) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Frees what the service holds for an upload that will not be finished; says in the failure what came of that.
    pub(super) async fn give_up(&self, opened: OpenUpload, failure: Failure) -> Failure {
        if opened.stage != UploadStage::UploadIds {
            return failure;
        }

        let remains = self.remains_of(&opened.plan).await;
        match (opened.journal, &remains) {
            // What has changed is another file.
            (Some(_), CancelOutcome::Space(_)) if failure.code != Code::FileError => {
                let failure = told(&opened.plan, remains, failure);
                also(
                    failure,
                    "what was sent is not lost: uploading the same file again (on the command line with `--resume`) goes on where it ended",
                )
            }
            // The next upload of the file finds it, and cancels what it tells of.
            (Some(_), CancelOutcome::Space(_)) => told(&opened.plan, remains, failure),
            (journal, _) => {
                if let Some(journal) = journal {
                    journal.remove();
                }
                told(&opened.plan, remains, failure)
            }
        }
    }

    /// Cancels an upload whose answer cannot be followed, as far as it names one.
    pub(super) async fn cancel_unusable(&self, answer: &Value, failure: Failure) -> Failure {
        let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(build_id), Some(object_key)) = (text("build_id"), text("object_key")) else {
            return failure.hint("space may be reserved until the upload times out; tell the person");
        };
        let flow = match text("upload_id") {
            Some(upload_id) => UploadMode::Parts { upload_id, part_size: 1, total_parts: 1 },
            None => UploadMode::Whole { upload_url: String::new() },
        };
        let plan = UploadPlan { build_id, object_key, flow };

        told(&plan, self.remains_of(&plan).await, failure)
    }

    /// Cancels an upload that somebody else may have ended.
    pub(super) async fn discard(&self, plan: &UploadPlan) -> Result<(), Failure> {
        match self.remains_of(plan).await {
            CancelOutcome::Nothing | CancelOutcome::Unknown => Ok(()),
            CancelOutcome::Space(failure) => Err(failure),
        }
    }

    async fn remains_of(&self, plan: &UploadPlan) -> CancelOutcome {
        let mut arguments = json!({"build_id": plan.build_id, "object_key": plan.object_key});
        if let (UploadMode::Parts { upload_id, .. }, Value::Object(fields)) = (&plan.flow, &mut arguments) {
            fields.insert("upload_id".to_owned(), json!(upload_id));
        }

        let (leaving, limit) = (self.counter.leaving(), self.counter.timing.cancel_limit);
        match tokio::time::timeout(limit, leaving.insist(CancelBuildUpload::NAME, arguments)).await {
            Ok(Ok(_)) => CancelOutcome::Nothing,
            Ok(Err(failure)) if matches!(failure.code, Code::NotFound | Code::Rejected) => {
                CancelOutcome::Unknown
            }
            Ok(Err(failure)) => CancelOutcome::Space(failure),
            Err(_) => {
                let message = format!("the service did not answer within {} s", limit.as_secs());
                CancelOutcome::Space(Failure::new(Code::Timeout, message))
            }
        }
    }
}

/// Says this after what the failure advises already.
fn also(failure: Failure, advice: &str) -> Failure {
    let hint = match &failure.hint {
        Some(hint) => format!("{hint}; {advice}"),
        None => advice.to_owned(),
    };
    failure.hint(hint)
}

/// Nothing has happened: whoever advises to look for it is wrong.
fn known(mut failure: Failure) -> Failure {
    if failure.facts.is_uncertain || failure.code == Code::OutcomeUnknown {
        failure.facts.is_uncertain = false;
        return failure.hint("upload it again");
    }
    failure
}

fn told(plan: &UploadPlan, remains: CancelOutcome, failure: Failure) -> Failure {
    let failure = failure.detail("build_id", plan.build_id.as_str());
    match remains {
        CancelOutcome::Nothing => {
            known(failure).detail("upload", "cancelled: nothing remains at the service")
        }
        CancelOutcome::Unknown => {
            let hint = match failure.code {
                Code::OutcomeUnknown => "the build may be complete: look with `get_build`",
                _ => {
                    "it was ended elsewhere, or took longer than its `upload_timeout`: upload it again, with more minutes (at most 1440) if the line is slow"
                }
            };
            also(failure, hint).detail("upload", "the service has no such upload any more")
        }
        CancelOutcome::Space(error) => {
            let text =
                format!("could not be cancelled ({error}): its space remains reserved until it times out");
            failure.detail("upload", text)
        }
    }
}
