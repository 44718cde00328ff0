//! What an execution counts itself (supplement 5.1).

use serde_json::Value;

/// Its counts of tests that are over, and what they are called as verdicts.
const COUNTS: [(&str, &str); 4] =
    [("passed", "SUCCESS"), ("failed", "FAILED"), ("skipped", "SKIPPED"), ("stopped", "STOPPED")];

/// How many tests it has, where it says so.
pub(crate) fn total(execution: &Value) -> Option<usize> {
    number(execution.get("total_tests"))
}

/// Verdict to number of tests, of those that there are.
pub(crate) fn verdicts(execution: &Value) -> Vec<(&'static str, usize)> {
    let count = |name: &str| number(execution.get("test_status")?.get(name));
    let counted = COUNTS.iter().filter_map(|(name, verdict)| Some((*verdict, count(name)?)));
    counted.filter(|(_, count)| *count > 0).collect()
}

fn number(value: Option<&Value>) -> Option<usize> {
    usize::try_from(value?.as_u64()?).ok()
}
