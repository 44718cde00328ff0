//! The history of a plan or a test: its last results as a grid with one letter for each.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt as _, stream};
use jiff::Timestamp;

use super::{
    answer::{History, HistoryResult, HistoryTest, TestName},
    comparison::{EndedTest, TestEnd, tests_by_key},
    earlier::{build_name, executions_of, results_of_runs},
    reading::{group_by_job, is_partial, list, with_tests},
    result::verdict_rank,
    subject::Subject,
};
use crate::{
    failure::Failure,
    service::{
        api::{
            executions::{ListTestPlanExecutions, TestPlanExecution},
            runs::ListRuns,
        },
        lenient::view,
        record_kind::ResultKind,
    },
    text::{shorten_line, visible},
    tools::reader::{Reader, arguments},
};

/// Number of executions whose tests are read at the same time. The tests of most executions are one page.
const CONCURRENT_EXECUTIONS: usize = 4;

/// Longest id, longest build and longest time of a result, in characters.
const LONGEST_ID: usize = 40;
const LONGEST_BUILD: usize = 32;
const LONGEST_TIME: usize = 20;

/// The letters of a grid. They are distinct without colours.
const LETTERS: [(char, &str); 14] = [
    ('S', "SUCCESS"),
    (RETRIED, "SUCCESS after a retry"),
    ('F', "FAILED"),
    ('E', "ERROR"),
    ('T', "TIMEOUT"),
    ('M', "MAX_STEPS"),
    ('B', "BLOCKED"),
    ('X', "STOPPED"),
    ('-', "SKIPPED"),
    ('N', "no_run"),
    ('?', "no_result"),
    ('R', "running"),
    (UNKNOWN, "unknown verdict"),
    (ABSENT, "not included"),
];
const RETRIED: char = 's';
const UNKNOWN: char = 'U';
const ABSENT: char = '.';

/// Letters of failures of the product, and of what ended a test without a word about the product.
const PRODUCT: [char; 2] = ['F', 'B'];
const INFRASTRUCTURE: [char; 5] = ['E', 'T', 'X', 'N', '?'];

/// Number of changes between passed and failed from which a test is flaky. One change is a regression or a fix, two are
/// a result that came back.
const FLAKY_CHANGES: usize = 2;

/// Reads the last `count` results of the plan of the execution `subject`, or of the test of the run or job. What could
/// not be read becomes an omission of `subject`.
///
/// # Errors
/// Failures that concern the whole summary.
pub(super) async fn read_history(
    reader: &Reader,
    subject: &mut Subject,
    count: usize,
) -> Result<Option<History>, Failure> {
    let results = match subject.target.kind() {
        Some(ResultKind::Execution) => executions_of_plan(reader, subject, count).await,
        Some(ResultKind::Run | ResultKind::Job) => runs_of_test(reader, subject, count).await,
        None => {
            subject.omissions.add_skipped("history", "", "several jobs have no common history");
            return Ok(None);
        }
    };

    match results {
        Err(failure) if is_partial(&failure) => {
            subject.omissions.add("history", "", failure);
            Ok(None)
        }
        results => Ok(Some(History::new(&results?))),
    }
}

