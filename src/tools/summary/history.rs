//! The history of a plan or a test: its last results as a grid with one letter for each, and why tests failed whose
//! result changed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;

use super::{
    LatestResult, SummaryTarget,
    answer::{History, HistoryCause, HistoryResult, HistoryTest, StepName, TestName},
    cause::FailureCause,
    failures::normalize,
    reading::{SummaryReader, add_missing_pages, arguments, group_by_job, is_partial, with_tests},
    subject::{LONGEST_WORD, Subject},
    trend::{CONCURRENT_EXECUTIONS, TrendResult, TrendTest, build_grid, list_executions, verdict_letter},
};
use crate::{
    call::paging::{MAX_CONCURRENT_REQUESTS, deduplicate},
    failure::Failure,
    service::{
        api::{
            Id,
            runs::{GetRun, ListRuns, Run},
        },
        lenient::view,
        result_kind::{ResultId, ResultKind},
    },
    text::{shorten_line, visible},
};

/// Number of failures of a test whose causes are read, the newest ones.
const CAUSES_OF_TEST: usize = 3;

/// Largest number of failures whose causes are read.
const MOST_CAUSES: usize = 60;

/// Longest id, longest build and longest time of a result, in characters. Thirty results leave room for tests.
const LONGEST_ID: usize = 40;
const LONGEST_BUILD: usize = 32;
const LONGEST_TIME: usize = 20;

/// Verdicts that are no failure of a test.
const WITHOUT_CAUSE: [&str; 3] = ["SUCCESS", "running", "no_run"];

/// Reads the last `count` results of the plan or the test `target`. `subject` is the latest one. What could not be read
/// becomes an omission of `subject`.
///
/// # Errors
/// Failures that concern the whole summary.
pub(super) async fn read_history(
    reader: &SummaryReader,
    subject: &mut Subject,
    target: &SummaryTarget,
    count: usize,
) -> Result<Option<History>, Failure> {
    let results = match target {
        SummaryTarget::Latest(LatestResult::OfPlan(plan)) => {
            executions_of_plan(reader, subject, plan, count).await
        }
        SummaryTarget::Latest(LatestResult::OfTest(test)) => runs_of_test(reader, subject, test, count).await,
        SummaryTarget::Latest(LatestResult::OfProject) | SummaryTarget::Results(_) => return Ok(None),
    };
    let results = match results {
        Err(failure) if is_partial(&failure) => {
            subject.omissions.add("history", "", failure);
            return Ok(None);
        }
        results => results?,
    };

    let rows = build_grid(&results);
    let causes = read_causes(reader, subject, &rows, &results).await;

    Ok(Some(History::new(&results, rows, causes)))
}

/// Returns the last executions of a plan with their tests, the oldest first.
async fn executions_of_plan(
    reader: &SummaryReader,
    subject: &mut Subject,
    plan: &str,
    count: usize,
) -> Result<Vec<Subject>, Failure> {
    let listed = list_executions(reader, plan, count).await?;
    // The tests of the latest execution are known.
    let is_known = |execution: &Subject| execution.id().eq_ignore_ascii_case(subject.id());
    let others: Vec<_> = listed.iter().filter(|execution| !is_known(execution)).cloned().collect();

    let reads: Vec<_> = others.into_iter().map(|execution| with_tests(reader, execution)).collect();
    let read: Vec<_> = stream::iter(reads).buffered(CONCURRENT_EXECUTIONS).collect().await;

    let mut read = read.into_iter();
    let results: Vec<_> = listed
        .iter()
        .filter_map(|execution| if is_known(execution) { Some(subject.clone()) } else { read.next() })
        .collect();
    for result in results.iter().filter(|result| result.target != subject.target) {
        subject.omissions.extend(result.omissions.clone());
    }

    Ok(results)
}

/// Returns the last runs of a test, the oldest first. Attempts of one job are one result.
async fn runs_of_test(
    reader: &SummaryReader,
    subject: &mut Subject,
    test: &str,
    count: usize,
) -> Result<Vec<Subject>, Failure> {
    let listed = reader.list_all::<ListRuns>(&arguments(&[("multiplayer_test_id", test)])).await?;
    add_missing_pages(&mut subject.omissions, &listed, "runs of the test, page");

    let runs = deduplicate(listed.records, ResultKind::Run.id_field());
    let jobs = group_by_job(runs.iter().map(|run| view::<Run>(run).head)).into_iter();
    let mut results: Vec<_> = jobs
        .map(|test| {
            let id = test.run_id.clone().unwrap_or_default();
            Subject::single_test(ResultId::new(ResultKind::Run, id), test)
        })
        .collect();
    results.sort_by_cached_key(Subject::age);
    let mut results = results.split_off(results.len().saturating_sub(count));

    // The record of the latest run is known.
    for result in results.iter_mut().filter(|result| result.target == subject.target) {
        for (test, known) in result.tests.iter_mut().zip(&subject.tests) {
            test.cause.clone_from(&known.cause);
        }
    }

    Ok(results)
}

