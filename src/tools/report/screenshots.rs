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
    files.sort_by_cached_key(|file| age(file));
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
/// a name such as `end`, then by the numbers in the name.
fn age(file: &RunArtifactRef) -> (Option<Timestamp>, bool, Vec<(String, u64)>) {
    let (name, _) = file.filename.rsplit_once('.').unwrap_or((&file.filename, ""));
    let last = name.rsplit('/').next().unwrap_or_default();
    let is_end = END_WORDS.iter().any(|word| last.eq_ignore_ascii_case(word));

    (file.uploaded_at.parse().ok(), is_end, numbered_parts(name))
}

/// Splits a name into texts with the number after each, so that `turn-10` follows `turn-9`.
fn numbered_parts(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;

    while !rest.is_empty() {
        let (text, tail) = split_where(rest, |character| character.is_ascii_digit());
        let (digits, tail) = split_where(tail, |character| !character.is_ascii_digit());
        parts.push((text.to_owned(), digits.parse().unwrap_or(u64::MAX)));
        rest = tail;
    }

    parts
}

/// Returns the number of the step that a name contains, as in `step-2.png`, `Step_02/turn 7.png` or `steps/2.png`.
fn step_number(filename: &str) -> Option<usize> {
    let name = filename.to_ascii_lowercase();
    name.split("step").skip(1).find_map(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let digits = rest.strip_prefix(['-', '_', ' ', '/', '.']).unwrap_or(rest);
        split_where(digits, |character| !character.is_ascii_digit()).0.parse().ok()
    })
}

/// Splits a text before the first character that `is_end` accepts.
fn split_where(text: &str, is_end: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(is_end).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::service::lenient::view;

    /// Returns player, step, whether it is the end, and name of each selected screenshot.
    fn selected(run: &Value, bugs: &[RunBug]) -> Vec<(usize, Option<usize>, bool, String)> {
        let sources = select("r1", &view(run), bugs).into_iter();
        sources.map(|source| (source.player, source.step, source.is_end, source.file.filename)).collect()
    }

    fn player(number: usize, files: &[&str], results: &[&str]) -> Value {
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
        let bug = |player: usize, url: &str| {
            view(&json!({"player_number": player, "test_step": 1, "details": {"screenshot_url": url}}))
        };
        let end = (1, None, true, "b.png".to_owned());
        let named = (1, Some(1), false, "a.png".to_owned());

        for (bug, expected) in [
            (bug(0, "x:a.png"), vec![named.clone(), end.clone()]),
            (bug(0, "https://host/runs/r1-1/artifacts/a.png"), vec![named, end.clone()]),
            (bug(1, "x:a.png"), vec![end.clone()]),
            (bug(0, "https://host/other.png"), vec![end]),
        ] {
            assert_eq!(selected(&run, std::slice::from_ref(&bug)), expected, "{bug:?}");
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
    fn screenshots_are_sorted_by_number_and_the_named_end_is_last() {
        let file = |name: &str| RunArtifactRef { filename: name.to_owned(), ..RunArtifactRef::default() };
        let mut files = ["end.png", "turn-10.png", "turn-9.png", "a/turn-2.png"].map(file);
        files.sort_by_cached_key(age);
        let names = files.each_ref().map(|file| file.filename.as_str());

        assert_eq!(names, ["a/turn-2.png", "turn-9.png", "turn-10.png", "end.png"]);
    }

    #[test]
    fn the_extension_tells_whether_a_file_is_a_picture() {
        for (name, expected) in
            [("a.PNG", true), ("b/c.jpeg", true), ("d.gif", false), ("png", false), ("e.png.txt", false)]
        {
            assert_eq!(is_picture(name), expected, "{name}");
        }
    }
}
