//! Tests that passed on retry.

use std::cmp::Reverse;

use super::{
    case::Case,
    outcome::Flaky,
    texts::{LONGEST_ID, LONGEST_WORD, shorten_line, test_name},
};

/// Attempts that an entry names; a job has eleven at most (supplement 2.1).
const MOST_ATTEMPTS: usize = 10;

/// The flaky tests: those that took the most attempts first.
pub(super) fn flaky(cases: &[Case]) -> Vec<Flaky> {
    let mut found: Vec<_> = cases.iter().filter(|case| case.is_flaky()).collect();
    found.sort_by_cached_key(|case| {
        (Reverse(case.earlier.len()), case.name().to_owned(), case.key(), case.item.run_id.clone())
    });
    let entry = |case: &Case| Flaky {
        test: test_name(case),
        run_id: case.item.run_id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
        earlier: case
            .earlier
            .iter()
            .take(MOST_ATTEMPTS)
            .map(|word| shorten_line(word, LONGEST_WORD))
            .collect(),
    };

    found.into_iter().map(entry).collect()
}
