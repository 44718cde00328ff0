//! What a summary says about failures and bugs: why runs failed, groups of similar failures, tests that passed on a retry,
//! and the bugs of both.

use std::{cmp::Reverse, collections::BTreeMap};

use indexmap::IndexMap;

use super::{
    answer::{BugEntry, FailureEntry, ListedTest, StepName},
    result::{TestResult, sort_key, verdict_rank},
};
use crate::{
    service::api::runs::{RunDetail, RunPlayerDetail, RunStep, RunStepItem},
    text::{filled, shorten_line, visible_name},
    tools::{names, waiting::canonical_result},
};

/// Severities from the worst. Unknown severities come last.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Number of ids that a group names.
const MOST_IDS: usize = 3;

/// Largest number of bugs, and of artifacts, of one entry.
const MOST_BUGS: usize = 6;
const MOST_ARTIFACTS: usize = 8;

/// Longest goal of a step, expected result, report and name of a file, in characters.
const LONGEST_GOAL: usize = 200;
const LONGEST_EXPECTED: usize = 300;
const LONGEST_REPORT: usize = 600;
const LONGEST_FILE_NAME: usize = 60;

/// Number of the slowest tests.
const MOST_SLOW: usize = 5;

/// Number of entries that were left out of each list.
pub(super) type LeftOutCounts = BTreeMap<String, usize>;

/// What the failures of a group have in common: test, verdict, normalized goal of the step, normalized report.
type GroupKey = [String; 4];

/// Returns the groups of similar failures: of one test, with the same verdict, at the same step, with the same report.
/// The worst verdict comes first, then the largest group.
pub(super) fn group_failures(tests: &[TestResult], left_out: &mut LeftOutCounts) -> Vec<FailureEntry> {
    let mut groups: BTreeMap<GroupKey, Vec<&TestResult>> = BTreeMap::new();
    for test in tests.iter().filter(|test| test.has_failed()) {
        groups.entry(group_key(test)).or_default().push(test);
    }

    let joined = groups.into_values().filter_map(|members| join_members(members, left_out));
    let mut entries: Vec<_> = joined.collect();
    entries.sort_by_cached_key(|entry| {
        let step = entry.step.as_ref().and_then(|step| step.number);
        (verdict_rank(&entry.verdict), Reverse(entry.count), entry.test.clone(), step)
    });

    entries
}

/// Returns why a test failed. If the run was not read, the record of the job may say why nothing was run.
fn cause(test: &TestResult) -> FailureEntry {
    let of_job = || FailureEntry { observed: test.reason.clone(), ..FailureEntry::default() };
    test.cause.clone().unwrap_or_else(of_job)
}

fn group_key(test: &TestResult) -> GroupKey {
    let ids: Vec<_> = [&test.job_id, &test.run_id].into_iter().flatten().map(String::as_str).collect();
    let normalized = |text: Option<String>| text.map(|text| normalize(&text, &ids)).unwrap_or_default();
    let FailureEntry { step, observed, .. } = cause(test);

    let goal = normalized(step.and_then(|step| step.goal));
    [test.key(), test.word().to_owned(), goal, normalized(observed)]
}

/// Joins similar failures into one entry. The earliest failure provides the texts.
fn join_members(mut members: Vec<&TestResult>, left_out: &mut LeftOutCounts) -> Option<FailureEntry> {
    members.sort_by_cached_key(|test| {
        let start = test.started_at.as_deref().map(sort_key);
        (start.is_none(), start, test.id().map(str::to_owned))
    });

    let first_ids = |id: fn(&TestResult) -> Option<&String>| {
        members.iter().copied().filter_map(id).take(MOST_IDS).cloned().collect::<Vec<_>>()
    };
    let run_ids = first_ids(|test| test.run_id.as_ref());
    let job_ids = if run_ids.is_empty() { first_ids(|test| test.job_id.as_ref()) } else { Vec::new() };

    let first = members.first()?;
    let FailureEntry { mut step, expected, observed, player_id, mut artifacts, devices, .. } = cause(first);
    if let Some(step) = &mut step {
        step.goal = shortened(step.goal.take(), LONGEST_GOAL);
    }
    cut("artifacts", &mut artifacts, MOST_ARTIFACTS, left_out);

    Some(FailureEntry {
        test: first.test_name(),
        verdict: first.word().to_owned(),
        step,
        expected: shortened(expected, LONGEST_EXPECTED),
        observed: shortened(observed, LONGEST_REPORT),
        count: members.len(),
        run_ids,
        player_id,
        job_ids,
        bugs: named_bugs(&members, left_out),
        artifacts: artifacts.iter().map(|name| marked_name(name)).collect(),
        devices,
    })
}

/// Returns the name of a file as the service takes it, or with marks: what was cut and what cannot be shown.
fn marked_name(name: &str) -> String {
    let shown = visible_name(name, LONGEST_FILE_NAME);
    if name.chars().count() > LONGEST_FILE_NAME { shown + "…" } else { shown }
}

