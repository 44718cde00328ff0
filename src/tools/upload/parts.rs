//! The parts of an upload: several are sent at a time, each with attempts of its own (service.md 10.6).

use std::{
    io,
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use super::{
    UploadJob,
    state::{StateFile, UploadState},
};
use crate::{backoff::AttemptError, client::StorageError, failure::Failure, tools::files::sleep_until};

/// Number of parts that are sent at the same time (service.md 10.6: 3 to 5).
const PARALLEL_PARTS: usize = 4;

/// Number of addresses of one request (service.md 10.5: 3 to 10).
const BATCH_SIZE: usize = 8;

impl UploadJob {
    /// Sends the parts that are not in `state`, and records each there. After [`Self::pause_at`] no further part is begun.
    pub(super) async fn send_parts(&self, state: &mut UploadState, file: &StateFile) -> Result<(), Failure> {
        let upload = state.clone();
        let missing = state.missing_parts();
        let batches: Vec<_> = missing.chunks(BATCH_SIZE).map(<[u64]>::to_vec).collect();

        // Addresses expire, so that the next batch is requested only when the last one is used up.
        let addresses = stream::iter(batches)
            .then(|numbers| self.session.part_addresses(&upload, numbers))
            .boxed()
            .map_ok(|batch| stream::iter(batch.into_iter().map(Ok::<_, Failure>)))
            .try_flatten();
        let sending = addresses
            .take_until(sleep_until(self.pause_at))
            .map_ok(|(number, address)| self.send_part(&upload, number, address))
            .try_buffer_unordered(PARALLEL_PARTS);

        let mut sent = sending.boxed();
        while let Some((number, etag)) = sent.try_next().await? {
            state.etags.insert(number, etag);
            file.write(state);
        }

        Ok(())
    }

    /// Sends part `number` until the storage host accepts it. Returns its number and its `ETag`.
    async fn send_part(
        &self,
        upload: &UploadState,
        number: u64,
        mut address: String,
    ) -> Result<(u64, String), Failure> {
        let mut attempts = self.session.timing.retries.start();

        loop {
            match self.try_send(upload, number, &address).await {
                Ok(etag) => return Ok((number, etag)),
                Err(error) => self.session.pause_after(error, &mut attempts).await?,
            }
            // An address can expire before its part is sent.
            let renewed = self.session.part_addresses(upload, vec![number]).await?;
            address = renewed.into_iter().next().map_or(address, |(_, renewed)| renewed);
        }
    }

    /// Sends part `number` once.
    async fn try_send(
        &self,
        upload: &UploadState,
        number: u64,
        address: &str,
    ) -> Result<String, AttemptError> {
        self.source.check_unchanged()?;

        let range = upload.part_range(number);
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
        let error = match outcome {
            Ok(etag) => return Ok(etag),
            Err(error) => error,
        };

        self.progress.take_back(sent.load(Relaxed));
        // A body whose file cannot be read looks like a broken connection.
        self.source.check_unchanged()?;

        let gets_address = upload.is_multipart() && error.is_expired;
        let mut error = error.into_attempt_error(&format!("part {number} could not be stored"));
        error.failure = error.failure.detail("part_number", number);
        error.is_transient |= gets_address;
        Err(error)
    }

    /// Returns the body of a part, which is never in memory as a whole. `sent` counts its bytes.
    fn part_body(&self, range: Range<u64>, sent: Arc<AtomicU64>) -> reqwest::Body {
        let (source, progress) = (self.source.clone(), Arc::clone(&self.progress));

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
