//! Sending the parts: a few at a time, each as often as its patience allows, with addresses asked for as needed.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use reqwest::Body;
use serde_json::{Value, json};
use tokio::task::{JoinError, JoinSet};

use super::{
    body::{self, Range},
    digest::Digest,
    journal::{Journal, Tags},
    meter::Meter,
    plan::{Flow, Plan},
    source::Source,
};
use crate::{
    api::uploads::GetBuildUploadParts,
    client::{Storage, StorageError, jittered},
    failure::{Code, Failure},
    local::Counter,
    operation::Operation as _,
};

/// Parts under way at once (specification, Multipart build upload: 3 to 5).
const AT_ONCE: usize = 4;

/// Addresses that are asked for at once (specification: 3 to 10).
const ADDRESSES: usize = 8;

/// Pauses before a part is sent again (specification).
const PAUSES_S: [u64; 4] = [1, 2, 4, 8];

/// How often a part gets another address because its own was refused.
const FRESH_ADDRESSES: u32 = 3;

/// A part that has no byte taken for so long has to start anew.
const STALLED: Duration = Duration::from_secs(120);

/// What the parts of one upload need.
#[derive(Debug)]
pub(super) struct Carrier {
    pub(super) counter: Counter,
    pub(super) plan: Plan,
    pub(super) source: Source,
    pub(super) meter: Arc<Meter>,
    pub(super) storage: Arc<Storage>,
}

/// What one task has brought about.
enum Step {
    /// Addresses of the next parts.
    Addresses(Vec<(u64, String)>),
    /// A part has been taken.
    Sent(u64, String),
}

/// Sends every part that `tags` does not have yet; gives the digest of the file.
pub(super) async fn send(
    carrier: Arc<Carrier>,
    tags: &mut Tags,
    mut journal: Option<&mut Journal>,
) -> Result<String, Failure> {
    let mut progress = Reached::new(&carrier, tags);
    let wanted = (1..=carrier.plan.total_parts()).filter(|number| !tags.contains_key(number));
    let mut wanted = wanted.collect::<VecDeque<_>>();
    let (mut ready, mut tasks) = (VecDeque::new(), JoinSet::new());
    let (mut asking, mut sending) = (false, 0);
    loop {
        if ready.is_empty() && !asking && !wanted.is_empty() {
            let numbers = wanted.drain(..wanted.len().min(ADDRESSES)).collect();
            let carrier = Arc::clone(&carrier);
            tasks.spawn(async move { carrier.addresses(numbers).await.map(Step::Addresses) });
            asking = true;
        }
        while sending < AT_ONCE
            && let Some((number, address)) = ready.pop_front()
        {
            tasks.spawn(Arc::clone(&carrier).send_part(number, address));
            sending += 1;
        }
        let Some(ended) = tasks.join_next().await else { break };
        match ended.unwrap_or_else(|stopped| Err(interrupted(&stopped)))? {
            Step::Addresses(addresses) => {
                ready.extend(addresses);
                asking = false;
            }
            Step::Sent(number, tag) => {
                note(&mut journal, number, &tag);
                tags.insert(number, tag);
                progress.advance(tags);
                sending -= 1;
            }
        }
    }
    progress.digest.finish().await
}

fn note(journal: &mut Option<&mut Journal>, number: u64, tag: &str) {
    let Some(journal) = journal else { return };
    if let Err(error) = journal.done(number, tag) {
        tracing::warn!("the upload cannot be taken up again after an end: {error}");
    }
}

fn interrupted(stopped: &JoinError) -> Failure {
    Failure::new(Code::Cancelled, format!("a part was not sent: {stopped}"))
}

/// How far the file has gone without a gap.
struct Reached {
    digest: Digest,
    /// First part that has not gone.
    next: u64,
    carrier: Arc<Carrier>,
}

