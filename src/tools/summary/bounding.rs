//! Keeping the answer short. First the texts of failures become shorter, for all alike; then lists lose entries from
//! their ends, which are the least important. What is left out is counted.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    grouping::Group,
    outcome::{Bug, Failed, LeftOut, StepName, Summary},
    texts::{LONGEST_ID, shorten_line},
    whole::Whole,
};

/// An answer is shorter than this, in characters of its compact JSON.
pub const MOST_CHARS: usize = 8_000;

/// Room for what says what was left out.
const RESERVE: usize = 500;

/// Longest name of a file.
const LONGEST_FILE: usize = 60;

/// Entries of the maps and lists that have no place of their own below.
const MOST_WORDS: usize = 12;
const MOST_BUILDS: usize = 5;

/// Share of the room that a list has for itself, in hundredths; what the others do not need goes to the first that
/// does. In the order of importance.
const SHARES: [(&str, usize); 7] = [
    ("failures", 55),
    ("comparison.newly_failing", 15),
    ("unread", 8),
    ("flaky", 7),
    ("comparison.still_failing", 7),
    ("comparison.fixed", 4),
    ("comparison.not_run", 4),
];

/// How to see what was left out.
const HOW: &str = "`list_runs` finds the runs; `get_run` and `list_run_bugs` show one in full";

/// How long the texts of a failure are.
#[derive(Clone, Copy, Debug)]
struct Detail {
    goal: usize,
    expected: usize,
    observed: usize,
    title: usize,
    bugs: usize,
    artifacts: usize,
}

/// From the longest to the shortest.
const DETAILS: [Detail; 3] = [
    Detail { goal: 200, expected: 300, observed: 600, title: 120, bugs: 6, artifacts: 8 },
    Detail { goal: 120, expected: 160, observed: 250, title: 80, bugs: 3, artifacts: 4 },
    Detail { goal: 80, expected: 80, observed: 120, title: 60, bugs: 2, artifacts: 2 },
];

/// The answer, short enough.
pub(super) fn bounded(whole: &Whole) -> Summary {
    let room = MOST_CHARS - 1;
    let mut shown = Summary::default();

    for detail in DETAILS {
        shown = shown_with(whole, detail);
        let failures = length(&shown.failures);
        if length(&shown) <= room {
            return shown;
        }
        if failures <= room * share("failures") / 100 {
            break;
        }
    }

    cut(&mut shown, room - RESERVE);
    note_cut_lists(whole, &mut shown);

    shown
}

fn share(list: &str) -> usize {
    SHARES.iter().find(|(name, _)| *name == list).map_or(0, |(_, share)| *share)
}

fn length(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.chars().count())
}

/// The answer with texts of this length.
fn shown_with(whole: &Whole, detail: Detail) -> Summary {
    let mut shown = whole.summary.clone();
    let mut left_out = BTreeMap::new();
    keep_most(&mut shown.verdicts, "verdicts", &mut left_out);
    keep_most(&mut shown.bugs, "severities", &mut left_out);
    count(&mut left_out, "builds", shown.builds.len().saturating_sub(MOST_BUILDS));
    shown.builds.truncate(MOST_BUILDS);
    shown.failures = whole.failures.iter().map(|group| failed(group, detail)).collect();
    shown.left_out = said(left_out);
    note_cut_lists(whole, &mut shown);

    shown
}

/// Counts bugs and artifacts that the shown failures do not name.
fn note_cut_lists(whole: &Whole, shown: &mut Summary) {
    let mut left_out = shown.left_out.take().map(|left_out| left_out.counts).unwrap_or_default();
    let (mut bugs, mut artifacts) = (0, 0);

    for (group, failed) in whole.failures.iter().zip(&shown.failures) {
        bugs += group.bugs.len() - failed.bugs.len();
        artifacts += group.cause.artifacts.len() - failed.artifacts.len();
    }

    for (name, number) in [("bugs", bugs), ("artifacts", artifacts)] {
        left_out.remove(name);
        count(&mut left_out, name, number);
    }

    shown.left_out = said(left_out);
}

fn said(counts: BTreeMap<String, usize>) -> Option<LeftOut> {
    (!counts.is_empty()).then(|| LeftOut { counts, how: HOW.to_owned() })
}

fn count(left_out: &mut BTreeMap<String, usize>, name: &str, number: usize) {
    if number > 0 {
        *left_out.entry(name.to_owned()).or_default() += number;
    }
}

