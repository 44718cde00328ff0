//! One test of a summary: a job with its attempts, or a single run.

use serde_json::Value;

use super::{
    cause::Cause,
    details::bug_count,
    moments::{earliest, order},
};
use crate::tools::waiting::{
    Item,
    item::{is_completed, last_attempt, text, word},
};

/// Verdicts from the worst to the best. Those between `MAX_STEPS` and `no_result` are unknown words.
const RANKS: [&str; 5] = ["FAILED", "BLOCKED", "ERROR", "TIMEOUT", "MAX_STEPS"];
const LAST_RANKS: [&str; 5] = ["no_result", "no_run", "STOPPED", "SKIPPED", "SUCCESS"];

/// A job, or a run where a run is asked about. The attempt that counts is the one that was started last.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    pub(super) item: Item,
    pub(super) test_id: Option<String>,
    pub(super) started_at: Option<String>,
    pub(super) completed_at: Option<String>,
    pub(super) build_id: Option<String>,
    pub(super) build_name: Option<String>,
    /// How the attempts before the one that counts ended.
    pub(super) earlier: Vec<String>,
    /// Why it ended as it did, once its run was read.
    pub(super) cause: Option<Cause>,
    /// How many bugs its run names.
    pub(super) bug_count: Option<u64>,
    pub(super) bugs: Vec<Value>,
}

impl Case {
    /// A job (supplement 3.2).
    pub(super) fn of_job(job: &Value) -> Self {
        let item = Item::of_job(job);
        let runs = job.get("runs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let counts = last_attempt(runs);

        Self {
            test_id: text(job, "multiplayer_test_id"),
            started_at: earliest(runs.iter().filter_map(|run| text(run, "started_at"))),
            completed_at: text(job, "completed_at"),
            build_id: text(job, "build_id"),
            earlier: others(runs, counts).into_iter().filter_map(ending).collect(),
            item,
            ..Self::default()
        }
    }

    /// A run, in the form of a list or in full (supplement 2.2).
    pub(super) fn of_run(run: &Value) -> Self {
        let at = |path: &str| run.pointer(path).and_then(Value::as_str).map(str::to_owned);
        Self {
            item: Item::of_run(run),
            test_id: at("/test/id"),
            started_at: at("/started_at"),
            completed_at: at("/completed_at"),
            build_id: at("/build/id"),
            build_name: at("/build/name"),
            ..Self::default()
        }
    }

    /// Takes from its run in full what lists do not show. A run is long: only this is kept of it.
    pub(super) fn learn(&mut self, run: &Value) {
        let of_build = |name: &str| run.pointer(&format!("/build/{name}")).and_then(Value::as_str);
        self.build_name = of_build("name").map(str::to_owned);

        if self.build_id.is_none() {
            self.build_id = of_build("id").map(str::to_owned);
        }

        self.bug_count = bug_count(run);
        self.cause = self.item.verdict().map(|verdict| Cause::of(run, &verdict));
    }

    /// Runs of one job, where jobs cannot be listed.
    pub(super) fn of_attempts(attempts: &[Value]) -> Self {
        let Some(counts) = last_attempt(attempts) else { return Self::default() };
        let mut case = Self::of_run(counts);
        let others = others(attempts, Some(counts));

        case.earlier = others.iter().copied().filter_map(ending).collect();
        // Who cannot see the job takes it for going on as long as an attempt is.
        if let Some(going_on) = others.iter().find(|run| !is_completed(text(run, "state").as_deref())) {
            case.item.status = text(going_on, "state");
            case.item.result = None;
        }

        case
    }

    /// What identifies the test; an unnamed one is known by its job or run, and one without any id by nothing.
    pub(super) fn key(&self) -> Option<String> {
        let id = self.test_id.as_deref().or_else(|| self.item.id());
        id.map(str::to_ascii_lowercase)
    }

    pub(super) fn name(&self) -> &str {
        self.item.test_name.as_deref().unwrap_or_default()
    }

    /// Whether it is over and did not pass.
    pub(super) fn has_failed(&self) -> bool {
        self.item.is_over() && !self.item.has_passed()
    }

    /// Whether it passed, but not at once.
    pub(super) fn is_flaky(&self) -> bool {
        self.item.has_passed() && self.earlier.iter().any(|result| result != "SUCCESS")
    }
}

/// The attempts but the one that counts, in the order of their starts.
fn others<'a>(runs: &'a [Value], counts: Option<&Value>) -> Vec<&'a Value> {
    let is_other = |run: &&Value| counts.is_none_or(|counts| !std::ptr::eq(*run, counts));
    let mut others: Vec<_> = runs.iter().filter(is_other).collect();
    others.sort_by_cached_key(|run| text(run, "started_at").map(|at| order(&at)));
    others
}

/// How an attempt ended. One that is over without a result has not passed.
fn ending(run: &Value) -> Option<String> {
    let is_over = is_completed(text(run, "state").as_deref());
    let without = || is_over.then(|| "no_result".to_owned());
    text(run, "result").map(|result| word(&result)).or_else(without)
}

/// Place of a verdict among all, the worst first.
pub(super) fn rank(verdict: &str) -> usize {
    let last = |known: usize| RANKS.len() + 1 + known;
    let unknown = RANKS.len();
    RANKS
        .iter()
        .position(|known| *known == verdict)
        .or_else(|| LAST_RANKS.iter().position(|known| *known == verdict).map(last))
        .unwrap_or(unknown)
}