/// Returns the last started executions of a plan with their tests, the oldest first.
async fn executions_of_plan(
    reader: &Reader,
    subject: &mut Subject,
    count: usize,
) -> Result<Vec<Subject>, Failure> {
    let plan = subject.execution.as_ref().and_then(|execution| execution.test_plan_id.clone());
    let Some(plan) = plan else { return Ok(Vec::new()) };
    // A service may ignore the filter by plan.
    let is_of_plan = |other: &String| other.eq_ignore_ascii_case(&plan);
    let mut started = Vec::new();

    let filter = executions_of(&plan, &[]);
    let end = reader.scan::<ListTestPlanExecutions, _>(&filter, |page| {
        let executions = page.iter().map(view::<TestPlanExecution>).filter(|execution| {
            execution.started_at.is_some() && execution.test_plan_id.as_ref().is_none_or(is_of_plan)
        });
        started.extend(executions.map(Subject::of_execution));
        (started.len() >= count).then_some(())
    });
    end.await?;

    // A service may ignore the order.
    started.sort_by_cached_key(Subject::age);
    let started = started.split_off(started.len().saturating_sub(count));

    // The tests of the summarized execution are known.
    let known = &*subject;
    let reads: Vec<_> = started
        .into_iter()
        .map(|execution| async move {
            let is_known = execution.id().eq_ignore_ascii_case(known.id());
            if is_known { known.clone() } else { with_tests(reader, execution).await }
        })
        .collect();
    let results: Vec<_> = stream::iter(reads).buffered(CONCURRENT_EXECUTIONS).collect().await;
    for result in &results {
        subject.omissions.extend(result.omissions.clone());
    }

    Ok(results)
}

/// Returns the last runs of a test, the oldest first. Attempts of one job are one result.
async fn runs_of_test(reader: &Reader, subject: &mut Subject, count: usize) -> Result<Vec<Subject>, Failure> {
    let Some(test) = subject.tests.first().and_then(|test| test.test_id.clone()) else {
        return Ok(Vec::new());
    };
    let filter = arguments(&[("multiplayer_test_id", test.as_str())]);
    let listed = list::<ListRuns>(reader, &filter, &mut subject.omissions, "runs of the test, page").await?;

    let mut results = results_of_runs(ResultKind::Run, group_by_job(listed.records));
    results.sort_by_cached_key(Subject::age);

    Ok(results.split_off(results.len().saturating_sub(count)))
}

impl History {
    /// Creates the grid of these results, the oldest first. The rows that change come first, then the worst newest
    /// result.
    fn new(results: &[Subject]) -> Self {
        let columns: Vec<_> = results.iter().map(|result| tests_by_key(&result.tests)).collect();
        let keys: BTreeSet<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
        let mut rows: Vec<_> = keys.into_iter().map(|key| row(results, &columns, key)).collect();
        rows.sort_by_cached_key(|(rank, row)| (!row.is_changing(), *rank, row.test.clone()));
        let tests: Vec<_> = rows.into_iter().map(|(_, row)| row).collect();

        let used = |letter: char| tests.iter().any(|test| test.results.contains(letter));
        let letters = LETTERS.into_iter().filter(|(letter, _)| used(*letter));
        let result = |result: &Subject| HistoryResult {
            id: Some(shorten_line(result.id(), LONGEST_ID)),
            started_at: result.started_at().map(|start| minute(&start)),
            build: build_name(result).map(|build| end_of(&build)),
        };

        Self {
            letters: letters.map(|(letter, word)| (letter.to_string(), word.to_owned())).collect(),
            results: results.iter().map(result).collect(),
            changing: tests.iter().filter(|test| test.is_changing()).count(),
            tests,
        }
    }

    /// Returns the words of the letters in the grid, in a fixed order.
    pub fn legend(&self) -> Vec<String> {
        let used = LETTERS.iter().filter(|(letter, _)| self.letters.contains_key(&letter.to_string()));
        used.map(|(letter, word)| format!("{letter} {word}")).collect()
    }
}

