//! What has changed since an earlier result, test by test.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    answer::{Comparison, EarlierResult, TestChange},
    earlier::Earlier,
    result::{TestResult, verdict_rank},
    subject::{LONGEST_ID, LONGEST_WORD, Subject},
};
use crate::text::{filled, shorten_line};

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
        match test.verdict.as_deref() {
            None => Self::WithoutVerdict("running"),
            Some("no_run") => Self::WithoutVerdict("no_run"),
            Some(verdict) if test.has_passed() => Self::Passed(verdict.to_owned()),
            Some(verdict) => Self::Failed(verdict_rank(verdict), verdict.to_owned()),
        }
    }

    pub(super) fn word(&self) -> &str {
        match self {
            Self::Failed(_, word) | Self::Passed(word) => word,
            Self::WithoutVerdict(word) => word,
        }
    }
}

/// A test with its end.
pub(super) type EndedTest<'a> = (TestEnd, &'a TestResult);

/// Returns the tests that have a key. Of several jobs of one test, the worst counts.
pub(super) fn tests_by_key(tests: &[TestResult]) -> BTreeMap<String, EndedTest<'_>> {
    let mut by_key: BTreeMap<String, EndedTest<'_>> = BTreeMap::new();
    for test in tests {
        let Some(key) = test.key() else { continue };
        let end = TestEnd::from_test(test);
        let is_worse = |known: &EndedTest<'_>| (&end, &test.run_id) < (&known.0, &known.1.run_id);
        if by_key.get(&key).is_none_or(is_worse) {
            by_key.insert(key, (end, test));
        }
    }

    by_key
}

/// Compares `subject` with the earlier result. Its omissions are added to those of `subject`.
pub(super) fn compare(subject: &mut Subject, earlier: Earlier) -> Comparison {
    let earlier = match earlier {
        Ok(earlier) => *earlier,
        Err(reason) => return Comparison { note: Some(reason), ..Comparison::default() },
    };
    let (now, before) = (tests_by_key(&subject.tests), tests_by_key(&earlier.tests));
    let is_disjoint =
        !now.is_empty() && !before.is_empty() && !now.keys().any(|key| before.contains_key(key));

    // Several jobs are no whole: a test that is not among them is no change.
    let is_whole = subject.target.kind().is_some();
    let keys: BTreeSet<_> = now.keys().chain(before.keys().filter(|_| is_whole)).collect();
    let mut lists: [Vec<TestChange>; 4] = Default::default();
    for key in keys {
        // If not every test was read, a test that is missing on one side may exist there.
        let is_known_now = now.contains_key(key) || subject.is_complete;
        let was_known = before.contains_key(key) || earlier.is_complete;
        if is_known_now && was_known {
            add_change(&mut lists, now.get(key), before.get(key));
        }
    }

    let is_complete = subject.is_complete && earlier.is_complete;
    let [new, known, fixed, not_run] = lists.map(|mut list| {
        sort_changes(&mut list);
        // An empty list would say that there is no such change.
        Some(list).filter(|list| is_complete || !list.is_empty())
    });
    let notes = [choice_note(subject, &earlier, is_disjoint), completeness_note(subject, &earlier)];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let with = EarlierResult {
        target_type: earlier.target.target_type().to_owned(),
        target_id: shorten_line(earlier.id(), LONGEST_ID),
        started_at: earlier.started_at().map(|start| shorten_line(&start, LONGEST_WORD)),
        build: earlier.single_build(),
    };
    subject.omissions.extend(earlier.omissions);

    Comparison { with: Some(with), note: filled(&note), new, known, fixed, not_run }
}

/// Adds a test to the list of its change: new, known, fixed or not run. A test that passed now and did not fail before is
/// not a change.
fn add_change(
    [new, known, fixed, not_run]: &mut [Vec<TestChange>; 4],
    now: Option<&EndedTest<'_>>,
    before: Option<&EndedTest<'_>>,
) {
    let list = match (now.map(|(end, _)| end), before.map(|(end, _)| end)) {
        (Some(TestEnd::Failed(..)), Some(TestEnd::Failed(..))) => known,
        (Some(TestEnd::Failed(..)), _) => new,
        (Some(TestEnd::Passed(_)), Some(TestEnd::Failed(..))) => fixed,
        (Some(TestEnd::WithoutVerdict(_)) | None, _) => not_run,
        (Some(TestEnd::Passed(_)), _) => return,
    };
    let Some((_, test)) = now.or(before) else { return };

    list.push(TestChange {
        test: test.test_name(),
        verdict: now.map(|(end, _)| shorten_line(end.word(), LONGEST_WORD)),
        was: before.map(|(end, _)| shorten_line(end.word(), LONGEST_WORD)),
        run_id: now.and_then(|(_, test)| test.short_run_id()),
    });
}

/// Sorts changes by the verdict now, then by the verdict before, the worst first.
fn sort_changes(changes: &mut [TestChange]) {
    let rank = |word: Option<&String>| word.map_or(usize::MAX, |word| verdict_rank(word));
    changes.sort_by_cached_key(|change| {
        let ranks = (rank(change.verdict.as_ref()), rank(change.was.as_ref()));
        (ranks, change.test.clone(), change.run_id.clone())
    });
}

/// Returns a note if the choice of the earlier result is questionable.
fn choice_note(subject: &Subject, earlier: &Subject, is_disjoint: bool) -> Option<&'static str> {
    let start = |subject: &Subject| subject.started_at()?.parse::<jiff::Timestamp>().ok();

    let is_same_kind = subject.target.kind() == earlier.target.kind();
    if is_same_kind && subject.id().eq_ignore_ascii_case(earlier.id()) {
        Some("it is compared with itself")
    } else if is_disjoint {
        Some("the two have no test in common")
    } else if start(subject).zip(start(earlier)).is_some_and(|(now, before)| before > now) {
        Some("the result that it is compared with was started later: `fixed` and `new` are swapped")
    } else {
        None
    }
}

/// Returns a note if tests are missing in the comparison.
fn completeness_note(subject: &Subject, earlier: &Subject) -> Option<&'static str> {
    if !subject.is_complete || !earlier.is_complete {
        return Some(
            "not every test could be read: the missing ones are not compared, and lists without a known change are absent",
        );
    }

    let mut tests = subject.tests.iter().chain(&earlier.tests);
    tests.any(|test| test.key().is_none()).then_some("tests without an id are not compared")
}
