//! The memory of the process for messages, for answers of the service and for what is made of them: one budget in bytes with four
//! parts, of which each credential has a share.
//!
//! A message, a list and a picture take their memory at once, or are refused. A long answer waits: first for the memory of its text,
//! before the rest of the text is read, and then for that of its values, which it holds until its reply is made. Who holds memory
//! of values waits for no memory, and who holds that of a text waits for that of its values only. Therefore no call waits for
//! itself, and no calls wait for each other.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::{MAX_RESPONSE_BYTES, transport_error::TransportError};

/// Longest answer or message that takes no memory of the budget, in bytes.
pub const MAX_FREE_BYTES: usize = 64 * 1024;

const MIB: usize = 1024 * 1024;

/// The memory of the messages of all credentials, and of one, in bytes: one credential can send one of the longest messages with its
/// copy, or several shorter ones.
const MESSAGES: Limits = Limits { all: 48 * MIB, own: 12 * MIB };

/// The memory of what is kept beside calls: lists and pictures.
const KEPT: Limits = Limits { all: 64 * MIB, own: LIST_BYTES };

/// The memory of the texts of answers: two credentials can read the longest one, and make a copy of it.
const TEXTS: Limits = Limits { all: 64 * MIB, own: 2 * MAX_RESPONSE_BYTES };

/// The memory of the values of answers: two credentials can have the most values.
const VALUES: Limits = Limits { all: 80 * MIB, own: VALUE_BYTES * MAX_VALUES };

/// The memory of the records of the longest list, in bytes.
pub const LIST_BYTES: usize = 36 * MIB;

/// How much memory a value of a JSON document takes beside its text, in bytes. An object of one number has two values.
const VALUE_BYTES: usize = 160;

/// Largest number of values of a document. Parsing refuses more.
const MAX_VALUES: usize = 250_000;

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// It is parsed.
    Json,
    /// It stays as it is.
    File,
}

/// A part of the budget, in bytes.
#[derive(Clone, Copy, Debug)]
struct Limits {
    all: usize,
    /// What one credential can use.
    own: usize,
}

/// The share of one credential in the budget of the process. The clones are one share.
#[derive(Clone, Debug)]
pub struct MemoryShare {
    messages: Share,
    kept: Share,
    texts: Share,
    values: Share,
}

impl Default for MemoryShare {
    /// Creates the budget of a process, with the share of its first credential.
    fn default() -> Self {
        let [messages, kept, texts, values] = [MESSAGES, KEPT, TEXTS, VALUES].map(Share::new);
        Self { messages, kept, texts, values }
    }
}

impl MemoryShare {
    /// Returns the share of another credential in the same budget.
    #[must_use]
    pub fn of_other_credential(&self) -> Self {
        let [messages, kept, texts, values] =
            [&self.messages, &self.kept, &self.texts, &self.values].map(|share| share.with_own(share.own));
        Self { messages, kept, texts, values }
    }

    /// Returns the same share, in which messages may take this much memory.
    #[must_use]
    pub fn with_messages(&self, bytes: usize) -> Self {
        Self { messages: self.messages.with_own(bytes), ..self.clone() }
    }

    /// Takes memory until `held` is enough for a message that takes `bytes`, at most the whole share. Returns whether it is
    /// enough. A short message takes none of the memory of others, and one that only the settings of the operator allow no more
    /// than the share of a credential.
    pub fn grow_message(&self, held: &mut TakenMemory, bytes: usize) -> bool {
        let Share { own, own_kib, all_kib } = &self.messages;
        held.grow(0, own_kib, bytes.min(*own))
            && (bytes <= MAX_FREE_BYTES || held.grow(1, all_kib, bytes.min(MESSAGES.own)))
    }

    /// Takes memory for what is kept beside calls; `None` if there is none now.
    pub fn keep(&self, bytes: usize) -> Option<TakenMemory> {
        let mut taken = TakenMemory::default();
        let is_enough = taken.grow(0, &self.kept.own_kib, bytes) && taken.grow(1, &self.kept.all_kib, bytes);
        is_enough.then_some(taken)
    }

    /// Returns an empty body of at most `expected` bytes, which takes its memory when it becomes long. It waits for the
    /// memory until `deadline`.
    pub(super) fn body(&self, content: Content, expected: usize, deadline: Instant) -> GrowingBody<'_> {
        let (bytes, taken) = (BytesMut::new(), TakenMemory::default());
        GrowingBody { memory: self, content, expected, deadline, bytes, separators: 0, taken }
    }
}

/// Returns about how much memory a JSON text, its copy and its values take.
pub fn memory_of_json(text: &[u8]) -> usize {
    2 * text.len() + memory_of_values(count_separators(text))
}

fn memory_of_values(separators: usize) -> usize {
    VALUE_BYTES * separators.min(MAX_VALUES)
}

