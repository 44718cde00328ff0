//! What has changed, test by test, since an earlier result: the one with an id, the previous one, the latest that passed,
//! or the latest one on a build.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use super::{
    answer::{Comparison, EarlierResult, TestChange},
    reading::{is_absent, is_partial, read_results, subject_of, with_tests},
    result::{Outcome, Subject, TestResult, verdict_rank},
};
use crate::{
    failure::Failure,
    service::record_kind::ResultKind,
    text::{filled, quoted_argument},
    tools::{reader::Reader, unread::Unread},
};

/// Number of builds that a note names.
const NAMED_BUILDS: usize = 5;

/// Notes about a comparison that is not what a reader expects.
const STARTED_LATER: &str =
    "the result that it is compared with was started later: `fixed` and `new` are swapped";
const NOT_ALL_READ: &str = "not every test could be read: the missing ones are not compared, and lists without a known change are absent";

/// What a caller wants to compare with.
#[derive(Clone, Copy, Debug)]
enum Wanted<'a> {
    /// The latest result before this one.
    Previous,
    /// The latest result before this one in which everything passed.
    LatestPassed,
    /// The latest other result on the build with this name or id.
    OnBuild(&'a str),
}

impl<'a> Wanted<'a> {
    fn new(compare_with: &'a str) -> Self {
        match compare_with.trim() {
            word if word.eq_ignore_ascii_case("previous") => Self::Previous,
            word if word.eq_ignore_ascii_case("latest-passed") => Self::LatestPassed,
            build => Self::OnBuild(build),
        }
    }

    /// Returns the latest finished result that is wanted. Excludes `subject` itself and other attempts of its job.
    fn latest<'s>(self, subject: &Subject, results: &'s [Subject]) -> Option<&'s Subject> {
        let own_age = subject.age();
        let is_older = |other: &Subject| {
            other.age().is_some_and(|age| own_age.as_ref().is_none_or(|own_age| age < *own_age))
        };
        let is_other = |other: &Subject| {
            let same_job = subject.job_id().is_some() && other.job_id() == subject.job_id();
            !same_job && !other.id().eq_ignore_ascii_case(subject.id())
        };
        let is_wanted = |other: &&Subject| match self {
            Self::Previous => is_older(other),
            Self::LatestPassed => is_older(other) && other.has_passed(),
            Self::OnBuild(build) => is_on_build(other, build),
        };

        let finished = results.iter().filter(|other| other.is_finished() && is_other(other));
        finished.filter(is_wanted).max_by_key(|other| (other.age(), other.id().to_owned()))
    }

    /// Returns why there is no such result among `results`, the newest first.
    fn note(self, noun: &str, results: &[Subject]) -> String {
        let build = match self {
            Self::Previous => return format!("there is no earlier completed {noun}"),
            Self::LatestPassed => return format!("no earlier {noun} has passed completely"),
            Self::OnBuild(build) => quoted_argument(build),
        };
        let finished = results.iter().filter(|result| result.is_finished());
        let builds: IndexSet<_> = finished.filter_map(build_name).collect();
        let named: Vec<_> = builds.iter().take(NAMED_BUILDS).map(|name| format!("`{name}`")).collect();
        let others = filled(&named.join(", ")).map(|names| format!("; there are some with {names}"));
        let others = others.unwrap_or_default();

        format!(
            "`{build}` is no id of a result of this project, and no other finished {noun} is with such a build{others}"
        )
    }
}

/// Returns whether a result tests the build with this name or id alone. Letter case does not matter.
fn is_on_build(result: &Subject, build: &str) -> bool {
    let Some(tested) = result.single_build() else { return false };
    tested.id.eq_ignore_ascii_case(build) || tested.name.is_some_and(|name| name.eq_ignore_ascii_case(build))
}

/// Returns the name of the only build of a result, else its id.
pub(super) fn build_name(subject: &Subject) -> Option<String> {
    subject.single_build().map(|build| build.name.unwrap_or(build.id))
}

/// Compares `subject` with the result that `compare_with` selects. What could not be read becomes an omission of
/// `subject`.
///
/// # Errors
/// Failures that concern the whole summary, such as `project_scope_mismatch`.
pub(super) async fn compare(
    reader: &Reader,
    subject: &mut Subject,
    compare_with: &str,
) -> Result<Comparison, Failure> {
    let mut unread = Unread::default();
    let found = find_earlier(reader, subject, &mut unread, Wanted::new(compare_with)).await;
    let noted = |note| Comparison { note: Some(note), ..Comparison::default() };
    let comparison = match found {
        Ok(Ok(earlier)) => {
            unread.extend(earlier.unread.clone());
            changes_since(subject, &earlier)
        }
        Ok(Err(reason)) => noted(reason),
        Err(failure) if is_partial(&failure) => {
            unread.add("compare_with", compare_with, &failure);
            noted("it could not be read: see `unread`".to_owned())
        }
        Err(failure) => return Err(failure),
    };
    subject.unread.extend(unread);

    Ok(comparison)
}

