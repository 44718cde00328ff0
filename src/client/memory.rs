//! The memory of long answers, and of lists that are made of many answers: budgets of the process, of which each
//! credential has a share.
//!
//! A long answer takes its memory once, before the rest of it is read, and holds it until its reply is made. A call that
//! holds memory of an answer never waits for more: it releases what it has before it reads another answer. A list takes
//! memory of another budget, and never waits. Therefore no call waits for itself, and no calls wait for each other.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout_at},
};

use super::{MAX_RESPONSE_BYTES, transport_error::TransportError};

/// Longest answer that takes no memory of the budget, in bytes.
pub(super) const MAX_FREE_BYTES: usize = 64 * 1024;

/// The memory of the long answers of one credential, in bytes: one answer of the greatest length.
const ANSWER_BYTES: usize = Content::Json.memory(MAX_RESPONSE_BYTES);

/// The memory of the lists of one credential, in bytes.
pub const LIST_BYTES: usize = 64 * 1024 * 1024;

/// How many credentials can use up their shares at the same time.
const SHARES: usize = 2;

/// How much memory the values of a JSON document take for each byte of its text, if nearly all of it is values.
const BYTES_OF_VALUES: usize = 8;

/// Length from which a document has no more values than a shorter one, because their number has a limit, in bytes.
const MAX_DENSE_BYTES: usize = 4 * 1024 * 1024;

/// What becomes of an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// It is parsed.
    Json,
    /// It stays as it is.
    File,
}

impl Content {
    /// Returns how much memory an answer of this length takes, in bytes.
    const fn memory(self, length: usize) -> usize {
        match self {
            // The text and its copy in the values, and the room of the values themselves.
            Self::Json if length < MAX_DENSE_BYTES => (2 + BYTES_OF_VALUES) * length,
            Self::Json => 2 * length + BYTES_OF_VALUES * MAX_DENSE_BYTES,
            Self::File => length,
        }
    }
}

/// The memory of the answers to one credential. The clones share it.
#[derive(Clone, Debug)]
pub struct AnswerMemory {
    answers: Share,
    lists: Share,
}

impl Default for AnswerMemory {
    /// Creates the budgets of a process, with the shares of its first credential.
    fn default() -> Self {
        Self { answers: Share::new(ANSWER_BYTES), lists: Share::new(LIST_BYTES) }
    }
}

impl AnswerMemory {
    /// Returns the shares of another credential in the same budgets.
    #[must_use]
    pub fn of_other_credential(&self) -> Self {
        Self { answers: self.answers.of_other_credential(), lists: self.lists.of_other_credential() }
    }

    /// Returns an empty body of at most `expected` bytes, which takes its memory when it becomes long. It waits for the
    /// memory until `deadline`.
    pub(super) fn body(&self, content: Content, expected: usize, deadline: Instant) -> GrowingBody<'_> {
        let (bytes, held) = (BytesMut::new(), HeldMemory::default());
        GrowingBody { memory: &self.answers, content, expected, deadline, bytes, held }
    }

    /// Takes memory for records of a list, which outlive the answer with them; `None` if there is none now.
    pub fn take_for_list(&self, bytes: usize) -> Option<HeldMemory> {
        self.lists.try_take(bytes)
    }
}

/// The share of one credential in a budget.
#[derive(Clone, Debug)]
struct Share {
    bytes: usize,
    own_kib: Arc<Semaphore>,
    /// What is free for all credentials together.
    all_kib: Arc<Semaphore>,
}

impl Share {
    fn new(bytes: usize) -> Self {
        let (own_kib, all_kib) =
            (Arc::new(Semaphore::new(kib(bytes))), Arc::new(Semaphore::new(kib(SHARES * bytes))));
        Self { bytes, own_kib, all_kib }
    }

    fn of_other_credential(&self) -> Self {
        Self { own_kib: Arc::new(Semaphore::new(kib(self.bytes))), ..self.clone() }
    }

    /// Waits for memory, at most for the whole share.
    async fn take(&self, bytes: usize) -> HeldMemory {
        let count = permits(bytes.min(self.bytes));
        // Nothing of the budget is held while a credential waits for its own share. The semaphores are never closed.
        let own = Arc::clone(&self.own_kib).acquire_many_owned(count).await.ok();
        let all = Arc::clone(&self.all_kib).acquire_many_owned(count).await.ok();

        HeldMemory { _permits: own.zip(all).map(Arc::new) }
    }

    fn try_take(&self, bytes: usize) -> Option<HeldMemory> {
        let count = permits(bytes);
        let own = Arc::clone(&self.own_kib).try_acquire_many_owned(count).ok()?;
        let all = Arc::clone(&self.all_kib).try_acquire_many_owned(count).ok()?;

        Some(HeldMemory { _permits: Some(Arc::new((own, all))) })
    }
}

fn kib(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}

fn permits(bytes: usize) -> u32 {
    u32::try_from(kib(bytes)).unwrap_or(u32::MAX)
}

/// The memory of one answer, which is released with the last clone. A short answer holds none.
#[derive(Clone, Debug, Default)]
pub struct HeldMemory {
    _permits: Option<Arc<(OwnedSemaphorePermit, OwnedSemaphorePermit)>>,
}

/// The body of an answer while it is read.
#[derive(Debug)]
pub(super) struct GrowingBody<'a> {
    memory: &'a Share,
    content: Content,
    /// Length of the whole body, or the greatest that it can have.
    expected: usize,
    deadline: Instant,
    bytes: BytesMut,
    held: HeldMemory,
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
            let taking = self.memory.take(self.content.memory(self.expected));
            self.held = timeout_at(self.deadline, taking).await.map_err(|_| TransportError::NoMemory)?;
        }

        self.bytes.extend_from_slice(chunk);
        Ok(())
    }

    /// Returns the bytes, and the memory that they hold.
    pub(super) fn finish(self) -> (Bytes, HeldMemory) {
        (self.bytes.freeze(), self.held)
    }
}