fn shortened(text: Option<String>, most: usize) -> Option<String> {
    text.map(|text| shorten_line(&text, most)).filter(|text| !text.is_empty())
}

/// Removes the entries of a list beyond the first `most`, and counts them.
fn cut<T>(name: &str, list: &mut Vec<T>, most: usize, left_out: &mut LeftOutCounts) {
    let omitted = list.len().saturating_sub(most);
    if omitted > 0 {
        list.truncate(most);
        *left_out.entry(name.to_owned()).or_default() += omitted;
    }
}

/// Returns the bugs of `tests`, each once, the worst first.
fn collect_bugs<'a>(tests: impl Iterator<Item = &'a TestResult>) -> Vec<BugEntry> {
    let mut known: BTreeMap<&str, &BugEntry> = BTreeMap::new();
    for bug in tests.flat_map(|test| test.bugs.iter().flatten()) {
        let entry = known.entry(bug.id.as_deref().unwrap_or(&bug.title)).or_insert(bug);
        // Runs may rate the severity of a bug differently. The worst rating counts.
        if severity_key(bug) < severity_key(entry) {
            *entry = bug;
        }
    }

    let mut bugs: Vec<_> = known.into_values().cloned().collect();
    bugs.sort_by(|one, other| severity_key(one).cmp(&severity_key(other)));

    bugs
}

/// Returns the bugs of one entry, without those beyond [`MOST_BUGS`].
fn named_bugs(tests: &[&TestResult], left_out: &mut LeftOutCounts) -> Vec<BugEntry> {
    let mut bugs = collect_bugs(tests.iter().copied());
    cut("bugs", &mut bugs, MOST_BUGS, left_out);

    bugs
}

fn severity_key(bug: &BugEntry) -> (usize, &str, Option<&str>) {
    let severity = SEVERITIES.iter().position(|known| *known == bug.severity);
    (severity.unwrap_or(SEVERITIES.len()), &bug.title, bug.id.as_deref())
}

/// Returns the number of bugs of each severity, the worst first.
pub(super) fn count_severities(tests: &[TestResult]) -> IndexMap<String, usize> {
    let mut severities = IndexMap::new();
    for bug in collect_bugs(tests.iter()) {
        *severities.entry(bug.severity).or_default() += 1;
    }
    severities
}

fn listed(test: &TestResult) -> ListedTest {
    ListedTest { test: test.test_name(), run_id: test.run_id.clone(), ..ListedTest::default() }
}

/// Returns the tests that passed, and whose run has bugs, the worst bug first.
pub(super) fn passed_with_bugs(tests: &[TestResult], left_out: &mut LeftOutCounts) -> Vec<ListedTest> {
    let passed = tests.iter().filter(|test| test.has_passed() && test.bugs.iter().flatten().next().is_some());
    let mut entries: Vec<_> =
        passed.map(|test| ListedTest { bugs: named_bugs(&[test], left_out), ..listed(test) }).collect();

    let worst = |entry: &ListedTest| entry.bugs.first().map(|bug| severity_key(bug).0);
    entries.sort_by_cached_key(|one| (worst(one), one.test.clone(), one.run_id.clone()));

    entries
}

/// Returns the tests that passed on a retry, those with the most attempts first.
pub(super) fn passed_after_retry(tests: &[TestResult]) -> Vec<ListedTest> {
    let mut retried: Vec<_> = tests.iter().filter(|test| test.passed_after_retry()).collect();
    retried.sort_by_cached_key(|test| {
        (Reverse(test.earlier.len()), test.name.clone(), test.key(), test.run_id.clone())
    });

    retried.into_iter().map(|test| ListedTest { earlier: test.earlier.clone(), ..listed(test) }).collect()
}

/// Returns the slowest of several tests, the slowest first.
pub(super) fn slowest(tests: &[TestResult]) -> Vec<ListedTest> {
    if tests.len() < 2 {
        return Vec::new();
    }
    let timed = tests.iter().filter(|test| test.duration_ms.is_some_and(|duration| duration > 0));
    let mut entries: Vec<_> =
        timed.map(|test| ListedTest { duration_ms: test.duration_ms, ..listed(test) }).collect();
    entries.sort_by_cached_key(|one| (Reverse(one.duration_ms), one.test.clone(), one.run_id.clone()));
    entries.truncate(MOST_SLOW);

    entries
}

/// Returns why a run ended with `verdict`: the first failing step of the player that failed.
pub(super) fn cause_of(run: &RunDetail, verdict: &str) -> FailureEntry {
    let mut players: Vec<_> = run.players.iter().collect();
    players.sort_by_key(|player| (player_rank(player, verdict), player.player.player_number));
    let failing = players.iter().find_map(|player| Some((*player, failing_step(player)?)));
    let Some(player) = failing.map(|(player, _)| player).or(players.first().copied()) else {
        return FailureEntry::default();
    };

    let number = player.player.player_number.filter(|_| players.len() > 1);
    let files = player.artifacts.iter().flatten().flatten();
    let mut artifacts: Vec<_> = files.filter_map(|file| filled(&file.filename)).collect();
    artifacts.sort();
    artifacts.dedup();

    FailureEntry {
        player_id: filled(&player.player.id),
        artifacts,
        devices: names::devices(run.players.iter().map(|player| &player.player)),
        ..failing.map(|(_, step)| cause_of_step(step, number)).unwrap_or_default()
    }
}

