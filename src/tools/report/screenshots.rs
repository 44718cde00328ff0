//! Which screenshots of a run a page shows: the last one of each failed step, and the last one of each player.

use jiff::Timestamp;

use crate::{
    service::api::{
        bugs::RunBug,
        runs::{RunArtifactRef, RunDetail, RunPlayerDetail},
    },
    tools::summary::has_failed,
};

/// Words of which the name of the last screenshot may consist.
const END_WORDS: [&str; 3] = ["end", "final", "last"];

/// A screenshot among the files of a run.
#[derive(Clone, Debug)]
pub(crate) struct Screenshot {
    pub(crate) run_id: String,
    pub(crate) player_id: String,
    /// Number of the player, from 1.
    pub(crate) player: usize,
    /// The failed step that it shows.
    pub(crate) step: Option<usize>,
    /// Whether it is the last screenshot of the player.
    pub(crate) is_end: bool,
    pub(crate) file: RunArtifactRef,
}

/// Returns the screenshots of a run, those of failed steps first. `bugs` are the bugs of the run, which may refer to
/// screenshots of their steps.
pub(crate) fn select(run_id: &str, run: &RunDetail, bugs: &[RunBug]) -> Vec<Screenshot> {
    let players = (1..).zip(&run.players);
    let sources = players.flat_map(|(position, player)| {
        let number = player.player.player_number.unwrap_or(position);
        select_of_player(run_id, number, player, bugs)
    });

    let mut selected: Vec<_> = sources.collect();
    // The sort is stable, so that players and steps keep their order.
    selected.sort_by_key(|source| source.step.is_none());

    selected
}

/// Returns the screenshots of a player, in the order of the steps.
fn select_of_player(
    run_id: &str,
    number: usize,
    player: &RunPlayerDetail,
    bugs: &[RunBug],
) -> Vec<Screenshot> {
    let files = player.artifacts.iter().flatten().flatten();
    let mut files: Vec<_> = files.filter(|file| is_picture(&file.filename)).collect();
    files.sort_by_key(|file| age(file));
    let last = files.len().saturating_sub(1);

    let failed = (1..).zip(&player.steps).filter(|(_, step)| has_failed(step));
    let failed = failed.map(|(position, step)| step.step_number.unwrap_or(position));
    let shown = |step: usize| {
        let shows_step = |file: &&RunArtifactRef| {
            step_number(&file.filename) == Some(step) || is_named_by_bug(file, bugs, number, step)
        };
        Some((files.iter().rposition(shows_step)?, Some(step)))
    };

    let mut chosen: Vec<_> = failed.filter_map(shown).collect();
    if !chosen.iter().any(|(index, _)| *index == last) {
        chosen.push((last, None));
    }

    // Records of old runs have no ids of players.
    let id = Some(&player.player.id).filter(|id| !id.is_empty()).cloned();
    let player_id = id.unwrap_or_else(|| format!("{run_id}-{number}"));
    let source = |(index, step): (usize, Option<usize>)| {
        Some(Screenshot {
            run_id: run_id.to_owned(),
            player_id: player_id.clone(),
            player: number,
            step,
            is_end: index == last,
            file: (*files.get(index)?).clone(),
        })
    };
    chosen.into_iter().filter_map(source).collect()
}

/// Returns whether a bug that the player found at the step names the file as its screenshot.
fn is_named_by_bug(file: &RunArtifactRef, bugs: &[RunBug], player: usize, step: usize) -> bool {
    let path = format!("/{}", file.filename);
    bugs.iter().any(|bug| {
        // Bugs number players from 0 (service.md 2.5).
        let is_player = bug.player_number.map(|number| number + 1) == Some(player);
        let url = bug.details.as_ref().and_then(|details| details.screenshot_url.as_ref());

        is_player
            && bug.test_step == Some(step)
            && url.is_some_and(|url| file.url == *url || url.ends_with(&path))
    })
}

fn is_picture(filename: &str) -> bool {
    let extension = filename.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| ["png", "jpg", "jpeg"].contains(&extension.as_str()))
}

