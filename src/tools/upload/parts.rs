//! The parts of an upload: several are sent at a time, each with new attempts and new addresses.

use std::{
    collections::BTreeSet,
    io, iter,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::Instant;

use super::{
    session::{UploadPlan, UploadSession},
    source::SourceFile,
    state::{StateFile, UploadState},
};
use crate::{
    client::{StorageClient, StorageError},
    failure::{Cause, Code, Failure},
    tools::files::{TransferProgress, sleep_until},
};

/// Number of parts that are sent at the same time (service.md 10.6: 3 to 5).
const PARALLEL_PARTS: usize = 4;

/// Usual number of addresses of one request (service.md 10.5: 3 to 10).
const BATCH_SIZE: u64 = 8;

/// Maximum number of addresses of one request. The last batch may be larger than the others, so that it never has fewer
/// than three addresses.
const MAX_BATCH_SIZE: u64 = 10;

/// How often a part gets another address after its address was refused.
const MAX_NEW_ADDRESSES: u32 = 3;

/// Sends the parts of one upload.
#[derive(Debug)]
pub(super) struct PartSender<'a> {
    pub(super) session: &'a UploadSession,
    pub(super) storage: &'a StorageClient,
    pub(super) source: &'a SourceFile,
    pub(super) plan: &'a UploadPlan,
    pub(super) progress: &'a Arc<TransferProgress>,
}

impl PartSender<'_> {
    /// Sends the parts that are not in `state`, and records each there. After `pause_at` no further part is begun.
    pub(super) async fn send_all(
        &self,
        state: &mut UploadState,
        file: &StateFile,
        pause_at: Option<Instant>,
    ) -> Result<(), Failure> {
        let missing = missing_parts(self.plan.total_parts(), &state.etags.keys().copied().collect());

        // Addresses expire, so that the next batch is requested only when the last one is used up.
        let addresses = stream::iter(batches(missing))
            .then(|numbers| self.session.part_addresses(self.plan, numbers))
            .boxed()
            .map_ok(|batch| stream::iter(batch.into_iter().map(Ok::<_, Failure>)))
            .try_flatten();
        let sending = addresses
            .take_until(sleep_until(pause_at))
            .map_ok(|(number, address)| self.send(number, address))
            .try_buffer_unordered(PARALLEL_PARTS);

        let mut sent = sending.boxed();
        while let Some((number, etag)) = sent.try_next().await? {
            state.etags.insert(number, etag);
            file.write(state);
        }

        Ok(())
    }

    /// Sends part `number` until the storage host accepts it. Returns its number and its `ETag`.
    async fn send(&self, number: u64, mut address: String) -> Result<(u64, String), Failure> {
        let mut attempts = self.session.timing.retries.start();
        let mut new_addresses = 0;

        loop {
            let error = match self.try_send(number, &address).await? {
                Ok(etag) => return Ok((number, etag)),
                Err(error) => error,
            };
            let failure = part_failure(number, &error);

            match error {
                // An address can expire before its part is sent.
                StorageError::Refused { .. }
                    if self.plan.is_multipart() && new_addresses < MAX_NEW_ADDRESSES =>
                {
                    new_addresses += 1;
                    let renewed = self.session.part_addresses(self.plan, vec![number]).await?;
                    address = renewed.into_iter().map(|(_, renewed)| renewed).next().unwrap_or(address);
                }
                StorageError::Transient { .. } => self.session.pause_after(failure, &mut attempts).await?,
                _ => return Err(failure),
            }
        }
    }

    /// Sends part `number` once. The outer error is of the local file, the inner error of the storage host.
    async fn try_send(&self, number: u64, address: &str) -> Result<Result<String, StorageError>, Failure> {
        self.source.check_unchanged()?;

        let range = self.plan.part_range(number);
        let size = range.end - range.start;
        let sent = Arc::<AtomicU64>::default();
        let body = self.part_body(range, Arc::clone(&sent));
        let limit = self.session.timing.stall_limit;

        let outcome = tokio::select! {
            outcome = self.storage.put(address, body, size) => outcome,
            () = stall(&sent, limit) => {
                Err(StorageError::transient(format!("no byte was accepted for {} s", limit.as_secs())))
            }
        };

        if outcome.is_err() {
            self.progress.take_back(sent.load(Relaxed));
            // A body whose file cannot be read looks like a broken connection.
            self.source.check_unchanged()?;
        }

        Ok(outcome)
    }

    /// Returns the body of a part, which is never in memory as a whole. `sent` counts its bytes.
    fn part_body(&self, range: Range<u64>, sent: Arc<AtomicU64>) -> reqwest::Body {
        let (source, progress) = (self.source.clone(), Arc::clone(self.progress));

        reqwest::Body::wrap_stream(stream::try_unfold(range.start, move |start| {
            let (source, progress, sent) = (source.clone(), Arc::clone(&progress), Arc::clone(&sent));
            async move {
                if start >= range.end {
                    return Ok::<_, io::Error>(None);
                }
                let chunk = source.read_chunk(start, range.end).await?;
                let size = chunk.len() as u64;
                sent.fetch_add(size, Relaxed);
                progress.add_transferred(size);
                Ok(Some((chunk, start + size)))
            }
        }))
    }
}

/// Waits until no byte was sent during a period of `limit`.
async fn stall(sent: &AtomicU64, limit: Duration) {
    let mut previous = None;

    loop {
        let current = sent.load(Relaxed);
        if previous == Some(current) {
            return;
        }
        previous = Some(current);
        tokio::time::sleep(limit).await;
    }
}

fn missing_parts(total: u64, sent: &BTreeSet<u64>) -> Vec<u64> {
    (1..=total).filter(|number| !sent.contains(number)).collect()
}

/// Returns the numbers of parts in batches of which each is requested at once.
fn batches(mut numbers: Vec<u64>) -> impl Iterator<Item = Vec<u64>> + Send {
    iter::from_fn(move || {
        let left = numbers.len() as u64;
        let size = if left > MAX_BATCH_SIZE { BATCH_SIZE } else { left };
        let rest = numbers.split_off(usize::try_from(size).unwrap_or(usize::MAX));
        let batch = std::mem::replace(&mut numbers, rest);
        (!batch.is_empty()).then_some(batch)
    })
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
            failure.facts.cause = Some(Cause::AddressRefused);
            failure.status(*status)
        }
        StorageError::Transient { retry_after: Some(wait), .. } => failure.retry_after(*wait),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_three_to_ten_numbers_and_leave_out_sent_parts() {
        let missing = missing_parts(13, &BTreeSet::from([2, 9]));
        let batches: Vec<_> = batches(missing).collect();
        assert_eq!(batches, [vec![1, 3, 4, 5, 6, 7, 8, 10], vec![11, 12, 13]]);
    }
}
