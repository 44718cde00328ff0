//! Keeping the answer below the size limit.
//!
//! First the texts of all failures are shortened in the same way. Then `list_budget` removes entries from the ends of
//! lists, where the least important ones are. The answer counts what is left out.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    answer::{BugEntry, FailureEntry, LeftOut, StepName, Summary},
    failure_groups::FailureGroup,
    full_summary::FullSummary,
    list_budget::{FAILURES, cut_lists, json_length, share_of},
    text_limits::{LONGEST_FILE_NAME, LONGEST_ID},
};
use crate::text::shorten_line;

/// Limit of the answer, in characters of its compact JSON. Every answer is shorter.
const MOST_CHARS: usize = 8_000;

/// Room for the field `left_out`.
const RESERVE: usize = 500;

/// Largest number of verdicts, and of severities.
const MOST_WORDS: usize = 12;

/// Largest number of builds.
const MOST_BUILDS: usize = 5;

/// How to get what is left out.
const HOW: &str = "`list_runs` finds the runs; `get_run` and `list_run_bugs` show one in full";

/// Limits for the texts of one failure, in characters, and for its lists.
#[derive(Clone, Copy, Debug)]
struct DetailLevel {
    goal: usize,
    expected: usize,
    observed: usize,
    title: usize,
    bugs: usize,
    artifacts: usize,
}

/// The levels from the most detailed to the shortest.
const DETAIL_LEVELS: [DetailLevel; 3] = [
    DetailLevel { goal: 200, expected: 300, observed: 600, title: 120, bugs: 6, artifacts: 8 },
    DetailLevel { goal: 120, expected: 160, observed: 250, title: 80, bugs: 3, artifacts: 4 },
    DetailLevel { goal: 80, expected: 80, observed: 120, title: 60, bugs: 2, artifacts: 2 },
];

/// Returns the answer of `full`, shortened to less than [`MOST_CHARS`] characters.
pub(super) fn fit(full: &FullSummary) -> Summary {
    let room = MOST_CHARS - 1;
    let mut answer = Summary::default();

    for level in DETAIL_LEVELS {
        answer = with_detail(full, level);
        if json_length(&answer) <= room {
            return answer;
        }
        // Shorter failures would not help if they keep to their share: other lists are too long.
        if json_length(&answer.failures) <= room * share_of(FAILURES) / 100 {
            break;
        }
    }

    let mut counts = take_counts(&mut answer);
    cut_lists(&mut answer, room - RESERVE, &mut counts);
    answer.left_out = left_out(counts);
    count_cut_failures(full, &mut answer);

    answer
}

/// Returns the answer with the texts of failures limited by `level`.
fn with_detail(full: &FullSummary, level: DetailLevel) -> Summary {
    let mut answer = full.summary.clone();
    let mut counts = BTreeMap::new();

    keep_largest(&mut answer.verdicts, "verdicts", &mut counts);
    keep_largest(&mut answer.bugs, "severities", &mut counts);
    add_count(&mut counts, "builds", answer.builds.len().saturating_sub(MOST_BUILDS));
    answer.builds.truncate(MOST_BUILDS);

    answer.failures = full.failures.iter().map(|group| failure_entry(group, level)).collect();
    answer.left_out = left_out(counts);
    count_cut_failures(full, &mut answer);

    answer
}

/// Counts the bugs and artifacts that are left out of the included failures.
fn count_cut_failures(full: &FullSummary, answer: &mut Summary) {
    let mut counts = take_counts(answer);
    let (mut bugs, mut artifacts) = (0, 0);

    for (group, entry) in full.failures.iter().zip(&answer.failures) {
        bugs += group.bugs.len() - entry.bugs.len();
        artifacts += group.cause.artifacts.len() - entry.artifacts.len();
    }

    for (name, number) in [("bugs", bugs), ("artifacts", artifacts)] {
        // The number of an earlier count includes failures that are not in the answer any more.
        counts.remove(name);
        add_count(&mut counts, name, number);
    }

    answer.left_out = left_out(counts);
}

fn take_counts(answer: &mut Summary) -> BTreeMap<String, usize> {
    answer.left_out.take().map(|left_out| left_out.counts).unwrap_or_default()
}

fn left_out(counts: BTreeMap<String, usize>) -> Option<LeftOut> {
    (!counts.is_empty()).then(|| LeftOut { counts, how: HOW.to_owned() })
}

fn add_count(counts: &mut BTreeMap<String, usize>, name: &str, number: usize) {
    if number > 0 {
        *counts.entry(name.to_owned()).or_default() += number;
    }
}

/// Keeps the words with the largest numbers, at most [`MOST_WORDS`], and counts the others as `name`.
fn keep_largest(words: &mut BTreeMap<String, usize>, name: &str, counts: &mut BTreeMap<String, usize>) {
    add_count(counts, name, words.len().saturating_sub(MOST_WORDS));
    while words.len() > MOST_WORDS {
        let smallest = words.iter().min_by_key(|(word, number)| (**number, Reverse(*word)));
        let Some(smallest) = smallest.map(|(word, _)| word.clone()) else { break };
        words.remove(&smallest);
    }
}

fn failure_entry(group: &FailureGroup, level: DetailLevel) -> FailureEntry {
    let cause = &group.cause;
    let limit = |text: &Option<String>, most| {
        let text = text.as_ref().map(|text| shorten_line(text, most));
        text.filter(|text| !text.is_empty())
    };
    let has_step = cause.step_number.is_some() || cause.goal.is_some();
    let step =
        StepName { number: cause.step_number, goal: limit(&cause.goal, level.goal), player: cause.player };
    let bug = |bug: &BugEntry| BugEntry {
        id: bug.id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
        title: shorten_line(&bug.title, level.title),
        severity: bug.severity.clone(),
    };
    let artifacts = cause.artifacts.iter().take(level.artifacts);

    FailureEntry {
        test: group.test.clone(),
        verdict: group.verdict.clone(),
        step: has_step.then_some(step),
        expected: limit(&cause.expected, level.expected),
        observed: limit(&cause.observed, level.observed),
        count: group.count,
        run_ids: group.run_ids.clone(),
        job_ids: group.job_ids.clone(),
        bugs: group.bugs.iter().take(level.bugs).map(bug).collect(),
        artifacts: artifacts.map(|name| shorten_line(name, LONGEST_FILE_NAME)).collect(),
    }
}
