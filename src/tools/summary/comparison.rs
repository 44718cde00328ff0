//! The difference to an earlier one, test by test.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    baseline::Baseline,
    case::{Case, rank},
    gathering::Subject,
    outcome::{Change, Comparison, With},
    texts::{LONGEST_ID, LONGEST_WORD, shorten_line, test_name},
    whole::{builds, moment},
};
use crate::tools::waiting::item::text;

/// How a test ended; of several jobs of one test the worst counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Failed(usize, String),
    /// Without a verdict, and why.
    Open(&'static str),
    Passed(String),
}

impl Ending {
    fn of(case: &Case) -> Self {
        match case.item.verdict() {
            None => Self::Open("running"),
            Some(verdict) if verdict == "no_run" => Self::Open("no_run"),
            Some(verdict) if case.item.has_passed() => Self::Passed(verdict),
            Some(verdict) => Self::Failed(rank(&verdict), verdict),
        }
    }

    fn word(&self) -> String {
        match self {
            Self::Failed(_, word) | Self::Passed(word) => shorten_line(word, LONGEST_WORD),
            Self::Open(word) => (*word).to_owned(),
        }
    }
}

type Tests<'a> = BTreeMap<String, (Ending, &'a Case)>;

/// The difference between `subject` and what came before it.
pub(super) fn of(subject: &mut Subject, baseline: Baseline) -> Comparison {
    let earlier = match baseline {
        Baseline::Found(earlier) => *earlier,
        Baseline::Nothing(why) => return Comparison { note: Some(why), ..Comparison::default() },
    };
    let mut comparison = Comparison { with: Some(with(&earlier)), ..Comparison::default() };
    let (now, then) = (tests(&subject.cases), tests(&earlier.cases));
    let is_apart = !now.is_empty() && !then.is_empty() && !now.keys().any(|key| then.contains_key(key));
    let told = [oddity(subject, &earlier, is_apart), note(subject, &earlier)];

    comparison.note = told.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    let keys: BTreeSet<_> = now.keys().chain(then.keys()).collect();

    for key in keys {
        let (now, then) = (now.get(key), then.get(key));
        if now.is_some() || subject.is_whole {
            sort(&mut comparison, now, then);
        }
    }

    order(&mut comparison);
    subject.notes.extend(earlier.notes);

    comparison
}

/// What speaks against the choice of what it is compared with.
fn oddity(subject: &Subject, earlier: &Subject, is_apart: bool) -> Option<String> {
    let (one, other) = (&subject.target, &earlier.target);
    let began = |subject| moment(subject, "started_at")?.parse::<Timestamp>().ok();
    let told = if one.kind == other.kind && one.id.eq_ignore_ascii_case(&other.id) {
        "it is compared with itself"
    } else if is_apart {
        "the two have no test in common"
    } else if began(subject).zip(began(earlier)).is_some_and(|(ours, theirs)| theirs > ours) {
        "what it is compared with began later: `fixed` and `newly_failing` are the other way round"
    } else {
        return None;
    };

    Some(told.to_owned())
}

/// What has to be known of a comparison of parts.
fn note(subject: &Subject, earlier: &Subject) -> Option<String> {
    let told = match (subject.is_whole, earlier.is_whole) {
        (true, true) if subject.cases.iter().chain(&earlier.cases).any(|case| case.key().is_none()) => {
            "tests without an id are not compared"
        }
        (true, true) => return None,
        (false, true) => "not every test could be read: those that are missing are not under `not_run`",
        (true, false) => "not every earlier test could be read: a failure without `was` may not be new",
        (false, false) => "not every test could be read on either side",
    };
    Some(told.to_owned())
}

fn with(earlier: &Subject) -> With {
    let started = earlier.record.as_ref().and_then(|record| text(record, "started_at"));
    let builds = builds(earlier);
    With {
        target_type: earlier.target.kind.target_type().to_owned(),
        target_id: shorten_line(&earlier.target.id, LONGEST_ID),
        started_at: started.map(|at| shorten_line(&at, LONGEST_WORD)),
        build: builds.first().filter(|_| builds.len() == 1).cloned(),
    }
}

/// The tests that can be known again.
fn tests(cases: &[Case]) -> Tests<'_> {
    let mut tests = Tests::new();
    for case in cases {
        let Some(key) = case.key() else { continue };
        let ending = Ending::of(case);
        let worse = |known: &(Ending, &Case)| (&ending, &case.item.run_id) < (&known.0, &known.1.item.run_id);
        if tests.get(&key).is_none_or(worse) {
            tests.insert(key, (ending, case));
        }
    }

    tests
}

/// Puts a test where it belongs; one that passed both times, or then was not run, is no difference.
fn sort(comparison: &mut Comparison, now: Option<&(Ending, &Case)>, then: Option<&(Ending, &Case)>) {
    let list = match (now.map(|(ending, _)| ending), then.map(|(ending, _)| ending)) {
        (Some(Ending::Failed(..)), Some(Ending::Failed(..))) => &mut comparison.still_failing,
        (Some(Ending::Failed(..)), _) => &mut comparison.newly_failing,
        (Some(Ending::Passed(_)), Some(Ending::Failed(..))) => &mut comparison.fixed,
        (Some(Ending::Open(_)) | None, _) => &mut comparison.not_run,
        (Some(Ending::Passed(_)), _) => return,
    };

    let Some((_, case)) = now.or(then) else { return };
    let run = now.and_then(|(_, case)| case.item.run_id.as_ref());
    list.push(Change {
        test: test_name(case),
        verdict: now.map(|(ending, _)| ending.word()),
        was: then.map(|(ending, _)| ending.word()),
        run_id: run.map(|id| shorten_line(id, LONGEST_ID)),
    });
}

/// Worst first, by the verdict now, else by that of then.
fn order(comparison: &mut Comparison) {
    let place = |word: Option<&String>| word.map_or(usize::MAX, |word| rank(word));
    let Comparison { newly_failing, fixed, still_failing, not_run, .. } = comparison;

    for list in [newly_failing, fixed, still_failing, not_run] {
        list.sort_by(|one, other| {
            let key = |change: &Change| (place(change.verdict.as_ref()), place(change.was.as_ref()));
            key(one)
                .cmp(&key(other))
                .then_with(|| (&one.test, &one.run_id).cmp(&(&other.test, &other.run_id)))
        });
    }
}
