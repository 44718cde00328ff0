//! Sends all parts of an upload: several at a time, with addresses requested in batches.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use tokio::task::{JoinError, JoinSet};

use super::{
    file_digest::FileDigest,
    journal::{PartEtags, UploadJournal},
    part_addresses::batch_size,
    part_uploader::PartUploader,
};
use crate::failure::{Code, Failure};

/// Number of parts that are sent at the same time (specification, Multipart build upload: 3 to 5).
const PARALLEL_PARTS: usize = 4;

/// Result of a finished task.
enum PartEvent {
    /// Addresses of further parts, each with its number.
    Addresses(Vec<(u64, String)>),
    /// The storage host accepted the part with this number and returned this `ETag`.
    Sent(u64, String),
}

/// Sends every part that is not in `etags`, and records it there and in the journal. Returns the SHA-256 of the file, if
/// it is computed.
pub(super) async fn send_parts(
    uploader: Arc<PartUploader>,
    etags: &mut PartEtags,
    mut journal: Option<&mut UploadJournal>,
) -> Result<Option<String>, Failure> {
    uploader.progress.add_resumed(etags.keys().map(|number| uploader.part_range(*number).length).sum());
    let digest = uploader.hashes.then(|| FileDigest::start(&uploader.source));
    let mut pending = PendingParts::new(uploader.plan.total_parts(), etags);
    let mut ready = VecDeque::new();
    let mut tasks = JoinSet::new();
    let (mut is_requesting, mut sending) = (false, 0);

    loop {
        // Addresses expire, so that the next batch is requested only when the last one is used up.
        if ready.is_empty() && !is_requesting && pending.count > 0 {
            let (uploader, numbers) = (Arc::clone(&uploader), pending.next_batch());
            tasks.spawn(async move { uploader.addresses(numbers).await.map(PartEvent::Addresses) });
            is_requesting = true;
        }

        while sending < PARALLEL_PARTS
            && let Some((number, address)) = ready.pop_front()
        {
            if let Some(digest) = &digest {
                digest.advance_to(uploader.part_range(number).end());
            }
            let uploader = Arc::clone(&uploader);
            tasks.spawn(
                async move { Ok(PartEvent::Sent(number, uploader.send_part(number, address).await?)) },
            );
            sending += 1;
        }

        let Some(finished) = tasks.join_next().await else { break };
        match finished.unwrap_or_else(|stopped| Err(stopped_task_failure(&stopped)))? {
            PartEvent::Addresses(addresses) => {
                ready.extend(addresses);
                is_requesting = false;
            }
            PartEvent::Sent(number, etag) => {
                record_part(&mut journal, number, &etag);
                etags.insert(number, etag);
                sending -= 1;
            }
        }
    }

    match digest {
        Some(digest) => digest.finish(uploader.source.size()).await.map(Some),
        None => Ok(None),
    }
}

fn record_part(journal: &mut Option<&mut UploadJournal>, number: u64, etag: &str) {
    let Some(journal) = journal else { return };
    if let Err(error) = journal.add_part(number, etag) {
        tracing::warn!("the upload cannot be resumed if the process ends: {error}");
    }
}

fn stopped_task_failure(stopped: &JoinError) -> Failure {
    Failure::new(Code::Cancelled, format!("a part was not sent: {stopped}"))
}

/// The parts whose addresses were not requested yet.
struct PendingParts {
    next: u64,
    count: u64,
    /// Numbers of the parts that the storage host already has.
    sent: BTreeSet<u64>,
}

impl PendingParts {
    fn new(total: u64, etags: &PartEtags) -> Self {
        let sent: BTreeSet<_> = etags.keys().copied().collect();
        Self { next: 1, count: total.saturating_sub(sent.len() as u64), sent }
    }

    /// Returns the numbers of the next batch.
    fn next_batch(&mut self) -> Vec<u64> {
        let size = batch_size(self.count);
        self.count -= size;

        let mut numbers = Vec::new();
        while (numbers.len() as u64) < size {
            if !self.sent.contains(&self.next) {
                numbers.push(self.next);
            }
            self.next += 1;
        }

        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_have_three_to_ten_numbers_and_leave_out_sent_parts() {
        let sent = PartEtags::from([(2, "e".to_owned()), (9, "e".to_owned())]);
        let mut pending = PendingParts::new(13, &sent);

        assert_eq!(pending.next_batch(), [1, 3, 4, 5, 6, 7, 8, 10]);
        assert_eq!(pending.next_batch(), [11, 12, 13]);
        assert_eq!(pending.count, 0);
    }
}
