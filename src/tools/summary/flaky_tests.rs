//! Tests that passed on a retry.

use std::cmp::Reverse;

use super::{
    answer::FlakyTest,
    test_result::TestResult,
    text_limits::{LONGEST_ID, LONGEST_WORD},
};
use crate::text::shorten_line;

/// Number of attempts that an entry names. A job has at most eleven attempts (supplement 2.1).
const MOST_ATTEMPTS: usize = 10;

/// Returns the flaky tests, those with the most attempts first.
pub(super) fn flaky_tests(tests: &[TestResult]) -> Vec<FlakyTest> {
    let mut flaky: Vec<_> = tests.iter().filter(|test| test.is_flaky()).collect();
    flaky.sort_by_cached_key(|test| {
        (Reverse(test.earlier.len()), test.name().to_owned(), test.key(), test.item.run_id.clone())
    });

    let entry = |test: &TestResult| {
        let earlier = test.earlier.iter().take(MOST_ATTEMPTS);
        FlakyTest {
            test: test.test_name(),
            run_id: test.item.run_id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
            earlier: earlier.map(|result| shorten_line(result, LONGEST_WORD)).collect(),
        }
    };

    flaky.into_iter().map(entry).collect()
}
