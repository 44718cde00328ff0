//! Keeps a summary below its size limit.
//!
//! First the texts of all failures are shortened in the same way. Then the lists share the room and lose entries from
//! their ends, where the least important ones are. The answer counts what is left out.

use std::{cmp::Reverse, collections::BTreeMap};

use serde::Serialize;

use super::{
    answer::{BugEntry, FailureEntry, History, HistoryTest, LeftOut, Summary, TestChange},
    subject::LONGEST_ID,
};
use crate::{call::limit, text::shorten_line};

/// Limit of the answer, in characters of its compact JSON. Every answer is shorter.
const MOST_CHARS: usize = 8_000;

/// Limit of the history in the answer, in characters. The rest belongs to the latest result.
const HISTORY_CHARS: usize = 5_500;

/// Characters that the name of the field `history` takes.
const HISTORY_NAME_CHARS: usize = 12;

/// Number of causes of a test in the history, and length of their texts, from the most detailed to the shortest.
const HISTORY_LEVELS: [(usize, usize); 3] = [(3, 240), (2, 120), (1, 60)];

/// Lists from which nothing may be missing if the bugs of an answer are complete.
const LISTS_OF_BUGS: [&str; 4] = ["bugs", "severities", "failures", "passed_with_bugs"];

/// Room for the field `left_out`.
const RESERVE: usize = 500;

/// Largest number of verdicts, and of severities.
const MOST_WORDS: usize = 12;

/// Largest number of builds.
const MOST_BUILDS: usize = 5;

/// Longest name of a file, in characters.
const LONGEST_FILE_NAME: usize = 60;

/// How to get what is left out.
const HOW: &str =
    "[[`tool:list_runs` finds the runs; ]][[`tool:get_run` and `tool:list_run_bugs` show one in full";

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

/// Returns the answer, shortened to less than [`MOST_CHARS`] characters.
pub(super) fn fit(mut full: Summary) -> Summary {
    let mut counts = BTreeMap::new();
    let history = full.history.take().map(|history| fit_history(&history, &mut counts));
    let history_chars = history.as_ref().map_or(0, |history| json_length(history) + HISTORY_NAME_CHARS);

    Summary { history, ..fit_rest(full, counts, MOST_CHARS.saturating_sub(history_chars)) }
}

/// Returns the answer without a history, shortened to less than `most_chars` characters.
fn fit_rest(mut full: Summary, mut counts: BTreeMap<String, usize>, most_chars: usize) -> Summary {
    count(&mut counts, "verdicts", keep_largest(&mut full.verdicts));
    count(&mut counts, "severities", full.bugs.as_mut().map_or(0, keep_largest));
    count(&mut counts, "builds", full.builds.len().saturating_sub(MOST_BUILDS));
    full.builds.truncate(MOST_BUILDS);

    let mut answer = Summary::default();
    for level in DETAIL_LEVELS {
        answer = full.clone();
        answer.failures.iter_mut().flatten().for_each(|entry| shorten(entry, level));
        answer.passed_with_bugs.iter_mut().for_each(|entry| shorten_bugs(&mut entry.bugs, level));
        answer = state_left_out(answer, counts.clone(), &full);
        if json_length(&answer) < most_chars {
            return answer;
        }
    }

    answer.left_out = None;
    state_left_out(cut_lists(answer, most_chars), counts, &full)
}

/// Returns the answer with shorter lists, so that there is room for the field `left_out`.
fn cut_lists(answer: Summary, most_chars: usize) -> Summary {
    let Ok(mut value) = serde_json::to_value(&answer) else { return answer };
    limit::cut(&mut value, most_chars.saturating_sub(RESERVE));

    // Shorter lists and texts have the types that the longer ones had.
    serde_json::from_value(value).unwrap_or(answer)
}

/// Returns the answer with the field `left_out`, and says that bugs are missing if some are left out.
fn state_left_out(mut answer: Summary, counts: BTreeMap<String, usize>, full: &Summary) -> Summary {
    answer.left_out = left_out(counts, full, &answer);

    let is_left_out =
        |list| answer.left_out.as_ref().is_some_and(|left_out| left_out.counts.contains_key(list));
    if LISTS_OF_BUGS.into_iter().any(is_left_out) {
        answer.bugs_complete = Some(false);
    }

    answer
}

/// Returns the history, shortened to less than [`HISTORY_CHARS`] characters: first its causes, then the tests from the
/// end, where those that did not change are.
fn fit_history(full: &History, counts: &mut BTreeMap<String, usize>) -> History {
    let mut history = History::default();
    for (most_causes, most_chars) in HISTORY_LEVELS {
        history = full.clone();
        history.tests.iter_mut().for_each(|test| shorten_causes(test, most_causes, most_chars));
        if json_length(&history) < HISTORY_CHARS {
            return history;
        }
    }

    let tests = std::mem::take(&mut history.tests);
    let mut used = json_length(&history);
    let fits = |test: &&HistoryTest| {
        used += json_length(test) + 1;
        used < HISTORY_CHARS
    };
    let kept = tests.iter().take_while(fits).count();
    count(counts, "history.tests", tests.len() - kept);
    history.tests.extend(tests.into_iter().take(kept));

    history
}

