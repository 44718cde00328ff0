//! Why a run did not pass: the first failing step of the player that failed.

use serde_json::Value;

use crate::tools::waiting::record::{array_field, canonical_result, string_field};

/// The cause of a failed run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureCause {
    pub(super) step_number: Option<u64>,
    pub(super) goal: Option<String>,
    /// The number of the player, if the run has several.
    pub(super) player: Option<u64>,
    pub(super) expected: Option<String>,
    pub(super) observed: Option<String>,
    pub(super) artifacts: Vec<String>,
    /// Whether the record of the run lists its artifacts.
    pub(super) has_artifact_list: bool,
}

impl FailureCause {
    /// Returns the cause of a run that ended with `verdict`.
    pub(super) fn from_run(run: &Value, verdict: &str) -> Self {
        let mut players: Vec<_> = array_field(run, "players").iter().enumerate().collect();
        players.sort_by_key(|(index, player)| {
            (player_rank(player, verdict), number_field(player, "player_number"), *index)
        });

        let first_failing = players.iter().find_map(|(_, player)| Some((*player, failing_step(player)?)));
        let (player, step) = match first_failing {
            Some((player, step)) => (player, Some(step)),
            None => match players.first() {
                Some((_, player)) => (*player, None),
                None => return Self::default(),
            },
        };

        let mut cause = step.map(Self::from_step).unwrap_or_default();
        cause.player = number_field(player, "player_number").filter(|_| players.len() > 1);
        cause.has_artifact_list = player.get("artifacts").is_some_and(Value::is_array);

        let files = array_field(player, "artifacts").iter();
        cause.artifacts = files.filter_map(|file| string_field(file, "filename")).collect();
        cause.artifacts.sort();
        cause.artifacts.dedup();

        cause
    }

    /// Returns the cause that a failing step shows.
    fn from_step(step: &Value) -> Self {
        let test_field = |name: &str| {
            let text = step.pointer(&format!("/test/{name}")).and_then(Value::as_str);
            text.map(str::to_owned)
        };
        let item = unmet_expectation(step);
        let item_field = |name: &str| item.and_then(|item| filled_field(item, name));

        Self {
            step_number: number_field(step, "step_number"),
            goal: test_field("goal"),
            expected: item_field("expected").or_else(|| test_field("finish_condition")),
            observed: filled_field(step, "report").or_else(|| item_field("comment")),
            ..Self::default()
        }
    }
}

/// Returns the rank of a player by its share in the verdict of the run; the lowest rank is the likeliest cause.
fn player_rank(player: &Value, verdict: &str) -> u8 {
    match result_field(player, "result").as_deref() {
        Some(result) if result == verdict => 0,
        Some("SUCCESS") => 3,
        Some("SKIPPED") => 2,
        _ => 1,
    }
}

/// Returns the first failed step of a player, else the first step that was interrupted, else the first that was skipped.
/// Steps after a failed step are skipped as a consequence, and an interrupted step may have no result.
fn failing_step(player: &Value) -> Option<&Value> {
    let steps = array_field(player, "steps");
    let result = |step: &Value| result_field(step, "run_result");
    let is_failed =
        |step: &&Value| result(step).is_some_and(|result| result != "SUCCESS" && result != "SKIPPED");
    let is_interrupted = |step: &&Value| result(step).is_none() && string_field(step, "start_time").is_some();
    let is_skipped = |step: &&Value| result(step).as_deref() == Some("SKIPPED");

    steps
        .iter()
        .find(is_failed)
        .or_else(|| steps.iter().find(is_interrupted))
        .or_else(|| steps.iter().find(is_skipped))
}

/// Returns the expected result that was not met. A failed one comes before one that was not checked, and a skipped one
/// comes last.
fn unmet_expectation(step: &Value) -> Option<&Value> {
    let items = array_field(step, "items");
    let has_status = |item: &Value, words: &[&str]| {
        let status = string_field(item, "status");
        status.is_some_and(|status| words.iter().any(|word| status.eq_ignore_ascii_case(word)))
    };

    items
        .iter()
        .find(|item| has_status(item, &["failed"]))
        .or_else(|| items.iter().find(|item| !has_status(item, &["passed", "skipped"])))
        .or_else(|| items.iter().find(|item| !has_status(item, &["passed"])))
}

/// Returns the text of a field if it is not blank.
fn filled_field(record: &Value, name: &str) -> Option<String> {
    string_field(record, name).filter(|text| !text.trim().is_empty())
}

fn result_field(record: &Value, name: &str) -> Option<String> {
    string_field(record, name).map(|result| canonical_result(&result))
}

fn number_field(record: &Value, name: &str) -> Option<u64> {
    record.get(name).and_then(Value::as_u64)
}
