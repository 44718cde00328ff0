//! The comparison with a baseline build: which failures are new since its last finished result, which were known there,
//! and which are fixed.

use std::ops::ControlFlow;

use indexmap::IndexSet;

use super::{
    answer::{BaselineComparison, TestChange},
    comparison::{
        Baseline, TestEnd, change, completeness_note, latest_before, latest_other, name_baseline,
        or_omission, sort_changes, tests_by_key,
    },
    reading::{SummaryReader, TOO_LONG, add_missing_pages, arguments, with_tests},
    subject::{Subject, TestResult},
};
use crate::{
    call::paging::{MAX_PAGES, ScanEnd},
    failure::Failure,
    service::{
        api::runs::{ListRuns, Run},
        lenient::view,
        result_kind::{ResultId, ResultKind},
    },
    text::{quoted_argument, shorten_line},
    tools::waiting::LONGEST_NAME,
};

/// Value of `baseline` that selects the last result before the summarized one in which everything passed.
pub(super) const LATEST_PASSED: &str = "latest-passed";

/// Number of builds that a note names.
const NAMED_BUILDS: usize = 5;

/// Which results can be the baseline.
enum Wanted<'a> {
    LatestPassed,
    /// Name or id of the build.
    Build(&'a str),
}

impl<'a> Wanted<'a> {
    fn new(baseline: &'a str) -> Self {
        match baseline.trim() {
            word if word.eq_ignore_ascii_case(LATEST_PASSED) => Self::LatestPassed,
            build => Self::Build(build),
        }
    }

    /// Returns the last finished result among the candidates that can be the baseline of `subject`.
    fn latest(&self, subject: &mut Subject, candidates: impl Iterator<Item = Subject>) -> Option<Subject> {
        let finished = candidates.filter(Subject::is_finished);
        match self {
            Self::LatestPassed => latest_before(subject, finished.filter(Subject::has_passed)),
            Self::Build(build) => {
                let on_build = finished.filter(|candidate| is_on_build(candidate, build));
                latest_other(subject, on_build.filter(|candidate| !candidate.id().is_empty()))
            }
        }
    }

    /// Returns why there is no baseline. `known` are the builds of finished results, the newest first.
    fn note(&self, noun: &str, known: &IndexSet<String>) -> String {
        match self {
            Self::LatestPassed => format!("no earlier {noun} has passed completely"),
            Self::Build(build) => {
                let known: Vec<_> = known.iter().take(NAMED_BUILDS).map(|name| format!("`{name}`")).collect();
                let others = if known.is_empty() {
                    String::new()
                } else {
                    format!("; there are some with {}", known.join(", "))
                };
                format!("no other finished {noun} is with the build `{}`{others}", quoted_argument(build))
            }
        }
    }
}

/// Returns whether a result tests the build with this name or id alone. Letter case does not matter.
fn is_on_build(candidate: &Subject, build: &str) -> bool {
    let Some(tested) = candidate.single_build() else { return false };
    tested.id.eq_ignore_ascii_case(build) || tested.name.is_some_and(|name| name.eq_ignore_ascii_case(build))
}

/// Finds the last finished result of the same plan or test that `baseline` selects: a build by name or id, or
/// `latest-passed`.
///
/// # Errors
/// Failures that concern the whole summary. Other failures become an omission of `subject`.
pub(super) async fn find_on_build(
    reader: &SummaryReader,
    subject: &mut Subject,
    baseline: &str,
) -> Result<Baseline, Failure> {
    let wanted = Wanted::new(baseline);
    let found = match subject.target.kind() {
        Some(ResultKind::Execution) => find_execution(reader, subject, &wanted).await,
        Some(ResultKind::Run | ResultKind::Job) => find_run(reader, subject, &wanted).await,
        None => Ok(Err("several jobs have no common baseline: summarize one job at a time".to_owned())),
    };

    or_omission(subject, "baseline", baseline, found)
}

