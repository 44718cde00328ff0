//! The trend of a test plan: its last executions as a grid, test by test, and which tests are flaky.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
};

use futures_util::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::{
    answer::{BuildName, Omission, TestName},
    comparison::{EndedTest, TestEnd, tests_by_key},
    reading::{SummaryReader, with_tests},
    subject::{LONGEST_ID, LONGEST_WORD, Omissions, Subject, TestResult, verdict_rank},
};
use crate::{
    call::Caller,
    failure::{Code, Failure},
    service::api::executions::TestPlanExecution,
    text::shorten_line,
    tools::waiting::LONGEST_NAME,
};

/// Number of executions whose tests are read at the same time. The tests of most executions are one page.
pub(super) const CONCURRENT_EXECUTIONS: usize = 4;

/// Number of changes between passed and failed from which a test is flaky. One change is a regression or a fix, two are
/// a result that came back.
const FLAKY_CHANGES: usize = 2;

/// Verdicts that say nothing about the test, because somebody or something else ended it.
const WITHOUT_EVIDENCE: [&str; 3] = ["SKIPPED", "STOPPED", "no_result"];

/// The letters of the known verdicts in a grid. They are distinct without colours.
pub const VERDICT_LETTERS: [(char, &str); 11] = [
    ('S', "SUCCESS"),
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
];

/// The letter of a verdict that is not known.
pub const UNKNOWN_LETTER: (char, &str) = ('U', "unknown verdict");

/// The letter of a test that a result does not include.
pub const ABSENT_LETTER: (char, &str) = ('.', "not included");

/// A request for the trend of a plan.
#[derive(Clone, Debug)]
pub(crate) struct TrendRequest {
    /// Id of the test plan.
    pub test_plan_id: String,
    /// The project, if the caller names one.
    pub project: Option<String>,
    /// Number of executions.
    pub count: usize,
}

/// The last executions of a test plan.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct Trend {
    pub test_plan_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Oldest first.
    pub executions: Vec<TrendExecution>,
    /// The worst newest result first.
    pub tests: Vec<TrendTest>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Omission>,
}

/// A column of the grid.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct TrendExecution {
    pub test_plan_execution_id: String,
    pub started_at: Option<String>,
    pub status: Option<String>,
    /// The build, if the whole execution tests one.
    pub build: Option<BuildName>,
}

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
    /// Results of the attempts that were retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
}

/// Returns the letter of a cell, and what it means.
pub fn verdict_letter(result: Option<&TrendResult>) -> (char, &'static str) {
    let Some(result) = result else { return ABSENT_LETTER };
    VERDICT_LETTERS.into_iter().find(|(_, verdict)| *verdict == result.verdict).unwrap_or(UNKNOWN_LETTER)
}

impl TrendRequest {
    /// Reads the last executions of the plan that were started, and their tests.
    ///
    /// # Errors
    /// Failures of the list of executions, and `not_found` if no execution was started.
    pub(crate) async fn run(&self, caller: &Caller) -> Result<Trend, Failure> {
        let reader = SummaryReader::new(caller, self.project.as_deref());
        let executions = list_executions(&reader, &self.test_plan_id, self.count).await?;
        let subjects: Vec<Subject> = stream::iter(executions)
            .map(|execution| with_tests(&reader, execution))
            .buffered(CONCURRENT_EXECUTIONS)
            .collect()
            .await;

        let mut omissions = Omissions::default();
        for subject in &subjects {
            omissions.extend(subject.omissions.clone());
        }
        let names =
            subjects.iter().rev().filter_map(|subject| subject.execution.as_ref()?.test_plan_name.as_ref());

        Ok(Trend {
            test_plan_id: shorten_line(&self.test_plan_id, LONGEST_ID),
            name: names.map(|name| shorten_line(name, LONGEST_NAME)).next(),
            executions: subjects.iter().map(TrendExecution::from_subject).collect(),
            tests: build_grid(&subjects),
            unread: omissions.to_entries(),
        })
    }
}

/// Returns the last executions of a plan that were started, the oldest first, without their tests.
pub(super) async fn list_executions(
    reader: &SummaryReader,
    plan: &str,
    count: usize,
) -> Result<Vec<Subject>, Failure> {
    let mut started = Vec::new();
    let scan = reader.scan_executions(plan, &[], |executions| {
        let executions = executions.into_iter().filter(|execution| is_started(execution, plan));
        started.extend(executions.map(Subject::of_execution));
        if started.len() >= count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    scan.await?;

    if started.is_empty() {
        let message = format!("no execution of a test plan `{plan}` was started");
        return Err(Failure::new(Code::NotFound, message)
            .hint("check the id[[; `tool:list_test_plans` lists the test plans]]"));
    }

    // A service may ignore the order.
    started.sort_by_cached_key(Subject::age);

    Ok(started.split_off(started.len().saturating_sub(count)))
}

/// Returns whether an execution of the plan was started. A service may ignore the filter by plan.
fn is_started(execution: &TestPlanExecution, plan: &str) -> bool {
    let is_of_plan = |other: &String| other.eq_ignore_ascii_case(plan);
    execution.started_at.is_some() && execution.test_plan_id.as_ref().is_none_or(is_of_plan)
}

impl TrendExecution {
    fn from_subject(subject: &Subject) -> Self {
        let execution = subject.execution.clone().unwrap_or_default();
        let status = Some(execution.status).filter(|status| !status.is_empty());

        Self {
            test_plan_execution_id: shorten_line(subject.id(), LONGEST_ID),
            started_at: execution.started_at.map(|start| shorten_line(&start, LONGEST_WORD)),
            status: status.map(|status| shorten_line(&status, LONGEST_WORD)),
            build: subject.single_build(),
        }
    }
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
    TrendResult { verdict: end.word(), run_id: test.short_run_id(), earlier: test.earlier.clone() }
}

fn evidence(subject: &Subject, key: &str, (end, test): &EndedTest<'_>) -> Evidence {
    let has_passed = match end {
        TestEnd::Passed(_) => Some(true),
        TestEnd::Failed(_, verdict) => Some(false).filter(|_| !WITHOUT_EVIDENCE.contains(&verdict.as_str())),
        TestEnd::WithoutVerdict(_) => None,
    };
    // Another job of the same test in this execution may be the one that was repeated.
    let mut jobs = subject.tests.iter().filter(|test| test.key().as_deref() == Some(key));
    let build_of_execution = || subject.execution.as_ref().and_then(|execution| execution.build_id.clone());

    Evidence {
        has_passed,
        passed_when_repeated: jobs.any(TestResult::passed_after_retry),
        build_id: test.build_id.clone().or_else(build_of_execution),
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

    /// Returns the evidence of executions: `+` passed, `-` failed, `r` passed when repeated, `.` without a verdict.
    /// Each is followed by the letter of its build.
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
