//! The latest requests, for `GET /_sandbox/requests`. The log contains ids of keys, never the keys themselves.

use std::collections::VecDeque;

use serde::Serialize;

/// Number of requests that the log keeps.
const CAPACITY: usize = 1_000;

/// A request that arrived.
#[derive(Debug, Serialize)]
pub(super) struct LoggedRequest {
    /// Null for routes that do not exist.
    pub(super) operation: Option<&'static str>,
    pub(super) method: String,
    /// Path and query.
    pub(super) path: String,
    /// Null until the request is answered, and for requests that are never answered.
    pub(super) status: Option<u16>,
    /// Id of the key, `unknown` for a key that does not exist; null if no key was sent.
    pub(super) key: Option<&'static str>,
}

/// The requests that arrived, oldest first.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    requests: VecDeque<LoggedRequest>,
    /// Number of requests that are no longer in the log.
    dropped: usize,
}

impl RequestLog {
    /// Adds a request and returns its number, which [`Self::set_status`] takes.
    pub(super) fn add(&mut self, request: LoggedRequest) -> usize {
        if self.requests.len() == CAPACITY {
            self.requests.pop_front();
            self.dropped += 1;
        }

        self.requests.push_back(request);
        self.dropped + self.requests.len() - 1
    }

    /// Sets the status of the answer to a request. Does nothing if the request is no longer in the log.
    pub(super) fn set_status(&mut self, number: usize, status: u16) {
        let position = number.checked_sub(self.dropped);
        if let Some(request) = position.and_then(|position| self.requests.get_mut(position)) {
            request.status = Some(status);
        }
    }

    /// Returns the requests, oldest first.
    pub(super) fn requests(&self) -> &VecDeque<LoggedRequest> {
        &self.requests
    }

    /// Removes every request. Numbers of removed requests are not used again.
    pub(super) fn clear(&mut self) {
        self.dropped += self.requests.len();
        self.requests.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> LoggedRequest {
        LoggedRequest { operation: None, method: "GET".into(), path: "/".into(), status: None, key: None }
    }

    #[test]
    fn a_status_after_a_clear_goes_to_no_other_request() {
        let mut log = RequestLog::default();
        let before = log.add(request());
        log.clear();
        let after = log.add(request());

        log.set_status(before, 500);
        log.set_status(after, 200);

        let statuses: Vec<_> = log.requests().iter().map(|request| request.status).collect();
        assert_eq!(statuses, [Some(200)]);
    }
}