/// A failure of a test whose result changed.
struct ChangingFailure {
    row: usize,
    /// Number of the result, from 1.
    number: usize,
    verdict: String,
    run_id: String,
    cause: Option<FailureCause>,
}

/// Returns the newest failures of the rows that change, with their causes as far as they could be read.
async fn read_causes(
    reader: &SummaryReader,
    subject: &mut Subject,
    rows: &[TrendTest],
    results: &[Subject],
) -> Vec<ChangingFailure> {
    let mut failures: Vec<_> =
        rows.iter().enumerate().flat_map(|(row, test)| newest_failures(row, test)).collect();
    // The newest failure of each test comes first.
    failures.sort_by_key(|(place, failure)| (*place, failure.row));
    let mut failures: Vec<_> = failures.into_iter().map(|(_, failure)| failure).collect();

    let failing: BTreeSet<_> = failures.iter().map(|failure| failure.row).collect();
    failures.truncate(MOST_CAUSES);
    let read: BTreeSet<_> = failures.iter().map(|failure| failure.row).collect();
    if failing.len() > read.len() {
        let skipped = (failing.len() - read.len()).to_string();
        subject.omissions.add_skipped("causes of changing tests:", skipped, "a history reads no more runs");
    }

    let known: BTreeMap<_, _> = results
        .iter()
        .flat_map(|result| &result.tests)
        .filter_map(|test| Some((test.run_id.as_ref()?, test.cause.as_ref()?)))
        .collect();
    for failure in &mut failures {
        failure.cause = known.get(&failure.run_id).map(|cause| (*cause).clone());
    }

    let unknown: Vec<_> = failures.iter_mut().filter(|failure| failure.cause.is_none()).collect();
    reader.remember_runs(unknown.iter().map(|failure| &failure.run_id));
    let reads: Vec<_> = unknown.into_iter().map(|failure| read_cause(reader, failure)).collect();
    let mut reads = stream::iter(reads).buffer_unordered(MAX_CONCURRENT_REQUESTS);
    while let Some(unread) = reads.next().await {
        if let Some((run_id, failure)) = unread {
            subject.omissions.add("run", run_id, failure);
        }
    }
    drop(reads);

    failures
}

/// Returns the newest failures of a row, each with its place among them. A row that does not change has none.
fn newest_failures(row: usize, test: &TrendTest) -> Vec<(usize, ChangingFailure)> {
    let failure = |(index, result): (usize, &Option<TrendResult>)| {
        let result = result.as_ref().filter(|result| !WITHOUT_CAUSE.contains(&result.verdict.as_str()))?;
        let (verdict, run_id) = (result.verdict.clone(), result.run_id.clone()?);
        Some(ChangingFailure { row, number: index + 1, verdict, run_id, cause: None })
    };
    let failures = test.results.iter().enumerate().rev().filter_map(failure);

    failures.take(if is_changing(test) { CAUSES_OF_TEST } else { 0 }).enumerate().collect()
}

/// Reads why a run failed. Returns its id and the failure if it could not be read.
async fn read_cause(reader: &SummaryReader, failure: &mut ChangingFailure) -> Option<(String, Failure)> {
    match reader.read(&GetRun { run_id: Id(failure.run_id.clone()) }).await {
        Ok(run) => {
            failure.cause = Some(FailureCause::from_run(&run, &failure.verdict));
            None
        }
        Err(unread) => Some((failure.run_id.clone(), unread)),
    }
}

/// Returns whether the verdict of a test changed, or the test is flaky.
fn is_changing(test: &TrendTest) -> bool {
    let verdicts = test.results.iter().flatten().map(|result| result.verdict.as_str());
    let verdicts: BTreeSet<_> = verdicts.filter(|verdict| *verdict != "running").collect();
    verdicts.len() > 1 || test.flaky.is_some()
}

impl History {
    /// Creates the history of these results from the rows of their grid. The rows that change come first.
    fn new(results: &[Subject], rows: Vec<TrendTest>, failures: Vec<ChangingFailure>) -> Self {
        let letters = rows.iter().flat_map(|row| &row.results).map(|result| verdict_letter(result.as_ref()));
        let letters = letters.map(|(letter, verdict)| (letter.to_string(), verdict.to_owned())).collect();

        let mut causes: BTreeMap<usize, Vec<ChangingFailure>> = BTreeMap::new();
        for failure in failures {
            causes.entry(failure.row).or_default().push(failure);
        }
        let mut rows: Vec<_> = rows.into_iter().enumerate().collect();
        rows.sort_by_key(|(_, row)| !is_changing(row));
        let changing = rows.iter().filter(|(_, row)| is_changing(row)).count();
        let test = |(place, row): (usize, TrendTest)| to_test(row, causes.remove(&place).unwrap_or_default());

        Self {
            letters,
            results: results.iter().map(to_result).collect(),
            changing,
            tests: rows.into_iter().map(test).collect(),
        }
    }
}

