//! Finds the screenshots of a run that a page shows: the last one of each failed step and the last one of each player.

use serde_json::Value;

use super::file_order::{age, is_picture, step_number};
use crate::tools::{
    download::{ListedFile, ListedPlayer, RunListing},
    waiting::record::{array_field, canonical_result, string_field},
};

/// Results of a step that has not failed.
const GOOD_RESULTS: [&str; 2] = ["SUCCESS", "SKIPPED"];

/// A screenshot among the files of a run.
#[derive(Clone, Debug)]
pub(super) struct PictureSource {
    pub(super) run_id: String,
    pub(super) player_id: String,
    /// Number of the player, from 1.
    pub(super) player: u64,
    /// The failed step that it shows.
    pub(super) step: Option<u64>,
    /// Whether it is the last screenshot of the player.
    pub(super) is_end: bool,
    pub(super) file: ListedFile,
}

/// Returns the screenshots of a run, those of failed steps first. `bugs` are the bugs of the run, which may refer to
/// screenshots of their steps.
pub(super) fn select(run_id: &str, run: &Value, bugs: &[Value]) -> Vec<PictureSource> {
    let players = RunListing::from_record(run_id, run).players;
    let records = array_field(run, "players");

    let mut selected: Vec<_> = players
        .into_iter()
        .zip(records)
        .flat_map(|(player, record)| select_of_player(run_id, player, record, bugs))
        .collect();
    // The sort is stable, so that players and steps keep their order.
    selected.sort_by_key(|source| source.step.is_none());

    selected
}

/// Returns the screenshots of a player, in the order of the steps.
fn select_of_player(
    run_id: &str,
    player: ListedPlayer,
    record: &Value,
    bugs: &[Value],
) -> Vec<PictureSource> {
    let ListedPlayer { id: player_id, number, files, .. } = player;
    let mut files: Vec<_> = files.into_iter().filter(is_picture).collect();
    files.sort_by_cached_key(age);
    let last = files.len().saturating_sub(1);

    let mut chosen: Vec<(usize, Option<u64>)> = Vec::new();
    for step in failed_steps(record) {
        let shows_step = |file: &ListedFile| {
            step_number(&file.filename) == Some(step) || is_named_by_bug(file, bugs, number, step)
        };
        if let Some(index) = files.iter().rposition(shows_step) {
            chosen.push((index, Some(step)));
        }
    }

    if !chosen.iter().any(|(index, _)| *index == last) {
        chosen.push((last, None));
    }

    let source = |(index, step): (usize, Option<u64>)| {
        Some(PictureSource {
            run_id: run_id.to_owned(),
            player_id: player_id.clone(),
            player: number,
            step,
            is_end: index == last,
            file: files.get(index)?.clone(),
        })
    };

    chosen.into_iter().filter_map(source).collect()
}

/// Returns the numbers of the steps of a player that did not pass.
fn failed_steps(player: &Value) -> Vec<u64> {
    let has_failed = |step: &Value| {
        let result = string_field(step, "run_result").map(|result| canonical_result(&result));
        result.is_some_and(|result| !GOOD_RESULTS.contains(&result.as_str()))
    };
    let steps = (1..).zip(array_field(player, "steps"));
    let failed = steps.filter(|(_, step)| has_failed(step));

    failed
        .map(|(position, step)| step.get("step_number").and_then(Value::as_u64).unwrap_or(position))
        .collect()
}

/// Returns whether a bug that the player found at the step names the file as its screenshot.
fn is_named_by_bug(file: &ListedFile, bugs: &[Value], player: u64, step: u64) -> bool {
    let path = format!("/{}", file.filename);
    bugs.iter().any(|bug| {
        // Bugs number players from 0 (supplement 2.5).
        let is_player =
            bug.get("player_number").and_then(Value::as_u64).map(|number| number + 1) == Some(player);
        let is_step = bug.get("test_step").and_then(Value::as_u64) == Some(step);
        let url = bug.pointer("/details/screenshot_url").and_then(Value::as_str);

        is_player
            && is_step
            && url.is_some_and(|url| file.url.as_deref() == Some(url) || url.ends_with(&path))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::select;

    /// Returns player, step, whether it is the end, and name of each selected screenshot.
    fn selected(run: &Value, bugs: &[Value]) -> Vec<(u64, Option<u64>, bool, String)> {
        let sources = select("r1", run, bugs).into_iter();
        sources.map(|source| (source.player, source.step, source.is_end, source.file.filename)).collect()
    }

    fn player(number: u64, files: &[&str], results: &[&str]) -> Value {
        let files: Vec<_> =
            files.iter().map(|name| json!({"filename": name, "url": format!("x:{name}")})).collect();
        let steps: Vec<_> = results.iter().map(|result| json!({"run_result": result})).collect();
        json!({"id": format!("r1-{number}"), "player_number": number, "artifacts": files, "steps": steps})
    }

    #[test]
    fn the_last_screenshots_of_failed_steps_come_before_those_of_the_end() {
        let files = ["agent.log", "step-1.png", "step-2-a.png", "step-2-b.png", "end.png"];
        let run = json!({"players": [
            player(1, &files, &["SUCCESS", "success"]),
            player(2, &files, &["SUCCESS", "failed", "SKIPPED"]),
        ]});

        let expected = [
            (2, Some(2), false, "step-2-b.png".to_owned()),
            (1, None, true, "end.png".to_owned()),
            (2, None, true, "end.png".to_owned()),
        ];
        assert_eq!(selected(&run, &[]), expected);
    }

    #[test]
    fn a_screenshot_of_the_failed_step_that_is_the_last_one_appears_once() {
        let run = json!({"players": [player(1, &["step-1.png"], &["TIMEOUT"])]});
        assert_eq!(selected(&run, &[]), [(1, Some(1), true, "step-1.png".to_owned())]);
    }

    #[test]
    fn a_bug_names_the_screenshot_of_its_step() {
        let run = json!({"players": [player(1, &["a.png", "b.png"], &["FAILED"])]});
        let bug = |player: u64, url: &str| json!({"player_number": player, "test_step": 1, "details": {"screenshot_url": url}});
        let end = (1, None, true, "b.png".to_owned());
        let named = (1, Some(1), false, "a.png".to_owned());

        for (bug, expected) in [
            (bug(0, "x:a.png"), vec![named.clone(), end.clone()]),
            (bug(0, "https://host/runs/r1-1/artifacts/a.png"), vec![named, end.clone()]),
            (bug(1, "x:a.png"), vec![end.clone()]),
            (bug(0, "https://host/other.png"), vec![end]),
        ] {
            assert_eq!(selected(&run, std::slice::from_ref(&bug)), expected, "{bug}");
        }
    }

    #[test]
    fn records_of_any_form_have_no_screenshot() {
        for run in
            [json!({}), json!({"players": [{}, null, 3]}), json!({"players": [{"artifacts": [null, {}]}]})]
        {
            assert_eq!(selected(&run, &[]), []);
        }
    }
}