/// Returns what a failing step of the player with this number shows.
fn cause_of_step(step: &RunStep, player: Option<usize>) -> FailureEntry {
    let item = unmet_expectation(step.items.as_deref().unwrap_or_default());
    let expected = item.and_then(|item| filled(&item.expected));
    let comment = || item.and_then(|item| filled(item.comment.as_deref()?));
    let name = StepName { number: step.step_number, goal: step.test.goal.clone(), player };

    FailureEntry {
        step: Some(name).filter(|step| step.number.is_some() || step.goal.is_some()),
        expected: expected.or_else(|| step.test.finish_condition.clone()),
        observed: step.report.as_deref().and_then(filled).or_else(comment),
        ..FailureEntry::default()
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
    let rank = |step: &RunStep| match &step.run_result {
        Some(_) if has_failed(step) => Some(0),
        None if step.start_time.is_some() => Some(1),
        Some(result) if result.eq_ignore_ascii_case("SKIPPED") => Some(2),
        _ => None,
    };
    player.steps.iter().filter(|step| rank(step).is_some()).min_by_key(|step| rank(step))
}

/// Returns whether a step has a result that is neither a success nor the consequence of an earlier step.
pub(in crate::tools) fn has_failed(step: &RunStep) -> bool {
    let is_good =
        |result: &String| ["SUCCESS", "SKIPPED"].iter().any(|good| result.eq_ignore_ascii_case(good));
    step.run_result.as_ref().is_some_and(|result| !is_good(result))
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

/// Shortest id that is removed from a text, in bytes. A shorter id may be part of a word.
const SHORTEST_ID: usize = 6;

/// Stands for a number, a time or an id.
const PLACEHOLDER: &str = "#";

/// Returns the words of `report` in lower case, with one placeholder for numbers, times, coordinates and ids, because
/// these differ between runs. `ids` are replaced wherever they occur.
fn normalize(report: &str, ids: &[&str]) -> String {
    let mut text = report.to_lowercase();
    for id in ids.iter().filter(|id| id.len() >= SHORTEST_ID) {
        text = text.replace(&id.to_lowercase(), PLACEHOLDER);
    }

    let mut words: Vec<&str> = Vec::new();
    for chunk in text.split(|one: char| !(one.is_alphanumeric() || one == '#' || is_joint(one))) {
        let parts: Vec<_> =
            if is_measure(chunk) { vec![PLACEHOLDER] } else { chunk.split(is_joint).collect() };
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            let word = if part.chars().any(is_variable) { PLACEHOLDER } else { part };
            // Consecutive numbers become one placeholder, because coordinates and times have many notations.
            if word != PLACEHOLDER || words.last() != Some(&PLACEHOLDER) {
                words.push(word);
            }
        }
    }

    words.join(" ")
}

fn is_joint(one: char) -> bool {
    matches!(one, '-' | '_' | '.' | ':' | ',' | '/' | '+')
}

fn is_variable(one: char) -> bool {
    one.is_numeric() || one == '#'
}

/// Returns whether a chunk is a number, a time, or an id of hexadecimal digits.
fn is_measure(chunk: &str) -> bool {
    let is_part = |one: char| is_variable(one) || is_joint(one) || matches!(one, 'a'..='f' | 't' | 'z');
    chunk.chars().any(is_variable) && chunk.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::normalize;

    #[test]
    fn only_texts_that_differ_in_numbers_times_ids_and_letter_case_are_similar() {
        for (one, other, are_similar) in [
            ("Waited 30 s for the door", "waited 7 s for the DOOR.", true),
            ("Frame 1,204 of 3.5 million", "Frame 9 of 12.25 million", true),
            ("Tapped (120, 340) in vain", "Tapped \"0.5;-3\" in vain", true),
            ("At 09:15:00 it closed", "At 2026-03-02T10:00:00.123+00:00 it closed", true),
            ("Player k3x9 left\nlevel ١٢", "Player 77 left level 12", true),
            ("Run hui4d9ilmby hung", "Run 3126ec62-851c-4a5f-bce1-dd354c0912de hung", true),
            ("The door stayed closed", "The door stayed open", false),
            ("The gate-1 is shut", "The door-1 is shut", false),
            ("5 doors are closed", "doors are closed", false),
            ("A face is missing", "A bead is missing", false),
            ("门打不开", "窗打不开", false),
        ] {
            let [one, other] = [one, other].map(|text| normalize(text, &["hui4d9ilmby", "door"]));
            assert_eq!(one == other, are_similar, "{one} / {other}");
        }
    }
}