fn shorten_causes(test: &mut HistoryTest, most_causes: usize, most_chars: usize) {
    test.causes.truncate(most_causes);
    for cause in &mut test.causes {
        let goal = cause.step.as_mut().map(|step| &mut step.goal);
        for text in goal.into_iter().chain([&mut cause.observed]) {
            *text = text.as_ref().map(|text| shorten_line(text, most_chars)).filter(|text| !text.is_empty());
        }
    }
}

/// Shortens the texts and the lists of a failure.
fn shorten(entry: &mut FailureEntry, level: DetailLevel) {
    let limit = |text: &mut Option<String>, most| {
        *text = text.as_ref().map(|text| shorten_line(text, most)).filter(|text| !text.is_empty());
    };
    limit(&mut entry.expected, level.expected);
    limit(&mut entry.observed, level.observed);
    if let Some(step) = &mut entry.step {
        limit(&mut step.goal, level.goal);
    }

    shorten_bugs(&mut entry.bugs, level);
    entry.artifacts.truncate(level.artifacts);
    for name in &mut entry.artifacts {
        *name = shorten_line(name, LONGEST_FILE_NAME);
    }
}

/// Shortens the texts and the list of bugs.
fn shorten_bugs(bugs: &mut Vec<BugEntry>, level: DetailLevel) {
    bugs.truncate(level.bugs);
    for bug in bugs {
        bug.id = bug.id.as_ref().map(|id| shorten_line(id, LONGEST_ID)).filter(|id| !id.is_empty());
        bug.title = shorten_line(&bug.title, level.title);
    }
}

/// Returns the field `left_out`: `counts`, the entries that are missing in `answer`, and the bugs and artifacts that
/// are missing in the included entries.
fn left_out(mut counts: BTreeMap<String, usize>, full: &Summary, answer: &Summary) -> Option<LeftOut> {
    for ((name, all), (_, kept)) in list_lengths(full).zip(list_lengths(answer)) {
        count(&mut counts, name, all - kept);
    }

    let included = || full.failures.iter().flatten().zip(answer.failures.iter().flatten());
    let of_failures = included().map(|(full, cut)| full.bugs.len() - cut.bugs.len());
    let passed = full.passed_with_bugs.iter().zip(&answer.passed_with_bugs);
    let of_passed = passed.map(|(full, cut)| full.bugs.len() - cut.bugs.len());
    count(&mut counts, "bugs", of_failures.chain(of_passed).sum());
    let artifacts = included().map(|(full, cut)| full.artifacts.len() - cut.artifacts.len());
    count(&mut counts, "artifacts", artifacts.sum());

    (!counts.is_empty()).then(|| LeftOut { counts, how: HOW.into() })
}

/// Returns the lists that may be cut, each with its name and its number of entries.
fn list_lengths(summary: &Summary) -> impl Iterator<Item = (&'static str, usize)> {
    let lists = [
        ("failures", summary.failures.as_ref().map_or(0, Vec::len)),
        ("unread", summary.unread.len()),
        ("passed_after_retry", summary.passed_after_retry.as_ref().map_or(0, Vec::len)),
        ("passed_with_bugs", summary.passed_with_bugs.len()),
    ];
    let length = |list: &Option<Vec<TestChange>>| list.as_ref().map_or(0, Vec::len);
    let of_comparison = summary.comparison.iter().flat_map(move |comparison| {
        [
            ("comparison.newly_failing", length(&comparison.newly_failing)),
            ("comparison.still_failing", length(&comparison.still_failing)),
            ("comparison.fixed", length(&comparison.fixed)),
            ("comparison.not_run", length(&comparison.not_run)),
        ]
    });
    let of_baseline = summary.baseline.iter().flat_map(move |baseline| {
        [
            ("baseline.new", length(&baseline.new)),
            ("baseline.known", length(&baseline.known)),
            ("baseline.fixed", length(&baseline.fixed)),
            ("baseline.without_verdict", length(&baseline.without_verdict)),
        ]
    });

    lists.into_iter().chain(of_comparison).chain(of_baseline)
}

fn count(counts: &mut BTreeMap<String, usize>, name: &str, number: usize) {
    if number > 0 {
        *counts.entry(name.to_owned()).or_default() += number;
    }
}

/// Keeps the words with the largest numbers, at most [`MOST_WORDS`]. Returns the number of the other words.
fn keep_largest(words: &mut BTreeMap<String, usize>) -> usize {
    let mut sorted: Vec<_> = std::mem::take(words).into_iter().collect();
    sorted.sort_by_key(|(_, number)| Reverse(*number));
    let others = sorted.len().saturating_sub(MOST_WORDS);
    words.extend(sorted.into_iter().take(MOST_WORDS));

    others
}

/// Returns the length of `value` as compact JSON, in characters.
fn json_length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.chars().count())
}
