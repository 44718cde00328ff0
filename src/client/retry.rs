//! When a request is sent again. The policy is [`RETRY`]; everything that it does not allow is not done.

use std::time::Duration;

use tokio::time::Instant;

use super::{answer::Answer, transport::TransportError};
use crate::backoff::jittered;

/// What may be done with a request that got no good answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It changes nothing, or the service states that repeating it is safe.
    Safe,
    /// It may have happened: sent again only when it surely did not reach the service.
    OnlyIfNotSent,
}

/// When and how often requests are sent again.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Most requests of one call, the first included.
    pub attempts: u32,
    /// Pause before the second request; doubled for each further one.
    pub first_pause: Duration,
    /// Longest pause that is not asked for by the service.
    pub longest_pause: Duration,
    /// Statuses that a [`Repeat::Safe`] request is sent again for.
    pub statuses: &'static [u16],
}

/// The policy: up to four requests, with pauses of about 0.25, 0.5 and 1 s (each drawn from half to the whole of
/// that), inside the call's limit. `Retry-After` replaces the pause when it still fits into the limit; when it does
/// not, the answer is reported as it is, with the wait that was asked for.
///
/// | request | sent again after |
/// |-|-|
/// | reading, or stated to be safe to repeat | connection failure or loss, 429, 502, 503, 504 |
/// | writing | a connection that could not be opened |
///
/// A TLS failure is final: a certificate does not mend itself.
pub const RETRY: RetryPolicy = RetryPolicy {
    attempts: 4,
    first_pause: Duration::from_millis(250),
    longest_pause: Duration::from_secs(4),
    statuses: &[429, 502, 503, 504],
};

impl RetryPolicy {
    /// How long to wait before the next request; `None`: the outcome is final.
    pub(super) fn pause(
        &self,
        repeat: Repeat,
        outcome: &Result<Answer, TransportError>,
        attempt: u32,
        deadline: Instant,
    ) -> Option<Duration> {
        let asked = match outcome {
            Ok(answer) if repeat == Repeat::Safe && self.statuses.contains(&answer.status) => {
                answer.retry_after
            }
            Err(error) if error.is_worth_repeating(repeat) => None,
            Ok(_) | Err(_) => return None,
        };
        if attempt >= self.attempts {
            return None;
        }

        let pause = asked.unwrap_or_else(|| self.backoff(attempt));

        (pause < deadline.saturating_duration_since(Instant::now())).then_some(pause)
    }

    fn backoff(&self, attempt: u32) -> Duration {
        let doubled = self.first_pause.saturating_mul(1 << (attempt - 1).min(10));
        let whole = doubled.min(self.longest_pause);
        jittered(whole)
    }
}
