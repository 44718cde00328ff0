//! The history of a plan or a test: its last results as a grid with one letter for each.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::join_all;
use jiff::Timestamp;

use super::{
    answer::{History, HistoryResult, HistoryTest},
    comparison::{build_name, tests_by_key},
    reading::{is_partial, read_results, with_tests},
    result::{Outcome, Subject, TestResult, verdict_rank},
};
use crate::{
    failure::Failure,
    service::record_kind::ResultKind,
    tools::{reader::Reader, unread::Unread},
};

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
    if let Some(reason) = subject.why_alone() {
        subject.unread.cut("history", reason);
        return Ok(None);
    }

    let mut unread = Unread::default();
    let results = match last_results(reader, subject, &mut unread, count).await {
        Err(failure) if is_partial(&failure) => {
            unread.add("history", "", &failure);
            None
        }
        results => Some(results?),
    };
    subject.unread.extend(unread);

    Ok(results.map(|results| History::new(&results)))
}

/// Returns the last started results of the same plan or test, the oldest first.
async fn last_results(
    reader: &Reader,
    subject: &Subject,
    unread: &mut Unread,
    count: usize,
) -> Result<Vec<Subject>, Failure> {
    // Attempts of one job are one result.
    let kind = if subject.is_execution() { ResultKind::Execution } else { ResultKind::Run };
    let is_started = |result: &Subject| kind == ResultKind::Run || result.started_at().is_some();
    let is_enough = |results: &[Subject]| results.iter().filter(|result| is_started(result)).count() >= count;
    let mut results = read_results(reader, subject, unread, kind, is_enough).await?;
    results.retain(is_started);
    results.truncate(count);
    results.reverse();
    if kind == ResultKind::Run {
        return Ok(results);
    }

    // The tests of the summarized execution are known.
    let results = join_all(results.into_iter().map(|execution| async move {
        let is_known = execution.id().eq_ignore_ascii_case(subject.id());
        if is_known { subject.clone() } else { with_tests(reader, execution).await }
    }));
    let results = results.await;
    for result in &results {
        unread.extend(result.unread.clone());
    }

    Ok(results)
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
            id: Some(result.id().to_owned()),
            started_at: result.started_at().map(|start| minute(&start)),
            build: build_name(result),
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
fn row(results: &[Subject], columns: &[BTreeMap<String, &TestResult>], key: &str) -> (usize, HistoryTest) {
    let cells: Vec<_> = columns.iter().map(|column| column.get(key).copied()).collect();
    let mut newest_first = cells.iter().rev().copied().flatten();
    let failed = newest_first.clone().find(|test| test.outcome() == Outcome::Failed);
    let newest = newest_first.next();
    let letters: String =
        results.iter().zip(&cells).map(|(result, cell)| letter(&result.tests, key, *cell)).collect();

    let row = HistoryTest {
        test: newest.map(TestResult::test_name).unwrap_or_default(),
        label: label(&letters).map(str::to_owned),
        results: letters,
        failed_run_id: failed.and_then(|test| test.run_id.clone()),
    };
    (newest.map_or(usize::MAX, |test| verdict_rank(test.word())), row)
}

/// Returns the letter of a test. `tests` are all tests of the result: another job of the same test may be the one that was
/// repeated.
fn letter(tests: &[TestResult], key: &str, cell: Option<&TestResult>) -> char {
    let Some(test) = cell else { return ABSENT };
    let mut jobs = tests.iter().filter(|test| test.key() == key);
    if test.has_passed() && jobs.any(TestResult::passed_after_retry) {
        return RETRIED;
    }

    LETTERS.iter().find(|(_, word)| *word == test.word()).map_or(UNKNOWN, |(letter, _)| *letter)
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
    /// Returns whether the test has several verdicts.
    fn is_changing(&self) -> bool {
        let verdicts = self.results.chars().filter(|letter| ![ABSENT, 'R'].contains(letter));
        verdicts.collect::<BTreeSet<_>>().len() > 1
    }
}

/// Returns a time to the minute, at UTC.
fn minute(time: &str) -> String {
    let parsed = time.parse::<Timestamp>();
    parsed.map_or_else(|_| time.to_owned(), |time| time.strftime("%Y-%m-%d %H:%MZ").to_string())
}

#[cfg(test)]
mod tests {
    use super::{HistoryTest, label};

    #[test]
    fn the_letters_decide_whether_a_test_changes_and_only_verdicts_of_the_product_make_it_flaky() {
        for (letters, expected, is_changing) in [
            ("SFS", Some("flaky"), true),
            ("FSB", Some("flaky"), true),
            ("F.SEF", Some("flaky"), true),
            ("SSF", None, true),
            ("FFS", None, true),
            ("SESESE", Some("infrastructure"), true),
            ("STsSX", Some("infrastructure"), true),
            ("SssS", Some("passed_after_retry"), true),
            ("SFFE", None, true),
            ("FF", None, false),
            ("S..R", None, false),
            ("", None, false),
        ] {
            let row = HistoryTest { results: letters.to_owned(), ..HistoryTest::default() };
            assert_eq!((label(letters), row.is_changing()), (expected, is_changing), "{letters}");
        }
    }
}
