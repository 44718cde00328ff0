//! The comparison with an earlier result: which one, and what has changed since, test by test.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use super::{
    answer::{BaselineName, Comparison, TestChange},
    reading::{
        SummaryReader, TOO_LONG, add_missing_pages, arguments, is_absent, is_partial, read_record, with_tests,
    },
    subject::{LONGEST_ID, LONGEST_WORD, Subject, TestResult, verdict_rank},
};
use crate::{
    call::paging::{MAX_PAGES, ScanEnd},
    failure::Failure,
    service::{
        api::{
            jobs::{Job, ListJobs},
            runs::{ListRuns, Run},
        },
        lenient::view,
        result_kind::{ResultId, ResultKind},
    },
    text::shorten_line,
};

/// Value of `compare_with` that selects the previous result.
const PREVIOUS: &str = "previous";

/// The earlier result, or the reason why there is none.
pub(super) type Baseline = Result<Box<Subject>, String>;

/// Finds the result that `compare_with` selects: the previous one, or the one with this id.
///
/// # Errors
/// Failures that concern the whole summary, such as `project_scope_mismatch`. Other failures become an omission of
/// `subject`.
pub(super) async fn find_baseline(
    reader: &SummaryReader,
    subject: &mut Subject,
    compare_with: &str,
) -> Result<Baseline, Failure> {
    let found = if compare_with.trim().eq_ignore_ascii_case(PREVIOUS) {
        find_previous(reader, subject).await
    } else {
        find_by_id(reader, subject.target.kind().unwrap_or(ResultKind::Execution), compare_with).await
    };

    or_omission(subject, "compare_with", compare_with, found)
}

/// Makes an omission of `subject` of a failure that concerns only the earlier result, which the argument `argument`
/// selects.
pub(super) fn or_omission(
    subject: &mut Subject,
    argument: &'static str,
    value: &str,
    found: Result<Baseline, Failure>,
) -> Result<Baseline, Failure> {
    match found {
        Err(failure) if is_partial(&failure) => {
            subject.omissions.add(argument, value, failure);
            Ok(Err("it could not be read: see `unread`".to_owned()))
        }
        found => found,
    }
}

