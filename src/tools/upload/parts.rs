//! Sending the parts: a few at a time, with addresses asked for as needed.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use tokio::task::{JoinError, JoinSet};

use super::{
    file_digest::FileDigest,
    journal::{PartEtags, UploadJournal},
    part_uploader::PartUploader,
};
use crate::failure::{Code, Failure};

/// Parts under way at once (specification, Multipart build upload: 3 to 5).
const AT_ONCE: usize = 4;

/// Addresses that are asked for at once, and the most of them, so that the last few are three at least (specification:
/// 3 to 10).
const ADDRESSES: u64 = 8;
const MOST_ADDRESSES: u64 = 10;

/// What one task has brought about.
enum PartEvent {
    /// Addresses of the next parts.
    Addresses(Vec<(u64, String)>),
    /// A part has been taken.
    Sent(u64, String),
}

/// Sends every part that `tags` does not have yet; gives the digest of the file, where the carrier makes one.
pub(super) async fn send(
    part_uploader: Arc<PartUploader>,
    tags: &mut PartEtags,
    mut journal: Option<&mut UploadJournal>,
) -> Result<Option<String>, Failure> {
    part_uploader.progress.found(tags.keys().map(|number| part_uploader.range(*number).length).sum());
    let digest = part_uploader.hashes.then(|| FileDigest::of(&part_uploader.source));
    let mut wanted = PendingParts::new(part_uploader.plan.total_parts(), tags);
    let (mut ready, mut tasks) = (VecDeque::new(), JoinSet::new());
    let (mut asking, mut sending) = (false, 0);

    loop {
        if ready.is_empty() && !asking && wanted.left > 0 {
            let (part_uploader, numbers) = (Arc::clone(&part_uploader), wanted.next_few());
            tasks.spawn(async move { part_uploader.addresses(numbers).await.map(PartEvent::Addresses) });
            asking = true;
        }

        while sending < AT_ONCE
            && let Some((number, address)) = ready.pop_front()
        {
            if let Some(digest) = &digest {
                digest.reach(part_uploader.range(number).end());
            }
            let part_uploader = Arc::clone(&part_uploader);
            tasks.spawn(async move {
                Ok(PartEvent::Sent(number, part_uploader.send_part(number, address).await?))
            });
            sending += 1;
        }

        let Some(ended) = tasks.join_next().await else { break };
        match ended.unwrap_or_else(|stopped| Err(interrupted(&stopped)))? {
            PartEvent::Addresses(addresses) => {
                ready.extend(addresses);
                asking = false;
            }
            PartEvent::Sent(number, tag) => {
                note(&mut journal, number, &tag);
                tags.insert(number, tag);
                sending -= 1;
            }
        }
    }

    match digest {
        Some(digest) => digest.finish(part_uploader.source.size()).await.map(Some),
        None => Ok(None),
    }
}

fn note(journal: &mut Option<&mut UploadJournal>, number: u64, tag: &str) {
    let Some(journal) = journal else { return };
    if let Err(error) = journal.done(number, tag) {
        tracing::warn!("the upload cannot be taken up again after an end: {error}");
    }
}

fn interrupted(stopped: &JoinError) -> Failure {
    Failure::new(Code::Cancelled, format!("a part was not sent: {stopped}"))
}

/// Parts whose addresses nobody has asked for yet.
struct PendingParts {
    next: u64,
    left: u64,
    had: BTreeSet<u64>,
}

impl PendingParts {
    fn new(total: u64, tags: &PartEtags) -> Self {
        let had: BTreeSet<_> = tags.keys().copied().collect();
        Self { next: 1, left: total.saturating_sub(had.len() as u64), had }
    }

    fn next_few(&mut self) -> Vec<u64> {
        let count = if self.left > MOST_ADDRESSES { ADDRESSES } else { self.left };
        self.left -= count;

        let mut numbers = Vec::new();
        while (numbers.len() as u64) < count {
            if !self.had.contains(&self.next) {
                numbers.push(self.next);
            }
            self.next += 1;
        }

        numbers
    }
}
