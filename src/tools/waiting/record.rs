//! Reading the status, the result and the attempts of runs and jobs.

use jiff::Timestamp;
use serde_json::Value;

/// Known results (supplement 2.3). Results that are not in this list are passed on unchanged.
const RESULTS: [&str; 8] =
    ["SUCCESS", "FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS"];

/// Returns the string in the field `name` of `record`.
pub(crate) fn string_field(record: &Value, name: &str) -> Option<String> {
    record.get(name)?.as_str().map(str::to_owned)
}

/// Returns the array in the field `name` of `record`; an empty slice if there is none.
pub(crate) fn array_field<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    record.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
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

/// Returns the attempt that decides the result of a job: the one that was started last. If no attempt has a start
/// time, returns the last of the list (supplement 3.2).
pub(crate) fn deciding_attempt(runs: &[Value]) -> Option<&Value> {
    let start = |run: &Value| {
        let start = run.get("started_at")?.as_str()?.to_owned();
        Some((start.parse::<Timestamp>().ok(), start))
    };
    let started = runs.iter().filter_map(|run| Some((start(run)?, run)));
    let latest = started.max_by(|one, other| one.0.cmp(&other.0));

    latest.map(|(_, run)| run).or(runs.last())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{canonical_result, deciding_attempt, is_completed};

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

    #[test]
    fn the_attempt_with_the_latest_start_decides() {
        let cases: [(Value, Option<u64>); 4] = [
            (json!([]), None),
            (json!([{"n": 1}, {"n": 2}]), Some(2)),
            (json!([{"n": 1, "started_at": "2026-03-01T10:00:00Z"}, {"n": 2}]), Some(1)),
            (
                json!([
                    {"n": 1, "started_at": "2026-03-01T10:00:00Z"},
                    {"n": 2, "started_at": "2026-03-01T10:30:00+02:00"},
                ]),
                Some(1),
            ),
        ];

        for (runs, expected) in cases {
            let runs = runs.as_array().expect("an array");
            assert_eq!(deciding_attempt(runs).and_then(|run| run["n"].as_u64()), expected, "{runs:?}");
        }
    }
}
