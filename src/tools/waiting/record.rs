//! Reading the status, the result and the attempts of runs and jobs.

use serde_json::Value;

/// Known results (supplement 2.3). Results that are not in this list are passed on unchanged.
const RESULTS: [&str; 8] =
    ["SUCCESS", "FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS"];

/// Returns the string in the field `name` of `record`.
pub(crate) fn string_field(record: &Value, name: &str) -> Option<String> {
    record.get(name)?.as_str().map(str::to_owned)
}

/// Returns `result` in capitals if it is a known result, else unchanged.
pub(crate) fn canonical_result(result: &str) -> String {
    let known = RESULTS.iter().find(|known| known.eq_ignore_ascii_case(result));
    known.map_or(result, |known| *known).to_owned()
}

/// Returns whether a status or state means that a record is completed, in either letter case (supplement 1.7).
pub(crate) fn is_completed(status: Option<&str>) -> bool {
    status.is_some_and(|status| status.eq_ignore_ascii_case("completed"))
}

#[cfg(test)]
mod tests {
    use super::{canonical_result, is_completed};

    #[test]
    fn known_results_are_written_in_capitals_and_others_unchanged() {
        for (result, expected) in [("success", "SUCCESS"), ("Max_Steps", "MAX_STEPS"), ("Odd", "Odd")] {
            assert_eq!(canonical_result(result), expected);
        }
    }

    #[test]
    fn only_the_word_completed_means_completed() {
        for (status, expected) in
            [(Some("completed"), true), (Some("COMPLETED"), true), (Some("running"), false), (None, false)]
        {
            assert_eq!(is_completed(status), expected, "{status:?}");
        }
    }
}