/// Keeps the words with the highest numbers.
fn keep_most(words: &mut BTreeMap<String, usize>, name: &str, left_out: &mut BTreeMap<String, usize>) {
    count(left_out, name, words.len().saturating_sub(MOST_WORDS));
    while words.len() > MOST_WORDS {
        let least = words.iter().min_by_key(|(word, number)| (**number, std::cmp::Reverse(*word)));
        let Some(least) = least.map(|(word, _)| word.clone()) else { break };
        words.remove(&least);
    }
}

fn failed(group: &Group, detail: Detail) -> Failed {
    let cause = &group.cause;
    let text = |text: &Option<String>, most| {
        text.as_ref().map(|text| shorten_line(text, most)).filter(|text| !text.is_empty())
    };
    let has_step = cause.number.is_some() || cause.goal.is_some();
    let bug = |bug: &Bug| Bug {
        id: bug.id.as_ref().map(|id| shorten_line(id, LONGEST_ID)),
        title: shorten_line(&bug.title, detail.title),
        severity: bug.severity.clone(),
    };

    Failed {
        test: group.test.clone(),
        verdict: group.verdict.clone(),
        step: has_step.then(|| StepName {
            number: cause.number,
            goal: text(&cause.goal, detail.goal),
            player: cause.player,
        }),
        expected: text(&cause.expected, detail.expected),
        observed: text(&cause.observed, detail.observed),
        count: group.count,
        run_ids: group.run_ids.clone(),
        job_ids: group.job_ids.clone(),
        bugs: group.bugs.iter().take(detail.bugs).map(bug).collect(),
        artifacts: cause
            .artifacts
            .iter()
            .take(detail.artifacts)
            .map(|name| shorten_line(name, LONGEST_FILE))
            .collect(),
    }
}

/// A list that may lose entries.
trait List {
    /// Characters of each entry, with the comma after it.
    fn sizes(&self) -> Vec<usize>;
    fn keep(&mut self, kept: usize);
}

impl<T: Serialize> List for Vec<T> {
    fn sizes(&self) -> Vec<usize> {
        self.iter().map(|entry| length(entry) + 1).collect()
    }

    fn keep(&mut self, kept: usize) {
        self.truncate(kept);
    }
}

/// The lists in the order of [`SHARES`].
fn lists(shown: &mut Summary) -> Vec<(&'static str, &mut dyn List)> {
    let mut lists: Vec<(&str, &mut dyn List)> =
        vec![("failures", &mut shown.failures), ("unread", &mut shown.unread), ("flaky", &mut shown.flaky)];
    if let Some(comparison) = &mut shown.comparison {
        lists.push(("comparison.newly_failing", &mut comparison.newly_failing));
        lists.push(("comparison.still_failing", &mut comparison.still_failing));
        lists.push(("comparison.fixed", &mut comparison.fixed));
        lists.push(("comparison.not_run", &mut comparison.not_run));
    }

    lists.sort_by_key(|(name, _)| SHARES.iter().position(|(known, _)| known == name));

    lists
}

/// Takes entries from the ends of lists until the answer has at most `room` characters.
fn cut(shown: &mut Summary, room: usize) {
    let all: usize = lists(shown).iter().flat_map(|(_, list)| list.sizes()).sum();
    let mut left = room.saturating_sub(length(shown).saturating_sub(all));
    let own = left;
    let mut left_out = shown.left_out.take().map(|left_out| left_out.counts).unwrap_or_default();
    let mut kept: Vec<(Vec<usize>, usize)> = Vec::new();

    for (name, list) in lists(shown) {
        let sizes = list.sizes();
        let kept_here = fitting(&sizes, own * share(name) / 100);
        left = left.saturating_sub(sizes.iter().take(kept_here).sum());
        kept.push((sizes, kept_here));
    }

    for (sizes, kept_here) in &mut kept {
        let rest = sizes.get(*kept_here..).unwrap_or_default();
        let more = fitting(rest, left);
        left = left.saturating_sub(rest.iter().take(more).sum());
        *kept_here += more;
    }

    for ((name, list), (sizes, kept_here)) in lists(shown).into_iter().zip(&kept) {
        list.keep(*kept_here);
        count(&mut left_out, name, sizes.len() - kept_here);
    }

    shown.left_out = said(left_out);
}

/// How many entries from the beginning fit into `room`.
fn fitting(sizes: &[usize], room: usize) -> usize {
    let mut used = 0;
    let fits = |size: &&usize| {
        used += **size;
        used <= room
    };
    sizes.iter().take_while(fits).count()
}
