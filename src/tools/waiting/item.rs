//! One job or run of a wait or a summary: its status and its verdict.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{array_field, canonical_result, deciding_attempt, is_completed, string_field};
use crate::text::shorten_line;

/// Longest name of a test, in characters. Fifty items fit into one reply.
pub(crate) const LONGEST_NAME: usize = 80;

/// Largest number of players whose progress is shown.
const MOST_PLAYERS: usize = 8;

/// A job, or a run if the target is a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names of the service are self-explanatory")]
#[serde(default)]
pub struct ResultItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The attempt that decides: the last started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// As the service writes it; null: not known yet.
    pub status: Option<String>,
    /// Once completed.
    pub result: Option<String>,
    /// Number of attempts, if above one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<usize>,
    /// Why nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The players of a run, with the number of completed steps and of all steps, for people.
    #[serde(skip)]
    pub(super) players: Vec<PlayerProgress>,
}

/// How far a player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlayerProgress {
    completed_steps: u64,
    steps: u64,
}

impl ResultItem {
    /// Creates the item of the record of a job (supplement 3.2).
    pub(crate) fn from_job(job: &Value) -> Self {
        let runs = array_field(job, "runs");
        let attempt = deciding_attempt(runs);
        let status = string_field(job, "status");
        // The result of an attempt is final only when the job is completed: a retry may follow.
        let is_finished = is_completed(status.as_deref());

        Self {
            job_id: string_field(job, "job_id"),
            run_id: attempt.and_then(|run| string_field(run, "multiplayer_run_id")),
            test_name: string_field(job, "test_name").map(|name| shorten_line(&name, LONGEST_NAME)),
            platform: string_field(job, "platform"),
            result: attempt.filter(|_| is_finished).and_then(|run| string_field(run, "result")),
            attempts: Some(runs.len()).filter(|attempts| *attempts > 1),
            reason: string_field(job, "queue_rejection_reason"),
            players: attempt.map(player_progress).unwrap_or_default(),
            status,
        }
    }

    /// Creates the item of the record of a run (supplement 2.2).
    pub(crate) fn from_run(run: &Value) -> Self {
        let status = string_field(run, "state");
        let is_finished = is_completed(status.as_deref());
        let name = run.pointer("/test/name").and_then(Value::as_str);

        Self {
            job_id: string_field(run, "job_id"),
            run_id: string_field(run, "multiplayer_run_id"),
            test_name: name.map(|name| shorten_line(name, LONGEST_NAME)),
            result: string_field(run, "result").filter(|_| is_finished),
            players: player_progress(run),
            status,
            ..Self::default()
        }
    }

    /// Creates the item of a job of which only the id is known.
    pub(super) fn unread_job(id: &str) -> Self {
        Self { job_id: Some(id.to_owned()), ..Self::default() }
    }

    /// Creates the item of a run of which only the id is known.
    pub(super) fn unread_run(id: Option<&str>) -> Self {
        Self { run_id: id.map(str::to_owned), ..Self::default() }
    }

    /// Returns whether the job or run is completed.
    pub(crate) fn is_finished(&self) -> bool {
        is_completed(self.status.as_deref())
    }

    /// Returns whether the job or run has left the queue and is not completed.
    pub(super) fn is_running(&self) -> bool {
        let is_queued = |status: &str| status.eq_ignore_ascii_case("queued");
        !self.is_finished() && self.status.as_deref().is_some_and(|status| !is_queued(status))
    }

    /// Returns the verdict once the job or run is completed: the result of the service, in capitals if it is a known one,
    /// or `no_result` or `no_run`.
    pub fn verdict(&self) -> Option<String> {
        if !self.is_finished() {
            return None;
        }
        Some(match (&self.result, &self.run_id) {
            (Some(result), _) => canonical_result(result),
            (None, Some(_)) => "no_result".to_owned(),
            (None, None) => "no_run".to_owned(),
        })
    }

    /// Returns whether the verdict is SUCCESS. No other result counts as passed (supplement 2.3).
    pub fn has_passed(&self) -> bool {
        self.verdict().is_some_and(|verdict| verdict == "SUCCESS")
    }

    /// Returns the id of the job, else the id of the run.
    pub fn id(&self) -> Option<&str> {
        self.job_id.as_deref().or(self.run_id.as_deref())
    }

    /// Returns the name of the test, and how far each player is if the service says so.
    pub(super) fn progress(&self) -> String {
        let progress = |player: &PlayerProgress| format!("{} of {}", player.completed_steps, player.steps);
        let steps: Vec<_> = self.players.iter().map(progress).collect();

        match steps.as_slice() {
            [] => self.name().to_owned(),
            [only] => format!("{} (step {only})", self.name()),
            several => format!("{} (steps of the players: {})", self.name(), several.join(", ")),
        }
    }

    /// Returns the name of the test, else the id.
    pub fn name(&self) -> &str {
        self.test_name.as_deref().or_else(|| self.id()).unwrap_or("a job")
    }
}

/// Returns the progress of the players of a run (supplement 2.2).
fn player_progress(run: &Value) -> Vec<PlayerProgress> {
    let count = |player: &Value, name: &str| player.get(name).and_then(Value::as_u64);
    let players = array_field(run, "players").iter().take(MOST_PLAYERS);
    let progress = players.map(|player| {
        Some(PlayerProgress {
            completed_steps: count(player, "completed_step_count")?,
            steps: count(player, "step_count")?,
        })
    });

    progress.collect::<Option<_>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::ResultItem;

    #[test]
    fn the_verdict_of_a_job_is_known_once_the_job_is_completed() {
        let run = |result: Value| json!([{"multiplayer_run_id": "r1", "result": result}]);
        let cases: [(Value, Option<&str>); 4] = [
            (json!({"status": "RUNNING", "runs": run(json!("FAILED"))}), None),
            (json!({"status": "completed", "runs": run(json!("failed"))}), Some("FAILED")),
            (json!({"status": "COMPLETED", "runs": run(Value::Null)}), Some("no_result")),
            (json!({"status": "COMPLETED", "runs": []}), Some("no_run")),
        ];
        for (job, expected) in cases {
            assert_eq!(ResultItem::from_job(&job).verdict().as_deref(), expected, "{job}");
        }
    }
}
