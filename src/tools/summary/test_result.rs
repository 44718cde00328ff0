//! The result of one test in a summary: a job with its attempts, or a single run.

use serde_json::Value;

use super::{
    answer::TestName,
    failure_cause::FailureCause,
    text_limits::{LONGEST_ID, LONGEST_NAME},
    timestamps::{earliest, sort_key},
};
use crate::{
    text::shorten_line,
    tools::waiting::{
        ResultItem,
        record::{array_field, canonical_result, deciding_attempt, is_completed, string_field},
    },
};

/// Known verdicts from the worst to the best. Unknown verdicts rank between the two lists.
const WORST_VERDICTS: [&str; 5] = ["FAILED", "BLOCKED", "ERROR", "TIMEOUT", "MAX_STEPS"];
const BEST_VERDICTS: [&str; 5] = ["no_result", "no_run", "STOPPED", "SKIPPED", "SUCCESS"];

/// The result of one test: a job, or a run if a single run is summarized. The attempt that was started last decides.
#[derive(Clone, Debug, Default)]
pub(super) struct TestResult {
    pub(super) item: ResultItem,
    pub(super) test_id: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
    pub(super) build_id: Option<String>,
    pub(super) build_name: Option<String>,
    /// Results of the attempts before the one that decides.
    pub(super) earlier: Vec<String>,
    /// Why the run failed, once its full record was read.
    pub(super) cause: Option<FailureCause>,
    /// Number of bugs according to the record of the run.
    pub(super) bug_count: Option<u64>,
    pub(super) bugs: Vec<Value>,
}

impl TestResult {
    /// Creates the result of a job (supplement 3.2).
    pub(super) fn from_job(job: &Value) -> Self {
        let runs = array_field(job, "runs");
        let deciding = deciding_attempt(runs);

        Self {
            item: ResultItem::from_job(job),
            test_id: string_field(job, "multiplayer_test_id"),
            started_at: earliest(runs.iter().filter_map(|run| string_field(run, "started_at"))),
            completed_at: string_field(job, "completed_at"),
            build_id: string_field(job, "build_id"),
            earlier: other_attempts(runs, deciding).into_iter().filter_map(attempt_result).collect(),
            ..Self::default()
        }
    }

    /// Creates the result of a run, from the record of a list or from the full record (supplement 2.2).
    pub(super) fn from_run(run: &Value) -> Self {
        let field = |path: &str| run.pointer(path).and_then(Value::as_str).map(str::to_owned);
        Self {
            item: ResultItem::from_run(run),
            test_id: field("/test/id"),
            started_at: field("/started_at"),
            completed_at: field("/completed_at"),
            build_id: field("/build/id"),
            build_name: field("/build/name"),
            ..Self::default()
        }
    }

    /// Creates the result of a job from its runs, for a service that does not list jobs.
    pub(super) fn from_attempts(attempts: &[Value]) -> Self {
        let Some(deciding) = deciding_attempt(attempts) else { return Self::default() };
        let others = other_attempts(attempts, Some(deciding));
        let mut result = Self::from_run(deciding);
        result.earlier = others.iter().copied().filter_map(attempt_result).collect();

        // The status of the job is not known. The job is taken as unfinished as long as an attempt is.
        let unfinished = others.iter().find(|run| !is_completed(string_field(run, "state").as_deref()));
        if let Some(unfinished) = unfinished {
            result.item.status = string_field(unfinished, "state");
            result.item.result = None;
        }

        result
    }

    /// Adds what only the full record of the run contains. The record itself is not kept, because it is long.
    pub(super) fn add_details(&mut self, run: &Value) {
        let build_field = |name: &str| {
            let text = run.pointer(&format!("/build/{name}")).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        self.build_name = build_field("name");

        if self.build_id.is_none() {
            self.build_id = build_field("id");
        }

        self.bug_count = bug_count(run);
        self.cause = self.item.verdict().map(|verdict| FailureCause::from_run(run, &verdict));
    }

    /// Returns the key that identifies the test: its id, else the id of its job or run. Returns `None` if there is no id
    /// at all.
    pub(super) fn key(&self) -> Option<String> {
        let id = self.test_id.as_deref().or_else(|| self.item.id());
        id.map(str::to_ascii_lowercase)
    }

    /// Returns the name of the test; an empty string if it is not known.
    pub(super) fn name(&self) -> &str {
        self.item.test_name.as_deref().unwrap_or_default()
    }

    /// Returns the test as the answer names it.
    pub(super) fn test_name(&self) -> TestName {
        TestName {
            name: shorten_line(self.name(), LONGEST_NAME),
            id: self.test_id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
        }
    }

    /// Returns whether the test is finished and did not pass.
    pub(super) fn has_failed(&self) -> bool {
        self.item.is_finished() && !self.item.has_passed()
    }

    /// Returns whether the test passed after a failed attempt.
    pub(super) fn is_flaky(&self) -> bool {
        self.item.has_passed() && self.earlier.iter().any(|result| result != "SUCCESS")
    }
}

/// Returns the number of bugs in the record of `run`. Only records of verification tests contain it.
pub(super) fn bug_count(run: &Value) -> Option<u64> {
    run.pointer("/bug_info/bug_count")?.as_u64()
}

/// Returns the attempts without the deciding one, in the order of their starts.
fn other_attempts<'a>(runs: &'a [Value], deciding: Option<&Value>) -> Vec<&'a Value> {
    // Two attempts can have equal records, so that only their addresses distinguish them.
    let is_other = |run: &&Value| deciding.is_none_or(|deciding| !std::ptr::eq(*run, deciding));
    let mut others: Vec<_> = runs.iter().filter(is_other).collect();
    others.sort_by_cached_key(|run| string_field(run, "started_at").map(|start| sort_key(&start)));
    others
}

/// Returns the result of an attempt; `no_result` if the attempt is completed without a result.
fn attempt_result(run: &Value) -> Option<String> {
    if let Some(result) = string_field(run, "result") {
        return Some(canonical_result(&result));
    }
    let is_finished = is_completed(string_field(run, "state").as_deref());
    is_finished.then(|| "no_result".to_owned())
}

/// Returns the rank of a verdict among all verdicts, the worst first.
pub(super) fn verdict_rank(verdict: &str) -> usize {
    let position = |verdicts: &[&str]| verdicts.iter().position(|known| *known == verdict);
    let unknown = WORST_VERDICTS.len();

    position(&WORST_VERDICTS)
        .or_else(|| position(&BEST_VERDICTS).map(|position| unknown + 1 + position))
        .unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{attempt_result, verdict_rank};

    #[test]
    fn an_unknown_verdict_ranks_after_every_known_failure() {
        let verdicts = ["FAILED", "MAX_STEPS", "UNKNOWN_WORD", "no_result", "SUCCESS"];
        assert!(verdicts.is_sorted_by_key(|verdict| verdict_rank(verdict)));
    }

    #[test]
    fn an_attempt_has_a_result_once_it_is_completed() {
        let cases: [(Value, Option<&str>); 3] = [
            (json!({"state": "running"}), None),
            (json!({"state": "completed"}), Some("no_result")),
            (json!({"state": "completed", "result": "failed"}), Some("FAILED")),
        ];
        for (run, expected) in cases {
            assert_eq!(attempt_result(&run).as_deref(), expected, "{run}");
        }
    }
}
