//! Compares the time of two pieces of work.

use std::time::{Duration, Instant};

/// Number of measurements, of which the median counts.
const ROUNDS: usize = 21;

/// Measures `work` and `baseline`, each called `calls` times in a round, and prints their times and the ratio of the times.
#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
pub(crate) fn compare(name: &str, calls: u32, work: impl Fn(), (baseline_name, baseline): (&str, impl Fn())) {
    // The two take turns, so that a change of the load of the machine affects both.
    let rounds = (0..ROUNDS).map(|_| (time(calls, &work), time(calls, &baseline)));
    let (work, baseline): (Vec<_>, Vec<_>) = rounds.unzip();
    let (work, baseline) = (median(work), median(baseline));
    let ratio = work.as_secs_f64() / baseline.as_secs_f64();

    println!("{name}: {work:?}, {baseline_name} {baseline:?}: {ratio:.2}x");
}

/// Returns the mean duration of a call of `work`.
fn time(calls: u32, work: &impl Fn()) -> Duration {
    let started = Instant::now();
    (0..calls).for_each(|_| work());
    started.elapsed() / calls
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
