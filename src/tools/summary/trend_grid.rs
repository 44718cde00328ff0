//! The grid of a trend: one row for each test, one column for each execution, and which tests are flaky.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    answer::TestName,
    comparison::{EndedTest, TestEnd, tests_by_key},
    subject::Subject,
    test_result::{TestResult, verdict_rank},
    text_limits::LONGEST_ID,
};
use crate::text::shorten_line;

/// Number of changes between passed and failed from which a test is flaky. One change is a regression or a fix, two are a
/// result that came back.
const FLAKY_CHANGES: usize = 2;

/// Verdicts that say nothing about the test, because somebody or something else ended it.
const WITHOUT_EVIDENCE: [&str; 3] = ["SKIPPED", "STOPPED", "no_result"];

/// A row of the grid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct TrendTest {
    pub test: TestName,
    /// One for each execution; null: the execution did not include the test.
    pub results: Vec<Option<TrendResult>>,
    /// Why the test is flaky; absent if it is not. A test is flaky if, in these executions, it passed only when it was
    /// repeated, passed and failed with the same build, or changed between passed and failed twice or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flaky: Option<String>,
}

/// A cell of the grid. Of several jobs of a test in one execution, the worst counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct TrendResult {
    /// `running` if unfinished, `no_run` if nothing was started.
    pub verdict: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// What one execution says about the stability of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Evidence {
    /// `None` without a verdict that counts.
    has_passed: Option<bool>,
    passed_when_repeated: bool,
    build_id: Option<String>,
}

/// Returns the rows for these executions, the worst newest result first.
pub(super) fn build_grid(executions: &[Subject]) -> Vec<TrendTest> {
    let columns: Vec<_> = executions.iter().map(|subject| tests_by_key(&subject.tests)).collect();
    let keys: BTreeSet<&String> = columns.iter().flat_map(BTreeMap::keys).collect();

    let row = |key: &&String| {
        let cells: Vec<_> = columns.iter().map(|column| column.get(*key)).collect();
        let evidence: Vec<_> = executions
            .iter()
            .zip(&cells)
            .map(|(subject, cell)| cell.map(|cell| evidence(subject, key, cell)).unwrap_or_default())
            .collect();
        let newest = cells.iter().rev().flatten().next();

        TrendTest {
            test: newest.map(|(_, test)| test.test_name()).unwrap_or_default(),
            results: cells.iter().map(|cell| cell.map(result)).collect(),
            flaky: flaky_reason(&evidence),
        }
    };
    let mut rows: Vec<_> = keys.iter().map(row).collect();

    rows.sort_by_cached_key(|row| {
        let newest = row.results.iter().rev().flatten().next();
        let rank = newest.map_or(usize::MAX, |result| verdict_rank(&result.verdict));
        (rank, row.flaky.is_none(), row.test.clone())
    });

    rows
}

fn result((end, test): &EndedTest<'_>) -> TrendResult {
    let run_id = test.item.run_id.as_ref().map(|id| shorten_line(id, LONGEST_ID));
    TrendResult { verdict: end.word(), run_id }
}

fn evidence(subject: &Subject, key: &str, (end, test): &EndedTest<'_>) -> Evidence {
    let has_passed = match end {
        TestEnd::Passed(_) => Some(true),
        TestEnd::Failed(_, verdict) => Some(false).filter(|_| !WITHOUT_EVIDENCE.contains(&verdict.as_str())),
        TestEnd::WithoutVerdict(_) => None,
    };
    // Another job of the same test in this execution may be the one that was repeated.
    let mut jobs = subject.tests.iter().filter(|test| test.key().as_deref() == Some(key));

    Evidence {
        has_passed,
        passed_when_repeated: jobs.any(TestResult::is_flaky),
        build_id: test.build_id.clone().or_else(|| subject.record_field("build_id")),
    }
}

/// Returns why a test with this evidence, the oldest first, is flaky. Returns `None` if it is not.
fn flaky_reason(evidence: &[Evidence]) -> Option<String> {
    if evidence.iter().any(|one| one.passed_when_repeated) {
        return Some("passed only when repeated".to_owned());
    }

    let results: Vec<_> =
        evidence.iter().filter_map(|one| Some((one.has_passed?, one.build_id.as_deref()))).collect();
    let builds = |passed: bool| -> BTreeSet<&str> {
        results
            .iter()
            .filter(|(has_passed, _)| *has_passed == passed)
            .filter_map(|(_, build)| *build)
            .collect()
    };
    if !builds(true).is_disjoint(&builds(false)) {
        return Some("passed and failed with the same build".to_owned());
    }

    let later = results.iter().skip(1);
    let changes = results.iter().zip(later).filter(|(one, next)| one.0 != next.0).count();

    (changes >= FLAKY_CHANGES).then(|| format!("changed {changes} times"))
}

#[cfg(test)]
mod tests {
    use super::{Evidence, flaky_reason};

    /// Returns the evidence of executions: `+` passed, `-` failed, `r` passed when repeated, `.` without a verdict. Each
    /// is followed by the letter of its build.
    fn evidence(results: &str) -> Vec<Evidence> {
        let executions = results.split_whitespace().map(|execution| {
            let (result, build) = execution.split_at(1);
            Evidence {
                has_passed: ["+", "-", "r"].contains(&result).then_some(result != "-"),
                passed_when_repeated: result == "r",
                build_id: Some(build.to_owned()).filter(|build| !build.is_empty()),
            }
        });
        executions.collect()
    }

    #[test]
    fn a_test_is_flaky_if_its_results_change_without_a_clear_reason() {
        let cases = [
            ("+a +b +c", None),
            ("+a -b -c", None),
            ("-a -b +c", None),
            ("- +", None),
            ("+a -b +c", Some("changed 2 times")),
            ("-a .b +c .d -e", Some("changed 2 times")),
            ("+ - + -", Some("changed 3 times")),
            ("+a -a", Some("passed and failed with the same build")),
            ("+a +b -a", Some("passed and failed with the same build")),
            ("+a rb +c", Some("passed only when repeated")),
            (".a .a", None),
            ("", None),
        ];

        for (results, expected) in cases {
            assert_eq!(flaky_reason(&evidence(results)).as_deref(), expected, "{results}");
        }
    }
}
