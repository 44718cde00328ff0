//! Pauses between the attempts of a request that failed.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// Growing pauses between attempts. Each pause is `growth` times the previous pause, up to a longest pause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    /// Pause before the second attempt.
    pub first: Duration,
    /// Upper bound of every pause.
    pub longest: Duration,
    /// Factor from one pause to the next.
    pub growth: f64,
    /// Random variation of the pauses.
    pub jitter: Jitter,
}

/// Random variation of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Each pause is drawn at random between half of its length and its length, so that clients that failed together
    /// do not retry together.
    Half,
    /// Each pause has exactly its length.
    Off,
}

impl Backoff {
    /// Creates pauses with jitter.
    pub const fn new(first: Duration, longest: Duration, growth: f64) -> Self {
        Self { first, longest, growth, jitter: Jitter::Half }
    }

    /// Returns the same pauses without jitter.
    #[must_use]
    pub const fn without_jitter(self) -> Self {
        Self { jitter: Jitter::Off, ..self }
    }

    /// Returns the pause before attempt number `attempt`, with jitter. The first attempt has number 1 and no pause.
    pub fn pause_before(&self, attempt: u32) -> Duration {
        let pause = self.full_pause_before(attempt);

        match self.jitter {
            Jitter::Half => jittered(pause),
            Jitter::Off => pause,
        }
    }

    /// Returns the pauses before the second, third, ... attempt. The iterator never ends; `take` limits the attempts.
    pub fn pauses(self) -> impl Iterator<Item = Duration> + Send {
        (2..=u32::MAX).map(move |attempt| self.pause_before(attempt))
    }

    fn full_pause_before(&self, attempt: u32) -> Duration {
        let Some(growths) = attempt.checked_sub(2) else { return Duration::ZERO };
        let factor = self.growth.powi(i32::try_from(growths).unwrap_or(i32::MAX));

        // A product beyond the range of `Duration` is longer than the longest pause in any case.
        let pause = Duration::try_from_secs_f64(self.first.as_secs_f64() * factor);
        pause.unwrap_or(self.longest).min(self.longest)
    }
}

/// Returns a random duration between half of `pause` and `pause`.
pub(crate) fn jittered(pause: Duration) -> Duration {
    shortened_by(pause, random_fraction())
}

/// Returns `pause` for the fraction 1, half of it for the fraction 0, and values between them in proportion.
fn shortened_by(pause: Duration, fraction: f64) -> Duration {
    pause.mul_f64(0.5 + 0.5 * fraction)
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
        for (fraction, expected) in [(0.0, 500), (0.5, 750), (1.0, 1_000)] {
            assert_eq!(shortened_by(millis(1_000), fraction), millis(expected));
        }

        let backoff = Backoff::new(millis(1_000), millis(8_000), 2.0);
        for (pause, full) in backoff.pauses().zip([1_000, 2_000, 4_000, 8_000, 8_000]) {
            assert!(pause >= millis(full / 2) && pause <= millis(full), "{pause:?} of {full} ms");
        }
    }
}
