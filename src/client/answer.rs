//! What the service answered, before anything is made of it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};

/// An answer of the service, whole and bounded.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Body, at most [`super::LONGEST_ANSWER`] bytes.
    pub body: Bytes,
    /// The header `Location` of a redirect.
    pub location: Option<String>,
    /// How long to wait before the next request, where the service says so.
    pub retry_after: Option<Duration>,
    /// How many requests it took.
    pub attempts: u32,
}

impl Answer {
    pub(super) fn new(status: u16, headers: &HeaderMap, body: Bytes) -> Self {
        let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        Self {
            status,
            body,
            location: text(header::LOCATION).map(str::to_owned),
            retry_after: text(header::RETRY_AFTER).and_then(pause),
            attempts: 1,
        }
    }

    pub(super) fn after(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Whether the status is one of success.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Reads `Retry-After`: seconds, or a date.
fn pause(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let wait = at.duration_since(jiff::Timestamp::now());
    Some(Duration::try_from(wait).unwrap_or_default())
}
