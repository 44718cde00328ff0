//! Which earlier result a summary is compared with: the one with an id, the previous one, the latest that passed, or the
//! latest one on a build.

use std::cmp::Reverse;

use indexmap::IndexSet;

use super::{
    reading::{TOO_LONG, group_by_job, is_absent, is_partial, list, read_record, with_tests},
    result::TestResult,
    subject::Subject,
};
use crate::{
    call::paging::MAX_PAGES,
    failure::Failure,
    fields::Fields,
    service::{
        api::{
            executions::{ListTestPlanExecutions, TestPlanExecution},
            runs::ListRuns,
        },
        lenient::view,
        record_kind::{ResultId, ResultKind},
    },
    text::{quoted_argument, shorten_line},
    tools::{
        reader::{Reader, ScanEnd, arguments},
        waiting::LONGEST_NAME,
    },
};

/// Number of builds that a note names.
const NAMED_BUILDS: usize = 5;

/// The earlier result, or the reason why there is none.
pub(super) type Earlier = Result<Box<Subject>, String>;

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

    /// Returns the latest finished candidate that is wanted. Excludes `subject` itself and other attempts of its job.
    fn latest(self, subject: &Subject, candidates: impl Iterator<Item = Subject>) -> Option<Subject> {
        let own_age = subject.age();
        let is_older = |other: &Subject| match (&own_age, other.age()) {
            (Some(own), Some(age)) => age < *own,
            (None, age) => age.is_some(),
            (Some(_), None) => false,
        };
        let is_other = |other: &Subject| {
            let same_job = subject.job_id().is_some() && other.job_id() == subject.job_id();
            !other.id().is_empty() && !same_job && !other.id().eq_ignore_ascii_case(subject.id())
        };
        let is_wanted = |other: &Subject| match self {
            Self::Previous => is_older(other),
            Self::LatestPassed => is_older(other) && other.has_passed(),
            Self::OnBuild(build) => is_on_build(other, build),
        };

        let candidates =
            candidates.filter(|other| other.is_finished() && is_other(other) && is_wanted(other));
        // The ids decide between equal times, so that equal requests have equal answers.
        candidates.max_by_key(|other| (other.age(), other.id().to_owned()))
    }

    /// Returns why there is no result. `builds` are those of finished results, the newest first.
    fn note(self, noun: &str, builds: &IndexSet<String>) -> String {
        match self {
            Self::Previous => format!("there is no earlier completed {noun}"),
            Self::LatestPassed => format!("no earlier {noun} has passed completely"),
            Self::OnBuild(build) => {
                let known: Vec<_> =
                    builds.iter().take(NAMED_BUILDS).map(|name| format!("`{name}`")).collect();
                let others = if known.is_empty() {
                    String::new()
                } else {
                    format!("; there are some with {}", known.join(", "))
                };
                let build = quoted_argument(build);
                format!(
                    "`{build}` is no id of a result of this project, and no other finished {noun} is with such a build{others}"
                )
            }
        }
    }
}

/// Returns whether a result tests the build with this name or id alone. Letter case does not matter.
fn is_on_build(candidate: &Subject, build: &str) -> bool {
    let Some(tested) = candidate.single_build() else { return false };
    tested.id.eq_ignore_ascii_case(build) || tested.name.is_some_and(|name| name.eq_ignore_ascii_case(build))
}

/// Finds the result that `compare_with` selects.
///
/// # Errors
/// Failures that concern the whole summary, such as `project_scope_mismatch`. Other failures become an omission of
/// `subject`.
pub(super) async fn find_earlier(
    reader: &Reader,
    subject: &mut Subject,
    compare_with: &str,
) -> Result<Earlier, Failure> {
    match find(reader, subject, compare_with).await {
        Err(failure) if is_partial(&failure) => {
            subject.omissions.add("compare_with", compare_with, failure);
            Ok(Err("it could not be read: see `unread`".to_owned()))
        }
        found => found,
    }
}

async fn find(reader: &Reader, subject: &mut Subject, compare_with: &str) -> Result<Earlier, Failure> {
    let wanted = Wanted::new(compare_with);
    if let Wanted::OnBuild(id) = wanted
        && let Some(found) = find_by_id(reader, subject.target.kind(), id).await?
    {
        return Ok(Ok(Box::new(found)));
    }

    match subject.target.kind() {
        Some(ResultKind::Execution) => find_execution(reader, subject, wanted).await,
        Some(kind) => find_run(reader, subject, kind, wanted).await,
        None => Ok(Err("several jobs have no earlier result: pass the id of one".to_owned())),
    }
}