fn to_result(subject: &Subject) -> HistoryResult {
    let build = subject.single_build().map(|build| build.name.unwrap_or(build.id));

    HistoryResult {
        id: shorten_line(subject.id(), LONGEST_ID),
        started_at: subject.started_at().map(|start| minute(&start)),
        build: build.map(|build| end_of(&build)),
    }
}

/// Returns the end of a long name of a build, where the number is that tells it apart.
fn end_of(build: &str) -> String {
    let line = shorten_line(build, usize::MAX);
    let length = line.chars().count();
    if length <= LONGEST_BUILD {
        return line;
    }

    let end: String = line.chars().skip(length + 1 - LONGEST_BUILD).collect();
    visible(&format!("…{end}")).into_owned()
}

/// Returns a time to the minute, at UTC.
fn minute(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%MZ").to_string(),
        Err(_) => shorten_line(time, LONGEST_TIME),
    }
}

fn to_test(row: TrendTest, failures: Vec<ChangingFailure>) -> HistoryTest {
    let has_changed = is_changing(&row);
    let results = row.results.iter().map(|result| verdict_letter(result.as_ref()).0).collect();
    // An id would take the room of another test, and nothing has to be done about this one.
    let id = row.test.id.filter(|_| has_changed || row.results.iter().flatten().any(is_failure));

    HistoryTest {
        test: TestName { name: row.test.name, id },
        results,
        flaky: row.flaky,
        causes: join_causes(failures),
    }
}

fn is_failure(result: &TrendResult) -> bool {
    !WITHOUT_CAUSE.contains(&result.verdict.as_str())
}

/// Joins failures at the same step with the same report, the newest first.
fn join_causes(mut failures: Vec<ChangingFailure>) -> Vec<HistoryCause> {
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.number));
    let mut causes: Vec<((String, String, String), HistoryCause)> = Vec::new();

    for failure in failures {
        let Some(cause) = &failure.cause else { continue };
        let normal =
            |text: &Option<String>| normalize(text.as_deref().unwrap_or_default(), &[&failure.run_id]);
        let key = (failure.verdict.clone(), normal(&cause.goal), normal(&cause.observed));

        match causes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) => known.results.push(failure.number),
            None => causes.push((key, to_cause(&failure, cause))),
        }
    }

    causes.into_iter().map(|(_, cause)| cause).collect()
}

fn to_cause(failure: &ChangingFailure, cause: &FailureCause) -> HistoryCause {
    let has_step = cause.step_number.is_some() || cause.goal.is_some();
    let step = StepName { number: cause.step_number, goal: cause.goal.clone(), player: cause.player };

    HistoryCause {
        results: vec![failure.number],
        verdict: shorten_line(&failure.verdict, LONGEST_WORD),
        step: has_step.then_some(step),
        observed: cause.observed.clone(),
        run_id: shorten_line(&failure.run_id, LONGEST_ID),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(results: &str, flaky: Option<&str>) -> TrendTest {
        let verdict = |letter| match letter {
            'S' => Some("SUCCESS"),
            'F' => Some("FAILED"),
            'R' => Some("running"),
            _ => None,
        };
        let result = |(number, letter)| {
            let verdict = verdict(letter)?.to_owned();
            Some(TrendResult { verdict, run_id: Some(format!("r{number}")), earlier: Vec::new() })
        };
        let results = results.chars().enumerate().map(result).collect();
        TrendTest { results, flaky: flaky.map(str::to_owned), ..TrendTest::default() }
    }

    #[test]
    fn a_test_changes_if_it_has_several_verdicts_or_is_flaky() {
        for (results, flaky, expected) in [
            ("SSS", None, false),
            ("SS.R", None, false),
            ("FF", None, false),
            ("SSF", None, true),
            ("SS", Some("passed only when repeated"), true),
        ] {
            assert_eq!(is_changing(&row(results, flaky)), expected, "{results}");
        }
    }

    #[test]
    fn the_causes_of_the_three_newest_failures_of_a_changing_test_are_read() {
        let numbers = |results| {
            let failures = newest_failures(0, &row(results, None)).into_iter();
            failures.map(|(_, failure)| failure.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers("FFSFFRF"), [7, 5, 4]);
        assert!(numbers("FFFF").is_empty());
    }

    #[test]
    fn a_long_name_of_a_build_keeps_its_end() {
        assert_eq!(end_of("Emberfall 1.4.0 nightly 412"), "Emberfall 1.4.0 nightly 412");
        assert_eq!(
            end_of("Emberfall for every platform 1.4.0 nightly 412"),
            "…very platform 1.4.0 nightly 412"
        );
    }

    #[test]
    fn a_time_is_given_to_the_minute_at_utc() {
        assert_eq!(minute("2026-03-01T10:30:59+02:00"), "2026-03-01 08:30Z");
        assert_eq!(minute("some time"), "some time");
    }
}
