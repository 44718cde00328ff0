//! Keeps a summary below its size limit.
//!
//! First the texts of all failures are shortened in the same way. Then entries are removed from the ends of lists, where
//! the least important ones are. The answer counts what is left out.

use std::{cmp::Reverse, collections::BTreeMap};

use serde::Serialize;

use super::{
    answer::{FailureEntry, LeftOut, Summary},
    subject::LONGEST_ID,
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

/// Longest name of a file, in characters.
const LONGEST_FILE_NAME: usize = 60;

/// Share of the room that the failures get at least, in percent.
const FAILURES_SHARE: usize = 55;

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

/// Returns the answer, shortened to less than [`MOST_CHARS`] characters.
pub(super) fn fit(mut full: Summary) -> Summary {
    let room = MOST_CHARS - 1;
    let mut counts = BTreeMap::new();
    count(&mut counts, "verdicts", keep_largest(&mut full.verdicts));
    count(&mut counts, "severities", keep_largest(&mut full.bugs));
    count(&mut counts, "builds", full.builds.len().saturating_sub(MOST_BUILDS));
    full.builds.truncate(MOST_BUILDS);

    let mut answer = Summary::default();
    for level in DETAIL_LEVELS {
        answer = full.clone();
        answer.failures.iter_mut().for_each(|entry| shorten(entry, level));
        answer.left_out = left_out(counts.clone(), &full, &answer);

        if json_length(&answer) <= room {
            return answer;
        }
        // Shorter failures would not help if they keep to their share: other lists are too long.
        if json_length(&answer.failures) <= room * FAILURES_SHARE / 100 {
            break;
        }
    }

    answer.left_out = None;
    cut_lists(&mut answer, room - RESERVE, &mut counts);
    answer.left_out = left_out(counts, &full, &answer);

    answer
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

    entry.bugs.truncate(level.bugs);
    for bug in &mut entry.bugs {
        limit(&mut bug.id, LONGEST_ID);
        bug.title = shorten_line(&bug.title, level.title);
    }

    entry.artifacts.truncate(level.artifacts);
    for name in &mut entry.artifacts {
        *name = shorten_line(name, LONGEST_FILE_NAME);
    }
}

/// Returns the field `left_out`: `counts`, and the bugs and artifacts that are missing in the included failures.
fn left_out(mut counts: BTreeMap<String, usize>, full: &Summary, answer: &Summary) -> Option<LeftOut> {
    let included = || full.failures.iter().zip(&answer.failures);
    count(&mut counts, "bugs", included().map(|(full, cut)| full.bugs.len() - cut.bugs.len()).sum());
    let artifacts = included().map(|(full, cut)| full.artifacts.len() - cut.artifacts.len());
    count(&mut counts, "artifacts", artifacts.sum());

    (!counts.is_empty()).then(|| LeftOut { counts, how: HOW.to_owned() })
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

/// A list whose entries can be removed from its end.
struct CutList<'a> {
    name: &'static str,
    /// Share of the room that the list gets at least, in percent.
    share: usize,
    /// Length of each entry that is left, as compact JSON with the comma after it.
    lengths: Vec<usize>,
    /// Length of all entries that are left.
    length: usize,
    /// Keeps this number of entries.
    keep: Box<dyn FnOnce(usize) + 'a>,
}

impl<'a> CutList<'a> {
    fn new<T: Serialize>(name: &'static str, share: usize, list: &'a mut Vec<T>) -> Self {
        let lengths: Vec<_> = list.iter().map(|entry| json_length(entry) + 1).collect();
        Self {
            name,
            share,
            length: lengths.iter().sum(),
            lengths,
            keep: Box::new(|count| list.truncate(count)),
        }
    }
}

/// Removes entries until the answer has at most `room` characters: always the last one of the list that is longest in
/// relation to its share. Adds the number of removed entries of each list to `counts`.
fn cut_lists(answer: &mut Summary, room: usize, counts: &mut BTreeMap<String, usize>) {
    let mut excess = json_length(answer).saturating_sub(room);
    let mut lists = vec![
        CutList::new("failures", FAILURES_SHARE, &mut answer.failures),
        CutList::new("unread", 8, &mut answer.unread),
        CutList::new("flaky", 7, &mut answer.flaky),
    ];
    if let Some(comparison) = &mut answer.comparison {
        lists.extend([
            CutList::new("comparison.newly_failing", 15, &mut comparison.newly_failing),
            CutList::new("comparison.still_failing", 7, &mut comparison.still_failing),
            CutList::new("comparison.fixed", 4, &mut comparison.fixed),
            CutList::new("comparison.not_run", 4, &mut comparison.not_run),
        ]);
    }
    let totals: Vec<_> = lists.iter().map(|list| list.lengths.len()).collect();

    while excess > 0 {
        let Some(list) = lists.iter_mut().max_by_key(|list| list.length / list.share) else { break };
        let Some(removed) = list.lengths.pop() else { break };
        list.length -= removed;
        excess = excess.saturating_sub(removed);
    }

    for (list, total) in lists.into_iter().zip(totals) {
        let kept = list.lengths.len();
        count(counts, list.name, total - kept);
        (list.keep)(kept);
    }
}