/// Returns the result with the id `id`, whatever its kind.
async fn find_by_id(
    reader: &Reader,
    preferred: Option<ResultKind>,
    id: &str,
) -> Result<Option<Subject>, Failure> {
    for kind in possible_kinds(id, preferred.unwrap_or(ResultKind::Execution)) {
        match read_record(reader, ResultId::new(kind, id)).await {
            Ok(subject) => return Ok(Some(subject)),
            Err(failure) if is_absent(&failure) => {}
            Err(failure) => return Err(failure),
        }
    }

    Ok(None)
}

/// Returns the kinds that an id may have, the likeliest first. Ids of jobs are UUIDs, and no id contains a space.
fn possible_kinds(id: &str, preferred: ResultKind) -> Vec<ResultKind> {
    if id.contains(char::is_whitespace) {
        return Vec::new();
    }
    if uuid::Uuid::try_parse(id).is_err() {
        return vec![ResultKind::Run, ResultKind::Execution];
    }

    let others = [ResultKind::Execution, ResultKind::Job, ResultKind::Run];
    let others = others.into_iter().filter(|kind| *kind != preferred);

    [preferred].into_iter().chain(others).collect()
}

async fn find_execution(
    reader: &Reader,
    subject: &mut Subject,
    wanted: Wanted<'_>,
) -> Result<Earlier, Failure> {
    let plan = subject.execution.as_ref().and_then(|execution| execution.test_plan_id.clone());
    let Some(plan) = plan else { return Ok(Err("the execution has no test plan".to_owned())) };

    let mut builds = IndexSet::new();
    let filter = executions_of(&plan, &[("status", "completed")]);
    let end = reader.scan::<ListTestPlanExecutions, _>(&filter, |page| {
        let executions = page.iter().map(|one| Subject::of_execution(view::<TestPlanExecution>(one)));
        let executions: Vec<_> = executions.collect();
        builds.extend(executions.iter().filter_map(build_name));
        wanted.latest(subject, executions.into_iter())
    });

    match end.await? {
        ScanEnd::Found(found) => return Ok(Ok(Box::new(with_tests(reader, found).await))),
        ScanEnd::LastPage => {}
        ScanEnd::PageLimit => {
            let pages = format!("{MAX_PAGES} and after");
            subject.omissions.add_skipped("executions of the plan, page", pages, TOO_LONG);
        }
    }

    Ok(Err(wanted.note("execution of this plan", &builds)))
}

/// Returns the filter of the list of the executions of a plan, those that were started last first.
pub(super) fn executions_of(plan: &str, more: &[(&str, &str)]) -> Fields {
    let order = [("test_plan_id", plan), ("sort_by", "start_time"), ("sort_order", "desc")];
    arguments(order.iter().chain(more))
}

/// Finds the run or the job of the same test. The order of the list is not specified (service.md 2.2), so that all pages
/// are read. Only runs name their builds, so that they are read for jobs, too.
async fn find_run(
    reader: &Reader,
    subject: &mut Subject,
    kind: ResultKind,
    wanted: Wanted<'_>,
) -> Result<Earlier, Failure> {
    let Some(test) = subject.tests.first().and_then(|test| test.test_id.clone()) else {
        return Ok(Err("the id of the test is not known".to_owned()));
    };

    let filter = arguments(&[("multiplayer_test_id", test.as_str()), ("state", "completed")]);
    let listed = list::<ListRuns>(reader, &filter, &mut subject.omissions, "runs of the test, page").await?;
    let mut results = results_of_runs(kind, group_by_job(listed.records));
    results.sort_by_cached_key(|result| Reverse(result.age()));

    let builds = results.iter().filter_map(build_name).collect();
    let found = wanted.latest(subject, results.into_iter()).map(Box::new);
    let noun = if kind == ResultKind::Run { "run of this test" } else { "job of this test" };

    Ok(found.ok_or_else(|| wanted.note(noun, &builds)))
}

pub(super) fn results_of_runs(kind: ResultKind, tests: Vec<TestResult>) -> Vec<Subject> {
    let result = |test: TestResult| {
        let id = if kind == ResultKind::Job { &test.job_id } else { &test.run_id };
        Subject::of_test(ResultId::new(kind, id.clone().unwrap_or_default()), test)
    };
    tests.into_iter().map(result).collect()
}

/// Returns the name of the only build of a result, else its id.
pub(super) fn build_name(subject: &Subject) -> Option<String> {
    let build = subject.single_build()?;
    Some(shorten_line(&build.name.unwrap_or(build.id), LONGEST_NAME))
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
        assert!(possible_kinds("build 1", execution).is_empty());
    }
}
