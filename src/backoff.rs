//! Pauses between the attempts of a request that failed.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Growing pauses between attempts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    growth: f64,
    has_jitter: bool,
}

impl Backoff {
    /// Creates pauses, of which each is `growth` times the previous one, up to the longest. Each is drawn at random between
    /// half of its length and its length, so that clients that failed together do not retry together.
    pub const fn new(first: Duration, longest: Duration, growth: f64) -> Self {
        Self { first, longest, growth, has_jitter: true }
    }

    /// Returns the same pauses, each with exactly its length.
    #[must_use]
    pub const fn without_jitter(self) -> Self {
        Self { has_jitter: false, ..self }
    }

    /// Returns the pause before attempt number `attempt`. The first attempt has number 1 and no pause.
    pub fn pause_before(&self, attempt: u32) -> Duration {
        let Some(growths) = attempt.checked_sub(2) else { return Duration::ZERO };
        let factor = self.growth.powi(i32::try_from(growths).unwrap_or(i32::MAX));

        // A product beyond the range of `Duration` is longer than the longest pause in any case.
        let pause = Duration::try_from_secs_f64(self.first.as_secs_f64() * factor);
        let pause = pause.unwrap_or(self.longest).min(self.longest);
        if self.has_jitter { pause.mul_f64(0.5 + 0.5 * random_fraction()) } else { pause }
    }

    /// Returns the pauses before the second, third, ... attempt. The iterator never ends; `take` limits the attempts.
    pub fn pauses(self) -> impl Iterator<Item = Duration> + Send {
        (2..=u32::MAX).map(move |attempt| self.pause_before(attempt))
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
    fn pauses_grow_up_to_the_longest() {
        let doubling = Backoff::new(millis(250), millis(4_000), 2.0);
        let slower = Backoff::new(millis(1_000), millis(30_000), 1.5);

        for (backoff, attempt, expected) in [
            (doubling, 0, 0),
            (doubling, 1, 0),
            (doubling, 2, 250),
            (doubling, 3, 500),
            (doubling, 4, 1_000),
            (doubling, 6, 4_000),
            (doubling, 7, 4_000),
            (doubling, u32::MAX, 4_000),
            (slower, 2, 1_000),
            (slower, 3, 1_500),
            (slower, 4, 2_250),
            (slower, 40, 30_000),
        ] {
            let pause = backoff.without_jitter().pause_before(attempt);
            assert_eq!(pause, millis(expected), "{backoff:?} before attempt {attempt}");
        }
    }

    #[test]
    fn jitter_takes_at_most_half_of_a_pause() {
        let backoff = Backoff::new(millis(1_000), millis(8_000), 2.0);
        for (pause, full) in backoff.pauses().zip([1_000, 2_000, 4_000, 8_000, 8_000]) {
            assert!(pause >= millis(full / 2) && pause <= millis(full), "{pause:?} of {full} ms");
        }
    }
}
