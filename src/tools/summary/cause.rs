//! Why a run did not pass: its first failing step, as the player saw it who failed.

use serde_json::Value;

use crate::tools::waiting::item::{text, word};

/// What a failing step says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cause {
    pub(super) number: Option<u64>,
    pub(super) goal: Option<String>,
    /// Where there are several.
    pub(super) player: Option<u64>,
    pub(super) expected: Option<String>,
    pub(super) observed: Option<String>,
    pub(super) artifacts: Vec<String>,
    /// Whether the run says which files there are.
    pub(super) knows_artifacts: bool,
}

impl Cause {
    /// The first failing step of a run that ended with `verdict`.
    pub(super) fn of(run: &Value, verdict: &str) -> Self {
        let mut players: Vec<_> = list(run, "players").iter().enumerate().collect();
        players
            .sort_by_key(|(place, player)| (blame(player, verdict), number(player, "player_number"), *place));

        let mut found = players.iter().filter_map(|(_, player)| Some((*player, failing(player)?)));
        let (player, step) = match found.next() {
            Some((player, step)) => (Some(player), Some(step)),
            None => (players.first().map(|(_, player)| *player), None),
        };
        let Some(player) = player else { return Self::default() };
        let mut cause = step.map(of_step).unwrap_or_default();

        cause.player = number(player, "player_number").filter(|_| players.len() > 1);
        cause.knows_artifacts = player.get("artifacts").is_some_and(Value::is_array);
        cause.artifacts =
            list(player, "artifacts").iter().filter_map(|file| text(file, "filename")).collect();
        cause.artifacts.sort();
        cause.artifacts.dedup();

        cause
    }
}

/// How little a player has to do with the verdict of the run.
fn blame(player: &Value, verdict: &str) -> u8 {
    match text(player, "result").map(|result| word(&result)).as_deref() {
        Some(result) if result == verdict => 0,
        Some("SUCCESS") => 3,
        Some("SKIPPED") => 2,
        _ => 1,
    }
}

/// The first step that failed. Steps after a failure are skipped by themselves, and one that was cut off may have no
/// result.
fn failing(player: &Value) -> Option<&Value> {
    let steps = list(player, "steps");
    let result = |step: &Value| text(step, "run_result").map(|result| word(&result));
    let failed =
        |step: &&Value| result(step).is_some_and(|result| result != "SUCCESS" && result != "SKIPPED");
    let unfinished = |step: &&Value| result(step).is_none() && text(step, "start_time").is_some();
    let skipped = |step: &&Value| result(step).as_deref() == Some("SKIPPED");
    let first = steps.iter().find(failed).or_else(|| steps.iter().find(unfinished));

    first.or_else(|| steps.iter().find(skipped))
}

fn of_step(step: &Value) -> Cause {
    let of_test =
        |name: &str| step.pointer(&format!("/test/{name}")).and_then(Value::as_str).map(str::to_owned);
    let item = failed_item(step);
    let of_item = |name: &str| item.and_then(|item| text(item, name)).filter(|text| !text.trim().is_empty());
    let report = text(step, "report").filter(|report| !report.trim().is_empty());

    Cause {
        number: number(step, "step_number"),
        goal: of_test("goal"),
        expected: of_item("expected").or_else(|| of_test("finish_condition")),
        observed: report.or_else(|| of_item("comment")),
        ..Cause::default()
    }
}

/// The expected result that was not met; one that failed before one that was never looked at.
fn failed_item(step: &Value) -> Option<&Value> {
    let items = list(step, "items");
    let is = |item: &&Value, words: &[&str]| {
        text(item, "status").is_some_and(|status| words.iter().any(|word| status.eq_ignore_ascii_case(word)))
    };
    let failed = items.iter().find(|item| is(item, &["failed"]));
    let cut_off = || items.iter().find(|item| !is(item, &["passed", "skipped"]));

    failed.or_else(cut_off).or_else(|| items.iter().find(|item| !is(item, &["passed"])))
}

fn list<'a>(record: &'a Value, name: &str) -> &'a [Value] {
    record.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn number(record: &Value, name: &str) -> Option<u64> {
    record.get(name).and_then(Value::as_u64)
}
