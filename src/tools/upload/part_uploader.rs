//! Bringing one part to the storage host, as often as its patience allows.

use std::{sync::Arc, time::Duration};

use reqwest::Body;
use serde_json::{Value, json};

use super::{
    part_body::{self, ByteRange},
    plan::{UploadMode, UploadPlan},
    progress::UploadProgress,
    session::UploadSession,
    source_file::SourceFile,
};
use crate::{
    client::{StorageClient, StorageError},
    failure::{Code, Failure},
    service::{api::uploads::GetBuildUploadParts, operation::Operation as _},
};

/// How often a part gets another address because its own was refused.
const FRESH_ADDRESSES: u32 = 3;

/// Detail of a failure of a part.
const PART_NUMBER: &str = "part_number";

/// What the parts of one upload need.
#[derive(Debug)]
pub(super) struct PartUploader {
    pub(super) counter: UploadSession,
    pub(super) plan: UploadPlan,
    pub(super) source: SourceFile,
    /// Whether the digest of the file is made meanwhile.
    pub(super) hashes: bool,
    pub(super) progress: Arc<UploadProgress>,
    pub(super) storage: Arc<StorageClient>,
}

impl PartUploader {
    pub(super) fn range(&self, number: u64) -> ByteRange {
        self.plan.range(number, self.source.size())
    }

    /// The addresses of parts, in the order asked for.
    pub(super) async fn addresses(&self, numbers: Vec<u64>) -> Result<Vec<(u64, String)>, Failure> {
        let upload_id = match &self.plan.flow {
            UploadMode::Parts { upload_id, .. } => upload_id,
            UploadMode::Whole { upload_url } => return Ok(vec![(1, upload_url.clone())]),
        };
        let arguments =
            json!({"upload_id": upload_id, "object_key": self.plan.object_key, "part_numbers": numbers});
        let reply = self.counter.insist(GetBuildUploadParts::NAME, arguments).await?;
        let listed =
            reply.get("upload_urls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();

        numbers.into_iter().map(|number| Ok((number, address_of(number, listed)?))).collect()
    }

    /// Whether the service still has the upload: it gives addresses for its parts then.
    pub(super) async fn is_there(&self) -> Result<bool, Failure> {
        match self.addresses(vec![1]).await {
            Ok(_) => Ok(true),
            Err(failure) if matches!(failure.code, Code::Rejected | Code::NotFound) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Sends one part until the storage host has it; gives its `ETag`.
    pub(super) async fn send_part(&self, number: u64, mut address: String) -> Result<String, Failure> {
        let (mut pauses, mut fresh) = (self.counter.timing.pauses(), 0);
        let has_parts = matches!(self.plan.flow, UploadMode::Parts { .. });

        loop {
            let error = match self.attempt(number, &address).await? {
                Ok(tag) => return Ok(tag),
                Err(error) => error,
            };
            match error {
                StorageError::Refused { .. } if has_parts && fresh < FRESH_ADDRESSES => {
                    fresh += 1;
                    tracing::debug!(number, "the address of a part was refused; another one is asked for");
                    if let Some((_, another)) = self.addresses(vec![number]).await?.into_iter().next() {
                        address = another;
                    }
                }
                StorageError::Transient { .. } => {
                    let failure = given_up(number, &error);
                    let Some(pause) = pauses.next() else { return Err(failure) };
                    tracing::debug!(number, "a part has to be sent again: {error}");
                    self.counter.pause(pause, failure).await?;
                }
                error => return Err(given_up(number, &error)),
            }
        }
    }

    /// One attempt: the outer error is that of the file, the inner one that of the storage host.
    async fn attempt(&self, number: u64, address: &str) -> Result<Result<String, StorageError>, Failure> {
        let (body, sending) = part_body::open(&self.source, self.range(number), &self.progress);
        let limit = self.counter.timing.stall_limit;
        let outcome = tokio::select! {
            outcome = self.storage.put(address, Body::wrap(body)) => outcome,
            () = stall_limit(limit, || sending.gone()) => {
                Err(StorageError::transient(format!("nothing was taken for {} s", limit.as_secs())))
            }
        };
        if outcome.is_err()
            && let Some(failure) = sending.failed().await
        {
            return Err(failure);
        }

        Ok(outcome)
    }
}

/// The one address that the service names for a part.
fn address_of(number: u64, listed: &[Value]) -> Result<String, Failure> {
    let mut found =
        listed.iter().filter(|one| one.get("part_number").and_then(Value::as_u64) == Some(number));
    let address = found.next().and_then(|one| one.get("url")?.as_str());
    let why = match (address, found.next()) {
        (Some(address), None) => return Ok(address.to_owned()),
        (None, _) => "none",
        (Some(_), Some(_)) => "several",
    };
    let message = format!(
        "get_build_upload_parts: one address of part {number} was asked for, and the answer names {why}"
    );

    Err(Failure::new(Code::BadResponse, message))
}

/// Ends when no byte has gone for a while.
async fn stall_limit(limit: Duration, gone: impl Fn() -> u64) {
    let mut last = gone();
    loop {
        tokio::time::sleep(limit).await;
        let now = gone();
        if now == last {
            return;
        }
        last = now;
    }
}

fn given_up(number: u64, error: &StorageError) -> Failure {
    let code = match error {
        StorageError::Transient { .. } => Code::ServiceUnavailable,
        StorageError::Refused { .. } | StorageError::Final(_) => Code::Rejected,
        StorageError::Address(_) | StorageError::NoEtag(_) => Code::BadResponse,
    };
    let failure = Failure::new(code, format!("part {number} could not be stored: {error}"));
    let failure = failure.detail(PART_NUMBER, number);

    match error {
        StorageError::Refused { status, .. } => failure.status(*status),
        StorageError::Transient { retry_after: Some(wait), .. } => failure.retry_after(*wait),
        _ => failure,
    }
}

/// Whether a part was not stored because its address was refused: only then a failure of a part has a status.
pub(super) fn was_refused(failure: &Failure) -> bool {
    failure.status.is_some() && failure.details.contains_key(PART_NUMBER)
}
