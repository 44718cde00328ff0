//! Time limits of a wait.

use std::time::Duration;

/// Number of running tests that a progress message names.
pub(super) const MOST_NAMES: usize = 3;

/// Longest time without a progress report. The target is five seconds; one second is left for a busy machine.
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_secs(4);

/// Time for the last poll after the time limit of the wait has passed.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Minimum number of failed polls in a row before a wait ends.
pub(super) const MOST_FAILURES: u32 = 5;

/// Minimum time that these polls span before a wait ends. A service that restarts is usually back earlier.
const LONGEST_OUTAGE: Duration = Duration::from_secs(120);

/// Returns whether a wait ends after `failures` failed polls in a row that span the time `outage`.
pub(crate) fn should_give_up(failures: u32, outage: Duration) -> bool {
    failures >= MOST_FAILURES && outage >= LONGEST_OUTAGE
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::should_give_up;

    #[test]
    fn a_wait_ends_only_after_many_failures_over_a_long_time() {
        let cases = [(4, 600, false), (5, 119, false), (5, 120, true), (6, 600, true)];
        for (failures, seconds, expected) in cases {
            assert_eq!(
                should_give_up(failures, Duration::from_secs(seconds)),
                expected,
                "{failures} {seconds}"
            );
        }
    }
}
