//! Why a run failed: the first failing step of the player that failed.

use crate::{
    service::api::runs::{RunDetail, RunPlayerDetail, RunStep, RunStepItem},
    text::filled,
    tools::{names, waiting::canonical_result},
};

/// Why a run did not pass: the first failing step of the player that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureCause {
    pub(super) step_number: Option<usize>,
    pub(super) goal: Option<String>,
    /// The number of the player, if the run has several.
    pub(super) player: Option<usize>,
    pub(super) expected: Option<String>,
    pub(super) observed: Option<String>,
    pub(super) artifacts: Vec<String>,
    /// Whether the record of the run lists its artifacts.
    pub(super) has_artifact_list: bool,
    /// Names of the devices of all players.
    pub(super) devices: Vec<String>,
}

impl FailureCause {
    /// Returns the cause of a run that ended with `verdict`.
    pub(super) fn from_run(run: &RunDetail, verdict: &str) -> Self {
        let mut players: Vec<_> = run.players.iter().collect();
        players.sort_by_key(|player| (player_rank(player, verdict), player.player.player_number));

        let failing = players.iter().find_map(|player| Some((*player, failing_step(player)?)));
        let first = players.first().map(|player| (*player, None));
        let Some((player, step)) = failing.map(|(player, step)| (player, Some(step))).or(first) else {
            return Self::default();
        };

        let files = player.artifacts.iter().flatten().flatten();
        let mut artifacts: Vec<_> = files.filter_map(|file| filled(&file.filename)).collect();
        artifacts.sort();
        artifacts.dedup();

        Self {
            player: player.player.player_number.filter(|_| players.len() > 1),
            artifacts,
            has_artifact_list: player.artifacts.is_some(),
            devices: names::devices(run.players.iter().map(|player| &player.player)),
            ..step.map(Self::from_step).unwrap_or_default()
        }
    }

    /// Returns the cause that a failing step shows.
    fn from_step(step: &RunStep) -> Self {
        let item = unmet_expectation(step.items.as_deref().unwrap_or_default());
        let expected = item.and_then(|item| filled(&item.expected));
        let comment = || item.and_then(|item| filled(item.comment.as_deref()?));

        Self {
            step_number: step.step_number,
            goal: step.test.goal.clone(),
            expected: expected.or_else(|| step.test.finish_condition.clone()),
            observed: step.report.as_deref().and_then(filled).or_else(comment),
            ..Self::default()
        }
    }
}

/// Returns the rank of a player by its share in the verdict of the run; the lowest rank is the likeliest cause.
fn player_rank(player: &RunPlayerDetail, verdict: &str) -> u8 {
    match player.player.result.as_deref().map(canonical_result).as_deref() {
        Some(result) if result == verdict => 0,
        Some("SUCCESS") => 3,
        Some("SKIPPED") => 2,
        _ => 1,
    }
}

/// Returns the first failed step of a player, else the first step that was interrupted, else the first that was
/// skipped. Steps after a failed step are skipped as a consequence, and an interrupted step may have no result.
fn failing_step(player: &RunPlayerDetail) -> Option<&RunStep> {
    let steps = &player.steps;
    let is_interrupted = |step: &&RunStep| step.run_result.is_none() && step.start_time.is_some();
    let is_skipped = |step: &&RunStep| {
        step.run_result.as_ref().is_some_and(|result| result.eq_ignore_ascii_case("SKIPPED"))
    };

    let failed = steps.iter().find(|step| has_failed(step));
    failed.or_else(|| steps.iter().find(is_interrupted)).or_else(|| steps.iter().find(is_skipped))
}

/// Returns whether a step has a result that is neither a success nor the consequence of an earlier step.
pub(in crate::tools) fn has_failed(step: &RunStep) -> bool {
    let is_good =
        |result: &&String| ["SUCCESS", "SKIPPED"].iter().any(|good| result.eq_ignore_ascii_case(good));
    step.run_result.as_ref().is_some_and(|result| !is_good(&result))
}

/// Returns the expected result that was not met. A failed one comes before one that was not checked, and a skipped one
/// comes last.
fn unmet_expectation(items: &[RunStepItem]) -> Option<&RunStepItem> {
    let rank = |item: &&RunStepItem| match item.status.to_ascii_lowercase().as_str() {
        "failed" => 0,
        "skipped" => 2,
        _ => 1,
    };
    items.iter().filter(|item| !item.status.eq_ignore_ascii_case("passed")).min_by_key(rank)
}
