//! The latest requests, for `GET /_sandbox/requests`. Never a key, only its id.

use std::collections::VecDeque;

use serde::Serialize;

/// How many requests are remembered.
const REMEMBERED: usize = 1_000;

/// A request that arrived.
#[derive(Debug, Serialize)]
pub(super) struct Seen {
    /// Null for routes that do not exist.
    pub(super) operation: Option<&'static str>,
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// Null while no answer has been given, and when none was.
    pub(super) status: Option<u16>,
    /// Id of the key, `unknown` for one that does not exist; null where none was sent.
    pub(super) key: Option<&'static str>,
}

/// The requests that arrived, oldest first.
#[derive(Debug, Default)]
pub(super) struct Journal {
    seen: VecDeque<Seen>,
    forgotten: usize,
}

impl Journal {
    /// Remembers a request; the number is for [`Self::answered`].
    pub(super) fn arrived(&mut self, request: Seen) -> usize {
        if self.seen.len() == REMEMBERED {
            self.seen.pop_front();
            self.forgotten += 1;
        }
        self.seen.push_back(request);
        self.forgotten + self.seen.len() - 1
    }

    /// Notes the status of an answer.
    pub(super) fn answered(&mut self, number: usize, status: u16) {
        let position = number.checked_sub(self.forgotten);
        if let Some(seen) = position.and_then(|position| self.seen.get_mut(position)) {
            seen.status = Some(status);
        }
    }

    /// The requests, oldest first.
    pub(super) fn seen(&self) -> &VecDeque<Seen> {
        &self.seen
    }

    /// Forgets every request.
    pub(super) fn clear(&mut self) {
        self.forgotten += self.seen.len();
        self.seen.clear();
    }
}