/// Returns the key that sorts the screenshots of a player, the last one at the end: by the time of the upload, then by
/// a name such as `end`, then by the number of the step.
fn age(file: &RunArtifactRef) -> (Option<Timestamp>, bool, Option<usize>, &str) {
    let (name, _) = file.filename.rsplit_once('.').unwrap_or((&file.filename, ""));
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_end = END_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word));

    (file.uploaded_at.parse().ok(), is_end, step_number(name), name)
}

/// Returns the number of the step that a name contains, as in `step-2.png`, `Step_02/turn 7.png` or `steps/2.png`.
fn step_number(filename: &str) -> Option<usize> {
    let name = filename.to_ascii_lowercase();
    name.split("step").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let digits = rest.strip_prefix(['-', '_', ' ', '/', '.']).unwrap_or(rest);
        let end = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::service::lenient::view;

    fn player(number: usize, files: &[&str], results: &[&str]) -> Value {
        let files = files.iter().map(|name| json!({"filename": name, "url": format!("x:{name}")}));
        let steps = results.iter().map(|result| json!({"run_result": result}));
        json!({
            "id": format!("r1-{number}"), "player_number": number, "artifacts": files.collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
        })
    }

    #[test]
    fn the_last_screenshots_of_failed_steps_come_before_those_of_the_end() {
        let files = ["agent.log", "step-1.png", "step-2-a.png", "step-2-b.png", "end.png", "step-2.gif"];
        let two = [
            player(1, &files, &["SUCCESS", "success"]),
            player(2, &files, &["SUCCESS", "failed", "SKIPPED"]),
        ];
        let bug = |player: usize, url: &str| {
            view(&json!({"player_number": player, "test_step": 1, "details": {"screenshot_url": url}}))
        };
        let unnamed = || json!([player(1, &["a.png", "b.png"], &["FAILED"])]);
        let named = ["player 1, step Some(1): a.png", "player 1, step None, end: b.png"];

        for (players, bugs, expected) in [
            (
                json!(two),
                vec![],
                &[
                    "player 2, step Some(2): step-2-b.png",
                    "player 1, step None, end: end.png",
                    "player 2, step None, end: end.png",
                ][..],
            ),
            (
                json!([player(1, &["step-1.png"], &["TIMEOUT"])]),
                vec![],
                &["player 1, step Some(1), end: step-1.png"],
            ),
            (unnamed(), vec![bug(0, "x:a.png")], &named),
            (unnamed(), vec![bug(0, "https://host/runs/r1-1/artifacts/a.png")], &named),
            (unnamed(), vec![bug(1, "x:a.png")], &named[1..]),
            (unnamed(), vec![bug(0, "https://host/other.png")], &named[1..]),
            (json!([{}, null, 3, {"artifacts": [null, {}]}]), vec![], &[]),
        ] {
            let found = select("r1", &view(&json!({"players": players})), &bugs).into_iter().map(|one| {
                let end = if one.is_end { ", end" } else { "" };
                format!("player {}, step {:?}{end}: {}", one.player, one.step, one.file.filename)
            });
            assert_eq!(found.collect::<Vec<_>>(), expected, "{players}");
        }
    }

    #[test]
    fn a_step_number_is_found_in_a_name() {
        for (name, expected) in [
            ("screenshots/step-2.png", Some(2)),
            ("Step_02/turn 7.png", Some(2)),
            ("steps/12.jpg", Some(12)),
            ("footstep_sound/step3.png", Some(3)),
            ("screenshots/end.png", None),
            ("stepping-2.png", None),
            ("step-99999999999999999999999.png", None),
        ] {
            assert_eq!(step_number(name), expected, "{name}");
        }
    }

    #[test]
    fn screenshots_are_sorted_by_time_and_step_and_the_named_end_is_last() {
        let file = |filename: &str, uploaded_at: &str| {
            view::<RunArtifactRef>(&json!({"filename": filename, "uploaded_at": uploaded_at}))
        };
        let mut files = [
            file("late.png", "2026-03-02T04:15:15Z"),
            file("end.png", ""),
            file("step-10.png", ""),
            file("a/step-9.png", ""),
        ];
        files.sort_by(|one, other| age(one).cmp(&age(other)));
        let names = files.each_ref().map(|file| file.filename.as_str());

        assert_eq!(names, ["a/step-9.png", "step-10.png", "end.png", "late.png"]);
    }
}