/// Returns the number of separators in a part of a JSON text, which is about that of its values. Separators inside of texts count
/// too.
fn count_separators(text: &[u8]) -> usize {
    text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// The share of one credential in one part of the budget.
#[derive(Clone, Debug)]
struct Share {
    own: usize,
    own_kib: Arc<Semaphore>,
    /// What is free for all credentials together.
    all_kib: Arc<Semaphore>,
}

impl Share {
    fn new(Limits { all, own }: Limits) -> Self {
        let [own_kib, all_kib] = [own, all].map(|bytes| Arc::new(Semaphore::new(kib(bytes))));
        Self { own, own_kib, all_kib }
    }

    fn with_own(&self, own: usize) -> Self {
        Self { own, own_kib: Arc::new(Semaphore::new(kib(own))), all_kib: Arc::clone(&self.all_kib) }
    }

    /// Waits for memory, at most for the whole share.
    async fn take(&self, bytes: usize) -> TakenMemory {
        let count = permits(bytes.min(self.own));
        // Nothing of the budget is held while a credential waits for its own share. The semaphores are never closed.
        let own = Arc::clone(&self.own_kib).acquire_many_owned(count).await.ok();
        let all = Arc::clone(&self.all_kib).acquire_many_owned(count).await.ok();

        TakenMemory { permits: own.into_iter().chain(all).collect() }
    }
}

fn kib(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

fn permits(bytes: usize) -> u32 {
    u32::try_from(kib(bytes)).unwrap_or(u32::MAX)
}

/// Memory that is released with this value.
#[derive(Debug, Default)]
pub struct TakenMemory {
    permits: Vec<OwnedSemaphorePermit>,
}

impl TakenMemory {
    /// Holds other memory too.
    pub fn add(&mut self, other: Self) {
        self.permits.extend(other.permits);
    }

    /// Takes memory of `free` until the permit at `index` is enough for `bytes`. Returns whether it is enough.
    fn grow(&mut self, index: usize, free: &Arc<Semaphore>, bytes: usize) -> bool {
        let held = self.permits.get_mut(index);
        let has = held.as_ref().map_or(0, |held| held.num_permits());
        let missing = permits(bytes).saturating_sub(u32::try_from(has).unwrap_or(u32::MAX));
        let Ok(more) = Arc::clone(free).try_acquire_many_owned(missing) else { return false };

        match held {
            Some(held) => held.merge(more),
            None => self.permits.push(more),
        }
        true
    }
}

/// Memory that is released with its last clone. What is short holds none.
#[derive(Clone, Debug, Default)]
pub struct HeldMemory {
    _taken: Option<Arc<TakenMemory>>,
}

impl From<TakenMemory> for HeldMemory {
    fn from(taken: TakenMemory) -> Self {
        Self { _taken: (!taken.permits.is_empty()).then(|| Arc::new(taken)) }
    }
}

/// The body of an answer while it is read.
#[derive(Debug)]
pub(super) struct GrowingBody<'a> {
    memory: &'a MemoryShare,
    content: Content,
    /// Length of the whole body, or the greatest that it can have.
    expected: usize,
    deadline: Instant,
    bytes: BytesMut,
    separators: usize,
    taken: TakenMemory,
}

impl GrowingBody<'_> {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns how many bytes are missing.
    pub(super) fn room(&self) -> usize {
        self.expected.saturating_sub(self.len())
    }

    /// Adds the next bytes.
    ///
    /// # Errors
    /// No memory became free in time.
    pub(super) async fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        let was_short = self.len() <= MAX_FREE_BYTES;
        if was_short && self.len() + chunk.len() > MAX_FREE_BYTES {
            let copies = if self.content == Content::Json { 2 } else { 1 };
            self.take(&self.memory.texts, copies * self.expected).await?;
        }

        self.separators += count_separators(chunk);
        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// Returns the bytes, and the memory that they hold. A long JSON text waits for the memory of its values.
    ///
    /// # Errors
    /// No memory became free in time.
    pub(super) async fn finish(mut self) -> Result<(Bytes, HeldMemory), TransportError> {
        if self.content == Content::Json && self.len() > MAX_FREE_BYTES {
            self.take(&self.memory.values, memory_of_values(self.separators)).await?;
        }
        Ok((self.bytes.freeze(), self.taken.into()))
    }

    async fn take(&mut self, share: &Share, bytes: usize) -> Result<(), TransportError> {
        let taken = timeout_at(self.deadline, share.take(bytes)).await;
        self.taken.add(taken.map_err(|_| TransportError::NoMemory)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_budget_are_256_mib_together() {
        let parts = [MESSAGES, KEPT, TEXTS, VALUES];
        assert_eq!(parts.map(|part| part.all).iter().sum::<usize>(), 256 * MIB);
        assert!(parts.iter().all(|part| part.own <= part.all));
    }

    #[test]
    fn a_message_grows_within_its_share_and_a_short_one_takes_nothing_of_others() {
        let one = MemoryShare::default();
        let mut of_one = TakenMemory::default();
        assert!(one.grow_message(&mut of_one, MIB) && one.grow_message(&mut of_one, usize::MAX));
        assert!(!one.grow_message(&mut TakenMemory::default(), 1), "the share is used up");

        let others: Vec<_> = (1..MESSAGES.all / MESSAGES.own)
            .map(|_| {
                let (other, mut held) = (one.of_other_credential(), TakenMemory::default());
                assert!(other.grow_message(&mut held, usize::MAX), "some memory is free");
                held
            })
            .collect();
        let last = one.of_other_credential().with_messages(MIB);
        assert!(!last.grow_message(&mut TakenMemory::default(), MAX_FREE_BYTES + 1));
        assert!(last.grow_message(&mut TakenMemory::default(), MAX_FREE_BYTES));

        drop((of_one, others));
        let longest = one.of_other_credential().with_messages(64 * MIB);
        assert!(
            longest.grow_message(&mut TakenMemory::default(), 128 * MIB),
            "the settings may allow long bodies"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_answer_waits_for_its_values() {
        let memory = MemoryShare::default();
        let deadline = Instant::now() + std::time::Duration::from_secs(1);
        let read = async |text: &[u8]| {
            let mut body = memory.body(Content::Json, text.len(), deadline);
            body.push(text).await?;
            body.finish().await
        };
        let (dense, sparse) = (vec![b','; MAX_VALUES], vec![b'x'; MAX_VALUES]);

        let (_, held) = read(&dense).await.expect("an answer");
        read(&sparse).await.expect("an answer without values");
        assert!(matches!(read(&dense).await, Err(TransportError::NoMemory)));
        drop(held);
        // The time is over, but the memory is free.
        read(&dense).await.expect("memory that is free again");
    }
}