/// Returns the row of the test with this key, and the rank of its newest verdict.
fn row(results: &[Subject], columns: &[BTreeMap<String, EndedTest<'_>>], key: &str) -> (usize, HistoryTest) {
    let cells: Vec<_> = columns.iter().map(|column| column.get(key)).collect();
    let newest = cells.iter().rev().flatten().next();
    let failed = cells.iter().rev().flatten().find(|(end, _)| matches!(end, TestEnd::Failed(..)));
    let letters = results.iter().zip(&cells).map(|(result, cell)| letter(result, key, *cell));
    let letters: String = letters.collect();

    let row = HistoryTest {
        test: newest.map_or_else(TestName::default, |(_, test)| test.test_name()),
        label: label(&letters).map(str::to_owned),
        results: letters,
        failed_run_id: failed.and_then(|(_, test)| test.short_run_id()),
    };
    (newest.map_or(usize::MAX, |(end, _)| verdict_rank(end.word())), row)
}

fn letter(result: &Subject, key: &str, cell: Option<&EndedTest<'_>>) -> char {
    let Some((end, _)) = cell else { return ABSENT };
    // Another job of the same test in this result may be the one that was repeated.
    let mut jobs = result.tests.iter().filter(|test| test.key().as_deref() == Some(key));
    if matches!(end, TestEnd::Passed(_)) && jobs.any(super::result::TestResult::passed_after_retry) {
        return RETRIED;
    }

    LETTERS.iter().find(|(_, word)| *word == end.word()).map_or(UNKNOWN, |(letter, _)| *letter)
}

/// Returns what the letters of a row say about the test. It depends on nothing else, so that equal rows have equal
/// labels.
fn label(letters: &str) -> Option<&'static str> {
    let has_passed = |letter: char| match letter {
        'S' | RETRIED => Some(true),
        letter if PRODUCT.contains(&letter) => Some(false),
        _ => None,
    };
    let verdicts: Vec<_> = letters.chars().filter_map(has_passed).collect();
    let changes = verdicts.windows(2).filter(|pair| pair.first() != pair.last()).count();

    if changes >= FLAKY_CHANGES {
        Some("flaky")
    } else if verdicts.contains(&false) {
        None
    } else if letters.contains(INFRASTRUCTURE) {
        Some("infrastructure")
    } else {
        letters.contains(RETRIED).then_some("passed_after_retry")
    }
}

impl HistoryTest {
    pub(in crate::tools) fn is_changing(&self) -> bool {
        let verdicts = self.results.chars().filter(|letter| ![ABSENT, 'R'].contains(letter));
        verdicts.collect::<BTreeSet<_>>().len() > 1
    }
}

/// Returns the end of a long name of a build, where the number is that tells it apart.
fn end_of(build: &str) -> String {
    let length = build.chars().count();
    if length <= LONGEST_BUILD {
        return build.to_owned();
    }

    let end: String = build.chars().skip(length + 1 - LONGEST_BUILD).collect();
    visible(&format!("…{end}")).into_owned()
}

/// Returns a time to the minute, at UTC.
fn minute(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%MZ").to_string(),
        Err(_) => shorten_line(time, LONGEST_TIME),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_depends_on_the_letters_alone_and_only_verdicts_of_the_product_make_a_test_flaky() {
        for (letters, expected) in [
            ("SFS", Some("flaky")),
            ("FSB", Some("flaky")),
            ("F.SEF", Some("flaky")),
            ("SSF", None),
            ("FFS", None),
            ("SESESE", Some("infrastructure")),
            ("STsSX", Some("infrastructure")),
            ("SssS", Some("passed_after_retry")),
            ("SFFE", None),
            ("S..R", None),
            ("", None),
        ] {
            assert_eq!(label(letters), expected, "{letters}");
        }
    }

    #[test]
    fn a_test_changes_if_it_has_several_verdicts() {
        for (letters, expected) in
            [("SSS", false), ("SS.R", false), ("FF", false), ("SSF", true), ("Ss", true)]
        {
            let row = HistoryTest { results: letters.to_owned(), ..HistoryTest::default() };
            assert_eq!(row.is_changing(), expected, "{letters}");
        }
    }

    #[test]
    fn a_long_name_of_a_build_keeps_its_end_and_a_time_its_minute() {
        assert_eq!(end_of("Emberfall 1.4.0 nightly 412"), "Emberfall 1.4.0 nightly 412");
        let long = "Emberfall for every platform 1.4.0 nightly 412";
        assert_eq!(end_of(long), "…very platform 1.4.0 nightly 412");
        assert_eq!(minute("2026-03-01T10:30:59+02:00"), "2026-03-01 08:30Z");
        assert_eq!(minute("some time"), "some time");
    }
}
