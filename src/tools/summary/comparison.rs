//! The changes since an earlier result, test by test.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    answer::{BaselineName, Comparison, TestChange},
    baseline::Baseline,
    subject::Subject,
    test_result::{TestResult, verdict_rank},
    text_limits::{LONGEST_ID, LONGEST_WORD},
};
use crate::text::shorten_line;

/// How a test ended. Of several jobs of one test, the lowest value counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TestEnd {
    /// The rank of the verdict, and the verdict.
    Failed(usize, String),
    /// The reason why there is no verdict.
    WithoutVerdict(&'static str),
    Passed(String),
}

impl TestEnd {
    fn from_test(test: &TestResult) -> Self {
        match test.item.verdict() {
            None => Self::WithoutVerdict("running"),
            Some(verdict) if verdict == "no_run" => Self::WithoutVerdict("no_run"),
            Some(verdict) if test.item.has_passed() => Self::Passed(verdict),
            Some(verdict) => Self::Failed(verdict_rank(&verdict), verdict),
        }
    }

    /// Returns the word for the answer.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Failed(_, word) | Self::Passed(word) => shorten_line(word, LONGEST_WORD),
            Self::WithoutVerdict(word) => (*word).to_owned(),
        }
    }
}

/// A test with its end.
pub(super) type EndedTest<'a> = (TestEnd, &'a TestResult);

/// Compares `subject` with `baseline`. The omissions of the baseline are added to those of `subject`.
pub(super) fn compare(subject: &mut Subject, baseline: Baseline) -> Comparison {
    let earlier = match baseline {
        Baseline::Found(earlier) => *earlier,
        Baseline::Missing(reason) => return Comparison { note: Some(reason), ..Comparison::default() },
    };

    let (now, before) = (tests_by_key(&subject.tests), tests_by_key(&earlier.tests));
    let is_disjoint =
        !now.is_empty() && !before.is_empty() && !now.keys().any(|key| before.contains_key(key));
    let notes = [choice_note(subject, &earlier, is_disjoint), completeness_note(subject, &earlier)];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");

    let mut comparison = Comparison {
        with: Some(baseline_name(&earlier)),
        note: Some(note).filter(|note| !note.is_empty()),
        ..Comparison::default()
    };

    let keys: BTreeSet<_> = now.keys().chain(before.keys()).collect();
    for key in keys {
        // If not every test was read, a test that is missing now may exist.
        if now.contains_key(key) || subject.is_complete {
            add_change(&mut comparison, now.get(key), before.get(key));
        }
    }

    sort_changes(&mut comparison);
    subject.omissions.extend(earlier.omissions);

    comparison
}

/// Returns a note if the choice of the earlier result is questionable.
fn choice_note(subject: &Subject, earlier: &Subject, is_disjoint: bool) -> Option<&'static str> {
    let (one, other) = (&subject.target, &earlier.target);
    let start = |subject: &Subject| subject.started_at()?.parse::<Timestamp>().ok();

    if one.kind == other.kind && one.id.eq_ignore_ascii_case(&other.id) {
        Some("it is compared with itself")
    } else if is_disjoint {
        Some("the two have no test in common")
    } else if start(subject).zip(start(earlier)).is_some_and(|(now, before)| before > now) {
        Some("the result that it is compared with was started later: `fixed` and `newly_failing` are swapped")
    } else {
        None
    }
}

/// Returns a note if tests are missing in the comparison.
fn completeness_note(subject: &Subject, earlier: &Subject) -> Option<&'static str> {
    match (subject.is_complete, earlier.is_complete) {
        (true, true) => {
            let mut tests = subject.tests.iter().chain(&earlier.tests);
            tests.any(|test| test.key().is_none()).then_some("tests without an id are not compared")
        }
        (false, true) => {
            Some("not every test could be read: the missing ones are not listed under `not_run`")
        }
        (true, false) => Some("not every earlier test could be read: a failure without `was` may not be new"),
        (false, false) => Some("not every test could be read on either side"),
    }
}

fn baseline_name(earlier: &Subject) -> BaselineName {
    let builds = earlier.builds();
    let started_at = earlier.record_field("started_at");

    BaselineName {
        target_type: earlier.target.kind.target_type().to_owned(),
        target_id: shorten_line(&earlier.target.id, LONGEST_ID),
        started_at: started_at.map(|start| shorten_line(&start, LONGEST_WORD)),
        build: builds.first().filter(|_| builds.len() == 1).cloned(),
    }
}

/// Returns the tests that have a key. Of several jobs of one test, the worst counts.
pub(super) fn tests_by_key(tests: &[TestResult]) -> BTreeMap<String, EndedTest<'_>> {
    let mut by_key: BTreeMap<String, EndedTest<'_>> = BTreeMap::new();
    for test in tests {
        let Some(key) = test.key() else { continue };
        let end = TestEnd::from_test(test);
        let is_worse = |known: &EndedTest<'_>| (&end, &test.item.run_id) < (&known.0, &known.1.item.run_id);
        if by_key.get(&key).is_none_or(is_worse) {
            by_key.insert(key, (end, test));
        }
    }

    by_key
}

/// Adds a test to the list of its change. A test that passed now and did not fail before is not a change.
fn add_change(comparison: &mut Comparison, now: Option<&EndedTest<'_>>, before: Option<&EndedTest<'_>>) {
    let list = match (now.map(|(end, _)| end), before.map(|(end, _)| end)) {
        (Some(TestEnd::Failed(..)), Some(TestEnd::Failed(..))) => &mut comparison.still_failing,
        (Some(TestEnd::Failed(..)), _) => &mut comparison.newly_failing,
        (Some(TestEnd::Passed(_)), Some(TestEnd::Failed(..))) => &mut comparison.fixed,
        (Some(TestEnd::WithoutVerdict(_)) | None, _) => &mut comparison.not_run,
        (Some(TestEnd::Passed(_)), _) => return,
    };

    let Some((_, test)) = now.or(before) else { return };
    let run_id = now.and_then(|(_, test)| test.item.run_id.as_ref());
    list.push(TestChange {
        test: test.test_name(),
        verdict: now.map(|(end, _)| end.word()),
        was: before.map(|(end, _)| end.word()),
        run_id: run_id.map(|id| shorten_line(id, LONGEST_ID)),
    });
}

/// Sorts each list by the verdict now, then by the verdict before, the worst first.
fn sort_changes(comparison: &mut Comparison) {
    let rank = |word: Option<&String>| word.map_or(usize::MAX, |word| verdict_rank(word));
    let Comparison { newly_failing, fixed, still_failing, not_run, .. } = comparison;

    for list in [newly_failing, fixed, still_failing, not_run] {
        list.sort_by_cached_key(|change| {
            let ranks = (rank(change.verdict.as_ref()), rank(change.was.as_ref()));
            (ranks, change.test.clone(), change.run_id.clone())
        });
    }
}
