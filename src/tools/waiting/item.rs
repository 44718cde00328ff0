//! One job or run of a wait: where it is, and how it ended.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::shorten_line;

/// Words for results (supplement 2.3). The service may have others: they are shown as they are.
const RESULTS: [&str; 8] =
    ["SUCCESS", "FAILED", "SKIPPED", "BLOCKED", "TIMEOUT", "ERROR", "STOPPED", "MAX_STEPS"];

/// Longest name of a test that is shown, in characters: fifty items fit into a reply.
pub(crate) const LONGEST_NAME: usize = 80;

/// A job, or a run where a run is waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the service's own names speak for themselves")]
#[serde(default)]
pub struct Item {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The attempt that counts: the last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// As the service writes it; null: not known yet.
    pub status: Option<String>,
    /// Once it is over.
    pub result: Option<String>,
    /// Where there is more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<usize>,
    /// Why nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Item {
    /// A job (supplement 3.2). A result counts only when the job is over: a retry may follow.
    pub(crate) fn of_job(job: &Value) -> Self {
        let runs = job.get("runs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let last = last_attempt(runs);
        let status = text(job, "status");
        let is_over = is_completed(status.as_deref());

        Self {
            job_id: text(job, "job_id"),
            run_id: last.and_then(|run| text(run, "multiplayer_run_id")),
            test_name: text(job, "test_name").map(|name| shorten_line(&name, LONGEST_NAME)),
            platform: text(job, "platform"),
            result: last.filter(|_| is_over).and_then(|run| text(run, "result")),
            attempts: Some(runs.len()).filter(|attempts| *attempts > 1),
            reason: text(job, "queue_rejection_reason"),
            status,
        }
    }

    /// A run (supplement 2.2).
    pub(crate) fn of_run(run: &Value) -> Self {
        let status = text(run, "state");
        let is_over = is_completed(status.as_deref());
        let name = run.pointer("/test/name").and_then(Value::as_str);

        Self {
            job_id: text(run, "job_id"),
            run_id: text(run, "multiplayer_run_id"),
            test_name: name.map(|name| shorten_line(name, LONGEST_NAME)),
            result: text(run, "result").filter(|_| is_over),
            status,
            ..Self::default()
        }
    }

    /// A job or run that nothing is known of yet.
    pub(super) fn unknown(job_id: Option<&str>, run_id: Option<&str>) -> Self {
        Self { job_id: job_id.map(str::to_owned), run_id: run_id.map(str::to_owned), ..Self::default() }
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        is_completed(self.status.as_deref())
    }

    /// Whether it is neither over nor still to begin.
    pub fn is_under_way(&self) -> bool {
        let waits = |status: &str| status.eq_ignore_ascii_case("queued");
        !self.is_over() && self.status.as_deref().is_some_and(|status| !waits(status))
    }

    /// How it ended, once it is over: the service's word, in capitals where it is a known one.
    pub fn verdict(&self) -> Option<String> {
        if !self.is_over() {
            return None;
        }
        Some(match (&self.result, &self.run_id) {
            (Some(result), _) => word(result),
            (None, Some(_)) => "no_result".to_owned(),
            (None, None) => "no_run".to_owned(),
        })
    }

    /// Whether it is over and passed. Every other result is none (supplement 2.3).
    pub fn has_passed(&self) -> bool {
        self.verdict().is_some_and(|verdict| verdict == "SUCCESS")
    }

    /// The id of the job, else of the run.
    pub fn id(&self) -> Option<&str> {
        self.job_id.as_deref().or(self.run_id.as_deref())
    }

    /// What a person calls it.
    pub fn name(&self) -> &str {
        self.test_name.as_deref().or_else(|| self.id()).unwrap_or("a job")
    }
}

/// A result in the service's word: in capitals where it is a known one, else as it is.
pub(crate) fn word(result: &str) -> String {
    let known = RESULTS.iter().find(|known| known.eq_ignore_ascii_case(result));
    known.map_or(result, |known| *known).to_owned()
}

/// Whether a status or state says that nothing more comes, in either letter case (supplement 1.7).
pub(crate) fn is_completed(status: Option<&str>) -> bool {
    status.is_some_and(|status| status.eq_ignore_ascii_case("completed"))
}

/// The attempt that counts: the one that was started last, else the last of the list (supplement 3.2).
pub(crate) fn last_attempt(runs: &[Value]) -> Option<&Value> {
    let started = |run: &Value| {
        let at = run.get("started_at")?.as_str()?.to_owned();
        Some((at.parse::<Timestamp>().ok(), at))
    };
    let latest =
        runs.iter().filter_map(|run| Some((started(run)?, run))).max_by(|one, other| one.0.cmp(&other.0));
    latest.map(|(_, run)| run).or(runs.last())
}

pub(crate) fn text(record: &Value, name: &str) -> Option<String> {
    record.get(name)?.as_str().map(str::to_owned)
}