/// Finds the result with the id `id`, whatever its kind.
async fn find_by_id(reader: &SummaryReader, preferred: ResultKind, id: &str) -> Result<Baseline, Failure> {
    for kind in possible_kinds(id, preferred) {
        match read_record(reader, ResultId::new(kind, id)).await {
            Ok(subject) => return Ok(Ok(Box::new(subject))),
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(Err("no execution, run or job of this project has the id of `compare_with`".to_owned()))
}

/// Returns the kinds that an id may have, the likeliest first. Ids of jobs are UUIDs.
fn possible_kinds(id: &str, preferred: ResultKind) -> Vec<ResultKind> {
    if uuid::Uuid::try_parse(id).is_err() {
        return vec![ResultKind::Run, ResultKind::Execution];
    }

    let others = [ResultKind::Execution, ResultKind::Job, ResultKind::Run];
    let others = others.into_iter().filter(|kind| *kind != preferred);

    [preferred].into_iter().chain(others).collect()
}

/// Finds the latest completed result of the same plan or test that was started before `subject`.
async fn find_previous(reader: &SummaryReader, subject: &mut Subject) -> Result<Baseline, Failure> {
    let Some(kind) = subject.target.kind() else {
        return Ok(Err("several jobs have no previous result: pass the id of one".to_owned()));
    };
    let (found, source) = if kind == ResultKind::Execution {
        let plan = subject.execution.as_ref().and_then(|execution| execution.test_plan_id.clone());
        let Some(plan) = plan else { return Ok(Err("the execution has no test plan".to_owned())) };

        let found = find_earlier_execution(reader, subject, &plan).await?;
        let found = match found {
            Some(earlier) => Some(with_tests(reader, earlier).await),
            None => None,
        };
        (found, "plan")
    } else {
        let Some(test) = subject.tests.first().and_then(|test| test.test_id.clone()) else {
            return Ok(Err("the id of the test is not known".to_owned()));
        };
        (find_earlier_of_test(reader, subject, kind, &test).await?, "test")
    };

    Ok(found.map(Box::new).ok_or_else(|| {
        let what = subject.target.target_type().replace('_', " ");
        format!("there is no earlier completed {what} of the same {source}")
    }))
}

/// Finds the latest earlier execution of a plan.
async fn find_earlier_execution(
    reader: &SummaryReader,
    subject: &mut Subject,
    plan: &str,
) -> Result<Option<Subject>, Failure> {
    let end = reader.scan_executions(plan, &[("status", "completed")], |executions| {
        let earlier = latest_before(subject, executions.into_iter().map(Subject::of_execution));
        earlier.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    });

    match end.await? {
        ScanEnd::Stopped(found) => Ok(Some(found)),
        ScanEnd::LastPage => Ok(None),
        ScanEnd::PageLimit => {
            let pages = format!("{MAX_PAGES} and after");
            subject.omissions.add_skipped("earlier executions of the plan, page", pages, TOO_LONG);
            Ok(None)
        }
    }
}

/// Finds the latest earlier run or job of a test. The order of the list is not specified (service.md 2.2), so that all
/// pages are read.
async fn find_earlier_of_test(
    reader: &SummaryReader,
    subject: &mut Subject,
    kind: ResultKind,
    test: &str,
) -> Result<Option<Subject>, Failure> {
    let of_test = ("multiplayer_test_id", test);
    let (listed, results): (_, Vec<_>) = if kind == ResultKind::Run {
        let filter = arguments(&[of_test, ("state", "completed")]);
        let listed = reader.list_all::<ListRuns>(&filter).await?;
        let runs = listed.records.iter().map(|run| TestResult::from_run(view::<Run>(run).head));
        let results = runs.map(|run| (run.run_id.clone(), run)).collect();
        (listed, results)
    } else {
        let filter = arguments(&[of_test, ("status", "completed")]);
        let listed = reader.list_all::<ListJobs>(&filter).await?;
        let jobs = listed.records.iter().map(|job| TestResult::from_job(view::<Job>(job)));
        let results = jobs.map(|job| (job.job_id.clone(), job)).collect();
        (listed, results)
    };

    add_missing_pages(&mut subject.omissions, &listed, "earlier results of the test, page");
    // A service may ignore the filter.
    let completed = results.into_iter().filter(|(_, test)| test.is_finished());
    let candidate = |(id, test): (Option<String>, TestResult)| {
        Subject::single_test(ResultId::new(kind, id.unwrap_or_default()), test)
    };

    Ok(latest_before(subject, completed.map(candidate)))
}

/// Returns the latest candidate that is older than `subject`. Excludes `subject` itself and other attempts of its job.
/// Candidates without an id become an omission, because they cannot be distinguished from `subject`.
pub(super) fn latest_before(
    subject: &mut Subject,
    candidates: impl Iterator<Item = Subject>,
) -> Option<Subject> {
    let own_age = subject.age();
    let is_older = |candidate: &Subject| match (&own_age, candidate.age()) {
        (Some(own), Some(other)) => other < *own,
        (None, other) => other.is_some(),
        (Some(_), None) => false,
    };
    let (nameless, named): (Vec<_>, Vec<_>) =
        candidates.filter(is_older).partition(|candidate| candidate.id().is_empty());

    if !nameless.is_empty() {
        let reason = "records without an id are not compared with";
        let count = nameless.len().to_string();
        subject.omissions.add_skipped("earlier results without an id:", count, reason);
    }

    latest_other(subject, named.into_iter())
}

/// Returns the latest candidate that is not `subject` itself or another attempt of its job.
pub(super) fn latest_other(subject: &Subject, candidates: impl Iterator<Item = Subject>) -> Option<Subject> {
    let is_own = |candidate: &Subject| {
        let same_job = subject.job_id().is_some() && candidate.job_id() == subject.job_id();
        same_job || candidate.id().eq_ignore_ascii_case(subject.id())
    };
    let others = candidates.filter(|candidate| !is_own(candidate));

    // The ids decide between equal times, so that equal requests have equal answers.
    others.max_by_key(|candidate| {
        (candidate.age(), candidate.job_id().map(str::to_owned), candidate.id().to_owned())
    })
}

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
pub(super) fn compare(subject: &mut Subject, baseline: Baseline) -> Comparison {
    let earlier = match baseline {
        Ok(earlier) => *earlier,
        Err(reason) => return Comparison { note: Some(reason), ..Comparison::default() },
    };

    let (now, before) = (tests_by_key(&subject.tests), tests_by_key(&earlier.tests));
    let is_disjoint =
        !now.is_empty() && !before.is_empty() && !now.keys().any(|key| before.contains_key(key));
    let notes = [choice_note(subject, &earlier, is_disjoint), completeness_note(subject, &earlier)];
    let note = notes.into_iter().flatten().collect::<Vec<_>>().join("; ");

    let mut comparison = Comparison {
        with: Some(name_baseline(&earlier)),
        note: Some(note).filter(|note| !note.is_empty()),
        ..Comparison::default()
    };

    // Several jobs are no whole: a test that is not among them is no change.
    let is_whole = subject.target.kind().is_some();
    let keys: BTreeSet<_> = now.keys().chain(before.keys().filter(|_| is_whole)).collect();
    let mut changes = Changes::default();
    for key in keys {
        // If not every test was read, a test that is missing on one side may exist there.
        let is_known_now = now.contains_key(key) || subject.is_complete;
        let was_known = before.contains_key(key) || earlier.is_complete;
        if is_known_now && was_known {
            changes.add(now.get(key), before.get(key));
        }
    }
    changes.sort();

    let is_complete = subject.is_complete && earlier.is_complete;
    // An empty list would say that there is no such change.
    let known = |list: Vec<TestChange>| Some(list).filter(|list| is_complete || !list.is_empty());
    comparison.newly_failing = known(changes.newly_failing);
    comparison.fixed = known(changes.fixed);
    comparison.still_failing = known(changes.still_failing);
    comparison.not_run = known(changes.not_run);

    subject.omissions.extend(earlier.omissions);

    comparison
}

/// Returns the earlier result as the answer names it.
pub(super) fn name_baseline(earlier: &Subject) -> BaselineName {
    BaselineName {
        target_type: earlier.target.target_type().to_owned(),
        target_id: shorten_line(earlier.id(), LONGEST_ID),
        started_at: earlier.started_at().map(|start| shorten_line(&start, LONGEST_WORD)),
        build: earlier.single_build(),
    }
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
        Some("the result that it is compared with was started later: `fixed` and `newly_failing` are swapped")
    } else {
        None
    }
}

/// Returns a note if tests are missing in the comparison.
pub(super) fn completeness_note(subject: &Subject, earlier: &Subject) -> Option<&'static str> {
    match (subject.is_complete, earlier.is_complete) {
        (true, true) => {
            let mut tests = subject.tests.iter().chain(&earlier.tests);
            tests.any(|test| test.key().is_none()).then_some("tests without an id are not compared")
        }
        (false, true) => Some(
            "not every test could be read: the missing ones are not compared, and lists without a known change are absent",
        ),
        (true, false) => Some(
            "not every earlier test could be read: tests that are missing there are not compared, and lists without a known change are absent",
        ),
        (false, false) => {
            Some("not every test could be read on either side: lists without a known change are absent")
        }
    }
}