/// Finds the earlier result, or the reason why there is none.
async fn find_earlier(
    reader: &Reader,
    subject: &Subject,
    unread: &mut Unread,
    wanted: Wanted<'_>,
) -> Result<Result<Subject, String>, Failure> {
    if let Wanted::OnBuild(id) = wanted {
        match reader.find_result(id).await {
            Ok(found) => return Ok(Ok(subject_of(reader, found).await)),
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
    if let Some(reason) = subject.why_alone() {
        return Ok(Err(reason.to_owned()));
    }

    let (kind, noun) = match subject.target.kind() {
        Some(ResultKind::Execution) => (ResultKind::Execution, "execution of this plan"),
        Some(ResultKind::Job) => (ResultKind::Job, "job of this test"),
        _ => (ResultKind::Run, "run of this test"),
    };
    let is_found = |results: &[Subject]| wanted.latest(subject, results).is_some();
    let results = read_results(reader, subject, unread, kind, is_found).await?;

    Ok(match wanted.latest(subject, &results).cloned() {
        Some(execution) if kind == ResultKind::Execution => Ok(with_tests(reader, execution).await),
        found => found.ok_or_else(|| wanted.note(noun, &results)),
    })
}

/// Returns the tests by their keys. Of several jobs of one test, the worst counts.
pub(super) fn tests_by_key(tests: &[TestResult]) -> BTreeMap<String, &TestResult> {
    let mut keyed: Vec<_> = tests.iter().map(|test| (test.key(), test)).collect();
    keyed.sort_by_cached_key(|(_, test)| {
        let word = test.word().to_owned();
        (test.outcome(), verdict_rank(&word), word, test.run_id.clone())
    });

    // Of equal keys, the last one stays.
    keyed.into_iter().rev().collect()
}

fn changes_since(subject: &Subject, earlier: &Subject) -> Comparison {
    let (now, before) = (tests_by_key(&subject.tests), tests_by_key(&earlier.tests));

    // Several jobs are no whole: a test that is not among them is no change.
    let is_whole = subject.target.kind().is_some();
    let keys: BTreeSet<_> = now.keys().chain(before.keys().filter(|_| is_whole)).collect();
    let mut lists: [Vec<TestChange>; 4] = Default::default();
    for key in keys {
        // If not every test was read, a test that is missing on one side may exist there.
        let (now, before) = (now.get(key).copied(), before.get(key).copied());
        if (now.is_some() || subject.is_complete) && (before.is_some() || earlier.is_complete) {
            add_change(&mut lists, now, before);
        }
    }

    let is_complete = subject.is_complete && earlier.is_complete;
    let [new, known, fixed, not_run] = lists.map(|mut list| {
        sort_changes(&mut list);
        // An empty list would say that there is no such change.
        Some(list).filter(|list| is_complete || !list.is_empty())
    });
    let mut notes = Vec::new();
    if subject.age().is_some_and(|age| earlier.age() > Some(age)) {
        notes.push(STARTED_LATER);
    }
    if !is_complete {
        notes.push(NOT_ALL_READ);
    }
    let with = EarlierResult {
        target_type: earlier.target.target_type().to_owned(),
        target_id: earlier.id().to_owned(),
        started_at: earlier.started_at(),
        build: earlier.single_build(),
    };

    Comparison { with: Some(with), note: filled(&notes.join("; ")), new, known, fixed, not_run }
}

/// Adds a test to the list of its change: new, known, fixed or not run. A test that passed now and did not fail before is
/// not a change.
fn add_change(
    [new, known, fixed, not_run]: &mut [Vec<TestChange>; 4],
    now: Option<&TestResult>,
    before: Option<&TestResult>,
) {
    use Outcome::{Failed, Passed, WithoutVerdict};

    let list = match (now.map(TestResult::outcome), before.map(TestResult::outcome)) {
        (Some(Failed), Some(Failed)) => known,
        (Some(Failed), _) => new,
        (Some(Passed), Some(Failed)) => fixed,
        (Some(WithoutVerdict) | None, _) => not_run,
        (Some(Passed), _) => return,
    };
    let word = |test: &TestResult| test.word().to_owned();

    list.push(TestChange {
        test: now.or(before).map(TestResult::test_name).unwrap_or_default(),
        verdict: now.map(word),
        was: before.map(word),
        run_id: now.and_then(|test| test.run_id.clone()),
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
