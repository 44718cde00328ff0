//! Sends single parts to the storage host, with new attempts and new addresses.

use std::{sync::Arc, time::Duration};

use reqwest::Body;

use super::{
    part_body::{PartRange, start_part},
    plan::{UploadMode, UploadPlan},
    progress::UploadProgress,
    session::UploadSession,
    source_file::SourceFile,
};
use crate::{
    client::{StorageClient, StorageError},
    failure::{Code, Failure},
};

/// How often a part gets another address after its address was refused.
const MAX_NEW_ADDRESSES: u32 = 3;

/// Sends the parts of one upload.
#[derive(Debug)]
pub(super) struct PartUploader {
    pub(super) session: UploadSession,
    pub(super) plan: UploadPlan,
    pub(super) source: SourceFile,
    /// Whether the SHA-256 of the file is computed.
    pub(super) hashes: bool,
    pub(super) progress: Arc<UploadProgress>,
    pub(super) storage: Arc<StorageClient>,
}

impl PartUploader {
    /// Returns the position of part `number` in the file.
    pub(super) fn part_range(&self, number: u64) -> PartRange {
        self.plan.part_range(number, self.source.size())
    }

    /// Returns the addresses of the parts `numbers`, each with its number, in this order.
    pub(super) async fn addresses(&self, numbers: Vec<u64>) -> Result<Vec<(u64, String)>, Failure> {
        self.session.part_addresses(&self.plan, &numbers).await
    }

    /// Returns whether the upload exists at the service, which then returns addresses for its parts.
    pub(super) async fn upload_exists(&self) -> Result<bool, Failure> {
        match self.addresses(vec![1]).await {
            Ok(_) => Ok(true),
            Err(failure) if matches!(failure.code, Code::Rejected | Code::NotFound) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Sends part `number` until the storage host accepts it. Returns its `ETag`.
    pub(super) async fn send_part(&self, number: u64, mut address: String) -> Result<String, Failure> {
        let mut pauses = self.session.timing.pauses();
        let mut new_addresses = 0;
        let is_multipart = matches!(self.plan.mode, UploadMode::Multipart { .. });

        loop {
            let error = match self.try_send(number, &address).await? {
                Ok(etag) => return Ok(etag),
                Err(error) => error,
            };
            match error {
                // An address can expire before its part is sent.
                StorageError::Refused { .. } if is_multipart && new_addresses < MAX_NEW_ADDRESSES => {
                    new_addresses += 1;
                    tracing::debug!(number, "the address of a part was refused; a new address is requested");
                    if let Some((_, new_address)) = self.addresses(vec![number]).await?.into_iter().next() {
                        address = new_address;
                    }
                }
                StorageError::Transient { .. } => {
                    let failure = part_failure(number, &error);
                    let Some(pause) = pauses.next() else { return Err(failure) };
                    tracing::debug!(number, "a part is sent again: {error}");
                    self.session.pause_after(failure, pause).await?;
                }
                error => return Err(part_failure(number, &error)),
            }
        }
    }

    /// Sends part `number` once. The outer error is of the local file, the inner error of the storage host.
    async fn try_send(&self, number: u64, address: &str) -> Result<Result<String, StorageError>, Failure> {
        let (body, transfer) = start_part(&self.source, self.part_range(number), &self.progress);
        let limit = self.session.timing.stall_limit;

        let outcome = tokio::select! {
            outcome = self.storage.put(address, Body::wrap(body)) => outcome,
            () = wait_for_stall(limit, || transfer.sent()) => {
                Err(StorageError::transient(format!("no byte was accepted for {} s", limit.as_secs())))
            }
        };

        if outcome.is_err()
            && let Some(failure) = transfer.fail().await
        {
            return Err(failure);
        }

        Ok(outcome)
    }
}

/// Waits until `sent` does not change during a period of `limit`.
async fn wait_for_stall(limit: Duration, sent: impl Fn() -> u64) {
    let mut previous = sent();

    loop {
        tokio::time::sleep(limit).await;
        let current = sent();
        if current == previous {
            return;
        }
        previous = current;
    }
}

fn part_failure(number: u64, error: &StorageError) -> Failure {
    let code = match error {
        StorageError::Transient { .. } => Code::ServiceUnavailable,
        StorageError::Refused { .. } | StorageError::Final(_) => Code::Rejected,
        StorageError::Address(_) | StorageError::NoEtag(_) => Code::BadResponse,
    };
    let mut failure = Failure::new(code, format!("part {number} could not be stored: {error}"));
    failure = failure.detail("part_number", number);

    match error {
        StorageError::Refused { status, .. } => {
            failure.facts.is_address_refused = true;
            failure.status(*status)
        }
        StorageError::Transient { retry_after: Some(wait), .. } => failure.retry_after(*wait),
        _ => failure,
    }
}
