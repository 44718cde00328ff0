//! When and how often the requests of a call are repeated.

use std::time::Duration;

use tokio::time::Instant;

use super::{HttpResponse, RequestKind, transport_error::TransportError};
use crate::backoff::Backoff;

/// How often the requests of a call are repeated. [`RequestKind`] decides after which failures.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Maximum number of requests, including the first.
    pub attempts: u32,
    /// Pauses between them, where the service does not ask for one.
    pub backoff: Backoff,
}

/// The policy of all calls: up to four requests with pauses of about 0.25, 0.5 and 1 s, within the time limit of the call.
///
/// `Retry-After` replaces the pause if it fits into the time limit. If it does not, the response is returned at
/// once, together with the wait that the service asked for.
pub const RETRY_POLICY: RetryPolicy = RetryPolicy {
    attempts: 4,
    backoff: Backoff::new(Duration::from_millis(250), Duration::from_secs(4), 2.0),
};

impl RetryPolicy {
    /// Returns the pause before the request after number `attempt`, or `None` if the outcome is final.
    pub(super) fn pause_after(
        &self,
        attempt: u32,
        kind: RequestKind,
        outcome: &Result<HttpResponse, TransportError>,
        deadline: Instant,
    ) -> Option<Duration> {
        let is_transient = match outcome {
            Ok(response) => kind.is_transient_status(response.status),
            Err(error) => kind.is_transient_error(error),
        };
        if !is_transient || attempt >= self.attempts {
            return None;
        }

        let retry_after = outcome.as_ref().ok().and_then(|response| response.retry_after);
        let pause = retry_after.unwrap_or_else(|| self.backoff.pause_before(attempt + 1));
        let time_left = deadline.saturating_duration_since(Instant::now());

        (pause < time_left).then_some(pause)
    }
}