async fn find_execution(
    reader: &SummaryReader,
    subject: &mut Subject,
    wanted: &Wanted<'_>,
) -> Result<Baseline, Failure> {
    let plan = subject.execution.as_ref().and_then(|execution| execution.test_plan_id.clone());
    let Some(plan) = plan else { return Ok(Err("the execution has no test plan".to_owned())) };

    let mut builds = IndexSet::new();
    let end = reader.scan_executions(&plan, &[("status", "completed")], |executions| {
        let executions: Vec<_> = executions.into_iter().map(Subject::of_execution).collect();
        builds.extend(executions.iter().filter_map(build_name));
        let found = wanted.latest(subject, executions.into_iter());
        found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    });

    match end.await? {
        ScanEnd::Stopped(found) => return Ok(Ok(Box::new(with_tests(reader, found).await))),
        ScanEnd::LastPage => {}
        ScanEnd::PageLimit => {
            let pages = format!("{MAX_PAGES} and after");
            subject.omissions.add_skipped("executions of the plan, page", pages, TOO_LONG);
        }
    }

    Ok(Err(wanted.note("execution of this plan", &builds)))
}

/// Finds the run of the same test. The records of jobs do not name their builds, so that runs are searched for jobs, too.
async fn find_run(
    reader: &SummaryReader,
    subject: &mut Subject,
    wanted: &Wanted<'_>,
) -> Result<Baseline, Failure> {
    let Some(test) = subject.tests.first().and_then(|test| test.test_id.clone()) else {
        return Ok(Err("the id of the test is not known".to_owned()));
    };

    let filter = arguments(&[("multiplayer_test_id", test.as_str()), ("state", "completed")]);
    let listed = reader.list_all::<ListRuns>(&filter).await?;
    add_missing_pages(&mut subject.omissions, &listed, "runs of the test, page");

    let mut runs: Vec<_> = listed
        .records
        .iter()
        .map(|run| {
            let test = TestResult::from_run(view::<Run>(run).head);
            let id = test.run_id.clone().unwrap_or_default();
            Subject::single_test(ResultId::new(ResultKind::Run, id), test)
        })
        .collect();
    runs.sort_by_cached_key(|run| std::cmp::Reverse(run.age()));

    let builds = runs.iter().filter_map(build_name).collect();
    let found = wanted.latest(subject, runs.into_iter()).map(Box::new);

    Ok(found.ok_or_else(|| wanted.note("run of this test", &builds)))
}

fn build_name(subject: &Subject) -> Option<String> {
    let build = subject.single_build()?;
    Some(shorten_line(&build.name.unwrap_or(build.id), LONGEST_NAME))
}

/// Splits the failures of `subject` against the baseline. The omissions of the baseline are added to those of
/// `subject`.
pub(super) fn compare_with_baseline(subject: &mut Subject, baseline: Baseline) -> BaselineComparison {
    let earlier = match baseline {
        Ok(earlier) => *earlier,
        Err(reason) => return BaselineComparison { note: Some(reason), ..BaselineComparison::default() },
    };
    let (now, before) = (tests_by_key(&subject.tests), tests_by_key(&earlier.tests));
    let mut lists: [Vec<TestChange>; 4] = Default::default();

    for (key, test) in &now {
        let was = before.get(key);
        let [new, known, fixed, without_verdict] = &mut lists;
        let list = match (&test.0, was.map(|(end, _)| end)) {
            (TestEnd::Failed(..), Some(TestEnd::Passed(_))) => new,
            (TestEnd::Failed(..), Some(TestEnd::Failed(..))) => known,
            (TestEnd::Failed(..), Some(TestEnd::WithoutVerdict(_)) | None) => without_verdict,
            (TestEnd::Passed(_), Some(TestEnd::Failed(..))) => fixed,
            (TestEnd::Passed(_) | TestEnd::WithoutVerdict(_), _) => continue,
        };
        list.extend(change(Some(test), was));
    }
    for list in &mut lists {
        sort_changes(list);
    }

    let is_complete = subject.is_complete && earlier.is_complete;
    // An empty list would say that there is no such test.
    let [new, known, fixed, without_verdict] =
        lists.map(|list| Some(list).filter(|list| is_complete || !list.is_empty()));
    let note = completeness_note(subject, &earlier).map(str::to_owned);
    let with = Some(name_baseline(&earlier));
    subject.omissions.extend(earlier.omissions);

    BaselineComparison { with, note, new, known, fixed, without_verdict }
}