impl Reached {
    fn new(carrier: &Arc<Carrier>, tags: &Tags) -> Self {
        let (digest, carrier) = (Digest::of(&carrier.source), Arc::clone(carrier));
        for number in tags.keys() {
            carrier.meter.add(carrier.range(*number).length);
        }
        let mut reached = Self { digest, next: 1, carrier };
        reached.advance(tags);
        reached
    }

    fn advance(&mut self, tags: &Tags) {
        let before = self.next;
        while tags.contains_key(&self.next) {
            self.next += 1;
        }
        if self.next > before {
            let last = self.carrier.range(self.next - 1);
            self.digest.reach(last.offset + last.length);
        }
    }
}

impl Carrier {
    fn range(&self, number: u64) -> Range {
        self.plan.range(number, self.source.size())
    }

    /// The addresses of parts, in the order asked for.
    async fn addresses(&self, numbers: Vec<u64>) -> Result<Vec<(u64, String)>, Failure> {
        let upload_id = match &self.plan.flow {
            Flow::Parts { upload_id, .. } => upload_id,
            Flow::Whole { upload_url } => return Ok(vec![(1, upload_url.clone())]),
        };
        let arguments =
            json!({"upload_id": upload_id, "object_key": self.plan.object_key, "part_numbers": numbers});
        let reply = self.counter.call(GetBuildUploadParts::NAME, arguments).await?;
        let listed =
            reply.get("upload_urls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        numbers.into_iter().map(|number| Ok((number, address_of(number, listed)?))).collect()
    }

    /// Whether the service still has the upload: it gives addresses for its parts then.
    pub(super) async fn is_there(&self) -> bool {
        self.addresses(vec![1]).await.is_ok()
    }

    /// Sends one part until the storage host has it.
    async fn send_part(self: Arc<Self>, number: u64, mut address: String) -> Result<Step, Failure> {
        let (mut pauses, mut fresh) = (PAUSES_S.iter(), 0);
        let has_parts = matches!(self.plan.flow, Flow::Parts { .. });
        loop {
            let error = match self.attempt(number, &address).await? {
                Ok(tag) => return Ok(Step::Sent(number, tag)),
                Err(error) => error,
            };
            match error {
                StorageError::Refused(_) if has_parts && fresh < FRESH_ADDRESSES => {
                    fresh += 1;
                    tracing::debug!(number, "the address of a part was refused; another one is asked for");
                    if let Some((_, another)) = self.addresses(vec![number]).await?.into_iter().next() {
                        address = another;
                    }
                }
                StorageError::Passing(_) => {
                    let Some(seconds) = pauses.next() else { return Err(given_up(number, &error)) };
                    tracing::debug!(number, "a part has to be sent again: {error}");
                    tokio::time::sleep(jittered(Duration::from_secs(*seconds))).await;
                }
                error => return Err(given_up(number, &error)),
            }
        }
    }

    /// One attempt: the outer error is that of the file, the inner one that of the storage host.
    async fn attempt(&self, number: u64, address: &str) -> Result<Result<String, StorageError>, Failure> {
        let (body, sending) = body::open(&self.source, self.range(number), &self.meter);
        let outcome = tokio::select! {
            outcome = self.storage.put(address, Body::wrap(body)) => outcome,
            () = stalled(|| sending.gone()) => {
                Err(StorageError::Passing(format!("nothing was taken for {} s", STALLED.as_secs())))
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
async fn stalled(gone: impl Fn() -> u64) {
    let mut last = gone();
    loop {
        tokio::time::sleep(STALLED).await;
        let now = gone();
        if now == last {
            return;
        }
        last = now;
    }
}

fn given_up(number: u64, error: &StorageError) -> Failure {
    let code = match error {
        StorageError::Passing(_) => Code::ServiceUnavailable,
        StorageError::Refused(_) | StorageError::Final(_) => Code::Rejected,
        StorageError::Address(_) => Code::BadResponse,
    };
    Failure::new(code, format!("part {number} could not be stored: {error}")).detail("part_number", number)
}