/// The tests whose result changed, or that failed again, by their change.
#[derive(Debug, Default)]
struct Changes {
    newly_failing: Vec<TestChange>,
    fixed: Vec<TestChange>,
    still_failing: Vec<TestChange>,
    not_run: Vec<TestChange>,
}

impl Changes {
    /// Adds a test to the list of its change. A test that passed now and did not fail before is not a change.
    fn add(&mut self, now: Option<&EndedTest<'_>>, before: Option<&EndedTest<'_>>) {
        let list = match (now.map(|(end, _)| end), before.map(|(end, _)| end)) {
            (Some(TestEnd::Failed(..)), Some(TestEnd::Failed(..))) => &mut self.still_failing,
            (Some(TestEnd::Failed(..)), _) => &mut self.newly_failing,
            (Some(TestEnd::Passed(_)), Some(TestEnd::Failed(..))) => &mut self.fixed,
            (Some(TestEnd::WithoutVerdict(_)) | None, _) => &mut self.not_run,
            (Some(TestEnd::Passed(_)), _) => return,
        };

        list.extend(change(now, before));
    }

    fn sort(&mut self) {
        let Self { newly_failing, fixed, still_failing, not_run } = self;
        for list in [newly_failing, fixed, still_failing, not_run] {
            sort_changes(list);
        }
    }
}

/// Returns the entry of a test with its end now and before; `None` if it has neither.
pub(super) fn change(now: Option<&EndedTest<'_>>, before: Option<&EndedTest<'_>>) -> Option<TestChange> {
    let (_, test) = now.or(before)?;

    Some(TestChange {
        test: test.test_name(),
        verdict: now.map(|(end, _)| end.word()),
        was: before.map(|(end, _)| end.word()),
        run_id: now.and_then(|(_, test)| test.short_run_id()),
    })
}

/// Sorts changes by the verdict now, then by the verdict before, the worst first.
pub(super) fn sort_changes(changes: &mut [TestChange]) {
    let rank = |word: Option<&String>| word.map_or(usize::MAX, |word| verdict_rank(word));
    changes.sort_by_cached_key(|change| {
        let ranks = (rank(change.verdict.as_ref()), rank(change.was.as_ref()));
        (ranks, change.test.clone(), change.run_id.clone())
    });
}

#[cfg(test)]
mod tests {
    use super::{ResultKind, possible_kinds};

    #[test]
    fn an_id_that_is_no_uuid_is_not_looked_up_as_a_job() {
        let uuid = "3126ec62-851c-4a5f-bce1-dd354c0912de";
        let (run, job, execution) = (ResultKind::Run, ResultKind::Job, ResultKind::Execution);
        assert_eq!(possible_kinds("hui4d9ilmby", job), [run, execution]);
        assert_eq!(possible_kinds(uuid, run), [run, execution, job]);
        assert_eq!(possible_kinds(uuid, execution), [execution, job, run]);
    }
}
