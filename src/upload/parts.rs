//! Sending the parts: a few at a time, each as often as its patience allows, with addresses asked for as needed.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Body;
use serde_json::{Value, json};

use super::{
    Errand,
    body::{self, Range},
    digest::Digest,
    journal::{Journal, Tags},
    plan::{Flow, Plan},
};
use crate::{
    api::uploads::GetBuildUploadParts,
    client::{StorageError, jittered},
    failure::{Code, Failure},
    operation::{Fields, Operation as _},
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

/// Sends every part that `tags` does not have yet.
pub(super) async fn send(
    errand: &Errand,
    plan: &Plan,
    tags: &mut Tags,
    journal: Option<&mut Journal>,
) -> Result<String, Failure> {
    let source = &errand.source;
    let mut progress = Reached { digest: Digest::of(source), next: 1, plan, size: source.size() };
    for number in tags.keys() {
        errand.meter.add(plan.range(*number, source.size()).length);
    }
    let wanted: Vec<u64> = (1..=plan.total_parts()).filter(|number| !tags.contains_key(number)).collect();
    progress.advance(tags);
    let batches = stream::iter(wanted.chunks(ADDRESSES).map(<[u64]>::to_vec));
    let parts = batches.then(|numbers| addresses(errand, plan, numbers)).map_ok(|parts| stream::iter(parts).map(Ok));
    let sent = parts.try_flatten().map_ok(|(number, address)| send_part(errand, plan, number, address));
    let mut sent = std::pin::pin!(sent.try_buffer_unordered(AT_ONCE));
    let mut journal = journal;
    while let Some((number, tag)) = sent.try_next().await? {
        if let Some(journal) = journal.as_deref_mut()
            && let Err(error) = journal.done(number, &tag)
        {
            tracing::warn!("the upload cannot be taken up again after an end: {error}");
        }
        tags.insert(number, tag);
        progress.advance(tags);
    }
    progress.digest.finish().await
}

/// How far the file has gone without a gap.
struct Reached<'a> {
    digest: Digest,
    /// First part that has not gone.
    next: u64,
    plan: &'a Plan,
    size: u64,
}

impl Reached<'_> {
    fn advance(&mut self, tags: &Tags) {
        let before = self.next;
        while tags.contains_key(&self.next) {
            self.next += 1;
        }
        if self.next > before {
            let last = self.plan.range(self.next - 1, self.size);
            self.digest.reach(last.offset + last.length);
        }
    }
}

/// The addresses of parts, in the order asked for.
async fn addresses(errand: &Errand, plan: &Plan, numbers: Vec<u64>) -> Result<Vec<(u64, String)>, Failure> {
    let Flow::Parts { upload_id, .. } = &plan.flow else {
        let Flow::Whole { upload_url } = &plan.flow else { return Ok(Vec::new()) };
        return Ok(vec![(1, upload_url.clone())]);
    };
    let arguments = json!({"upload_id": upload_id, "object_key": plan.object_key, "part_numbers": numbers});
    let reply = errand.call(GetBuildUploadParts::NAME, arguments).await?;
    let listed = reply.get("upload_urls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let address_of = |number: u64| {
        let mut found = listed.iter().filter(|one| one.get("part_number").and_then(Value::as_u64) == Some(number));
        let address = found.next().and_then(|one| one.get("url")?.as_str());
        match (address, found.next()) {
            (Some(address), None) => Ok((number, address.to_owned())),
            (None, _) => Err(no_address(number, "names none")),
            (Some(_), Some(_)) => Err(no_address(number, "names several")),
        }
    };
    numbers.into_iter().map(address_of).collect()
}

fn no_address(number: u64, why: &str) -> Failure {
    let message = format!("get_build_upload_parts: the address of part {number} was asked for and the answer {why}");
    Failure::new(Code::BadResponse, message)
}

/// Sends one part until the storage host has it.
async fn send_part(
    errand: &Errand,
    plan: &Plan,
    number: u64,
    address: String,
) -> Result<(u64, String), Failure> {
    let range = plan.range(number, errand.source.size());
    let (mut address, mut pauses, mut fresh) = (address, PAUSES_S.iter(), 0);
    loop {
        let error = match attempt(errand, range, &address).await? {
            Ok(tag) => return Ok((number, tag)),
            Err(error) => error,
        };
        let has_parts = matches!(plan.flow, Flow::Parts { .. });
        match error {
            StorageError::Refused(_) if has_parts && fresh < FRESH_ADDRESSES => {
                fresh += 1;
                tracing::debug!(number, "the address of a part was refused; another one is asked for");
                if let Some((_, another)) = addresses(errand, plan, vec![number]).await?.into_iter().next() {
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
async fn attempt(
    errand: &Errand,
    range: Range,
    address: &str,
) -> Result<Result<String, StorageError>, Failure> {
    let (body, sending) = body::open(&errand.source, range, &errand.meter);
    let putting = errand.storage.put(address, Body::wrap(body));
    let outcome = tokio::select! {
        outcome = putting => outcome,
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

/// Whether the service still has an upload: it gives addresses for its parts then.
pub(super) async fn is_there(errand: &Errand, plan: &Plan) -> bool {
    addresses(errand, plan, vec![1]).await.is_ok()
}
