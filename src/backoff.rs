//! Pauses between the attempts of a request that failed.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use crate::{clock::Clock, failure::Failure};

/// Growing pauses between attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    growth: f64,
}

impl Backoff {
    /// Creates pauses, of which each is `growth` times the previous one, up to the longest. Each is drawn at random between
    /// half of its length and its length, so that clients that failed together do not retry together.
    pub const fn new(first: Duration, longest: Duration, growth: f64) -> Self {
        Self { first, longest, growth }
    }

    /// Returns the pause before attempt number `attempt`. The first attempt has number 1 and no pause.
    pub fn pause_before(&self, attempt: u32) -> Duration {
        let Some(growths) = attempt.checked_sub(2) else { return Duration::ZERO };
        let factor = self.growth.powi(i32::try_from(growths).unwrap_or(i32::MAX));

        // A product beyond the range of `Duration` is longer than the longest pause in any case.
        let pause = Duration::try_from_secs_f64(self.first.as_secs_f64() * factor);
        let pause = pause.unwrap_or(self.longest).min(self.longest);
        pause.mul_f64(0.5 + 0.5 * random_fraction())
    }
}

/// How often something is attempted that may fail for a while.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// Maximum number of successive attempts without progress, including the first.
    pub attempts: u32,
    /// Pauses between attempts, where the service does not ask for longer ones.
    pub backoff: Backoff,
}

impl RetryPolicy {
    /// The attempts of one piece of work, of which the first is being made.
    pub const fn start(self) -> Attempts {
        Attempts { policy: self, number: 1 }
    }
}

/// The attempts of one piece of work.
#[derive(Clone, Copy, Debug)]
pub struct Attempts {
    policy: RetryPolicy,
    /// Number of the current attempt, from 1.
    pub number: u32,
}

impl Attempts {
    /// Counts another attempt. Returns the pause before it, at least the one that the service asks for; `None` if no attempt is
    /// left.
    pub fn next_pause(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.number >= self.policy.attempts {
            return None;
        }
        self.number += 1;

        Some(asked.unwrap_or_default().max(self.policy.backoff.pause_before(self.number)))
    }

    /// Pauses before another attempt after `error`.
    ///
    /// # Errors
    /// The failure, if another attempt would fail too, if none is left, or if the service asks for a pause beyond `time_left`.
    pub async fn pause_after(
        &mut self,
        error: AttemptError,
        clock: &dyn Clock,
        time_left: Duration,
    ) -> Result<(), Failure> {
        let AttemptError { failure, is_transient } = error;
        if !is_transient {
            return Err(failure);
        }

        let asked = failure.facts.retry_after;
        if let Some(asked) = asked.filter(|asked| *asked > time_left) {
            let seconds = asked.as_secs();
            let hint = format!("the service asks to wait {seconds} s: make the same call again after that");
            return Err(failure.hint(hint));
        }
        let Some(pause) = self.next_pause(asked) else { return Err(failure) };

        tracing::debug!(pause_ms = pause.as_millis(), "another attempt: {failure}");
        clock.sleep(pause).await;
        Ok(())
    }

    /// Counts from 1 again, because the work has made progress.
    pub fn begin_anew(&mut self) {
        self.number = 1;
    }
}

/// Why an attempt failed.
#[derive(Debug)]
pub struct AttemptError {
    /// The failure for the caller.
    pub failure: Failure,
    /// Whether another attempt may succeed.
    pub is_transient: bool,
}

impl AttemptError {
    /// Creates the error of an attempt after which another one may succeed.
    pub fn transient(failure: Failure) -> Self {
        Self { failure, is_transient: true }
    }
}

impl From<Failure> for AttemptError {
    fn from(failure: Failure) -> Self {
        Self { failure, is_transient: false }
    }
}

/// Returns a random number from 0 to 1. The random keys of the standard library's hash maps are the source of
/// randomness, which is good enough for pauses.
fn random_fraction() -> f64 {
    let drawn = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default();
    f64::from(drawn) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn pauses_grow_up_to_the_longest_and_are_at_most_halved() {
        let backoff = Backoff::new(millis(250), millis(4_000), 1.5);

        for (attempt, full) in [(0, 0), (1, 0), (2, 250), (4, 563), (9, 4_000), (u32::MAX, 4_000)] {
            let pause = backoff.pause_before(attempt);
            assert!(pause >= millis(full / 2) && pause <= millis(full), "{attempt}: {pause:?}");
        }
    }

    #[test]
    fn a_pause_that_the_service_asks_for_never_shortens_the_own_one() {
        let policy = RetryPolicy { attempts: 4, backoff: Backoff::new(millis(250), millis(4_000), 2.0) };
        let mut attempts = policy.start();
        let asked = [None, Some(Duration::ZERO), Some(millis(2_000))];
        let [first, second, third] = asked.map(|asked| attempts.next_pause(asked).expect("an attempt"));

        assert!(first >= millis(125) && second >= millis(250), "{first:?} {second:?}");
        assert_eq!((third, attempts.next_pause(None)), (millis(2_000), None));

        attempts.begin_anew();
        assert!(attempts.next_pause(None) <= Some(millis(250)));
    }
}
