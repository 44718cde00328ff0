//! Pauses between attempts.

use std::{
    hash::{BuildHasher, RandomState},
    time::Duration,
};

/// A random duration between half of `pause` and `pause`, so that clients that failed together do not retry together.
pub fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(0.5 + 0.5 * random_fraction())
}

/// A random number from 0 to 1.
fn random_fraction() -> f64 {
    let drawn = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default();
    f64::from(drawn) / f64::from(u32::MAX)
}
