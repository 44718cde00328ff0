//! The counts in the record of a plan execution (supplement 5.1).

use serde_json::Value;

/// Fields of `test_status` that count finished tests, each with the verdict of these tests.
const COUNTED_VERDICTS: [(&str, &str); 4] =
    [("passed", "SUCCESS"), ("failed", "FAILED"), ("skipped", "SKIPPED"), ("stopped", "STOPPED")];

/// Returns the number of tests of `execution`, if the record contains it.
pub(crate) fn total_tests(execution: &Value) -> Option<usize> {
    count(execution.get("total_tests"))
}

/// Returns the number of finished tests for each verdict that occurs in `execution`.
pub(crate) fn verdict_counts(execution: &Value) -> Vec<(&'static str, usize)> {
    let Some(counts) = execution.get("test_status") else { return Vec::new() };
    let counted =
        COUNTED_VERDICTS.iter().filter_map(|(name, verdict)| Some((*verdict, count(counts.get(name))?)));

    counted.filter(|(_, count)| *count > 0).collect()
}

fn count(value: Option<&Value>) -> Option<usize> {
    usize::try_from(value?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{total_tests, verdict_counts};

    #[test]
    fn only_counts_that_are_numbers_above_zero_are_returned() {
        let cases: [(Value, &[(&str, usize)]); 3] = [
            (json!({}), &[]),
            (json!({"test_status": {"passed": 2, "failed": 0, "running": 3}}), &[("SUCCESS", 2)]),
            (json!({"test_status": {"failed": 1, "stopped": "2"}}), &[("FAILED", 1)]),
        ];
        for (execution, expected) in cases {
            assert_eq!(verdict_counts(&execution), expected, "{execution}");
        }
    }

    #[test]
    fn the_total_is_missing_if_the_record_does_not_have_it() {
        assert_eq!(total_tests(&json!({"total_tests": 4})), Some(4));
        assert_eq!(total_tests(&json!({"total_tests": null})), None);
    }
}
