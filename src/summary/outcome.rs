//! The answer (its shape is what the command line and reports build on), and what it is made from.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Kind,
    baseline::Baseline,
    case::Case,
    comparison,
    flaky::flaky,
    gathering::Subject,
    grouping::{self, Group},
};
use crate::{reply::is_hidden, waiting::item::text};

/// Longest texts of an answer, in characters.
pub(super) const LONGEST_ID: usize = 64;
pub(super) const LONGEST_NAME: usize = 80;
pub(super) const LONGEST_WORD: usize = 40;

/// Counts of an execution whose tests cannot be listed, and what they are called as verdicts (supplement 5.1).
const COUNTS: [(&str, &str); 4] =
    [("passed", "SUCCESS"), ("failed", "FAILED"), ("skipped", "SKIPPED"), ("stopped", "STOPPED")];

/// What became of a run, a job or an execution. A test is a job, and its last started attempt counts.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Summary {
    /// `run`, `job` or `test_plan_execution`.
    pub target_type: String,
    pub target_id: String,
    /// Of the plan, or of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `completed` or `running`.
    pub state: String,
    /// Everything is over, and every verdict is SUCCESS.
    pub all_passed: bool,
    /// How many tests are over.
    pub finished: usize,
    pub total: usize,
    /// Verdict to number of tests. Unknown words of the service are shown as they are; `no_run`: nothing was started.
    pub verdicts: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildName>,
    /// Instead of `build` where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builds: Vec<BuildName>,
    /// Worst first; failures of a test at one step with one report are one entry.
    #[serde(default)]
    pub failures: Vec<Failed>,
    /// Tests that passed after an attempt that did not.
    #[serde(default)]
    pub flaky: Vec<Flaky>,
    /// Severity to number of bugs in the runs that failed.
    #[serde(default)]
    pub bugs: BTreeMap<String, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// What there was no room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct TestName {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A build; its name is known where a run that failed, or the execution, tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct BuildName {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Failures that are alike.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Failed {
    pub test: TestName,
    pub verdict: String,
    /// The first failing step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepName>,
    /// What the step was to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What the agent reported, or why nothing was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed: Option<String>,
    /// Tests that failed so.
    pub count: usize,
    /// Three of their runs at most. Step, texts and artifacts are those of the first.
    pub run_ids: Vec<String>,
    /// Three of the jobs at most, where nothing was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub job_ids: Vec<String>,
    /// Worst first, each once.
    #[serde(default)]
    pub bugs: Vec<Bug>,
    /// File names.
    #[serde(default)]
    pub artifacts: Vec<String>,
}

/// A step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct StepName {
    pub number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// Number of the player, from 1, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player: Option<u64>,
}

/// A bug of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Bug {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub title: String,
    pub severity: String,
}

/// A test that passed on retry.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Flaky {
    pub test: TestName,
    /// The run that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// How the attempts before ended.
    pub earlier: Vec<String>,
}

/// The difference to an earlier one. Tests are matched by id.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Comparison {
    /// Absent where there is nothing to compare with; `note` says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<With>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Failed now, and did not then.
    #[serde(default)]
    pub newly_failing: Vec<Change>,
    /// Passed now, and failed then.
    #[serde(default)]
    pub fixed: Vec<Change>,
    #[serde(default)]
    pub still_failing: Vec<Change>,
    /// Without a verdict now.
    #[serde(default)]
    pub not_run: Vec<Change>,
}

/// What it was compared with.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct With {
    pub target_type: String,
    pub target_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<BuildName>,
}

/// A test that ended otherwise, or failed again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Change {
    pub test: TestName,
    /// Now; `running` while it goes on, absent where it was not part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Then; absent where it was not part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
}

/// Something that could not be read.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names speak for themselves")]
pub struct Unread {
    pub what: String,
    pub why: String,
}

/// What there was no room for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Name of the list, such as `failures` or `comparison.fixed`, to number of entries; `artifacts` and `bugs`: of
    /// the failures that are shown.
    #[serde(flatten)]
    pub counts: BTreeMap<String, usize>,
    /// How to see it.
    pub how: String,
}

/// Everything there is to say, as long as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    /// Without failures.
    pub(super) summary: Summary,
    pub(super) failures: Vec<Group>,
}

impl Whole {
    pub(super) fn of(mut subject: Subject, baseline: Option<Baseline>) -> Self {
        let comparison = baseline.map(|baseline| comparison::of(&mut subject, baseline));
        let failures = grouping::groups(&mut subject);
        let (finished, total) = counted(&subject);
        let verdicts = verdicts(&subject);
        let is_over = subject.is_over();
        let builds = builds(&subject);
        let [started_at, completed_at] = ["started_at", "completed_at"].map(|name| moment(&subject, name));
        let summary = Summary {
            target_type: subject.target.kind.word().to_owned(),
            target_id: shortened(&subject.target.id, LONGEST_ID),
            name: name(&subject),
            state: if is_over { "completed" } else { "running" }.to_owned(),
            all_passed: is_over && total > 0 && verdicts.get("SUCCESS") == Some(&total),
            finished,
            total,
            verdicts,
            duration_ms: duration(&subject, started_at.as_deref(), completed_at.as_deref()),
            started_at: started_at.map(|at| shortened(&at, LONGEST_WORD)),
            completed_at: completed_at.map(|at| shortened(&at, LONGEST_WORD)),
            build: builds.first().filter(|_| builds.len() == 1).cloned(),
            builds: if builds.len() > 1 { builds } else { Vec::new() },
            failures: Vec::new(),
            flaky: flaky(&subject.cases),
            bugs: grouping::severities(&subject.cases),
            comparison,
            unread: subject.notes.told(),
            left_out: None,
        };
        Self { summary, failures }
    }
}

/// How many tests of how many are over.
fn counted(subject: &Subject) -> (usize, usize) {
    let over = subject.cases.iter().filter(|case| case.item.is_over()).count();
    let listed = subject.cases.len().max(number(subject, "total_tests"));
    if !subject.cases.is_empty() {
        return (over, listed);
    }
    let over = counts(subject).values().sum();
    (over, listed.max(over))
}

fn verdicts(subject: &Subject) -> BTreeMap<String, usize> {
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in subject.cases.iter().filter_map(|case| case.item.verdict()) {
        *verdicts.entry(shortened(&verdict, LONGEST_WORD)).or_default() += 1;
    }
    if subject.cases.is_empty() { counts(subject) } else { verdicts }
}

/// What an execution counts itself.
fn counts(subject: &Subject) -> BTreeMap<String, usize> {
    let count = |name: &str| number(subject, &format!("test_status/{name}"));
    let all = COUNTS.iter().map(|(name, verdict)| ((*verdict).to_owned(), count(name)));
    all.filter(|(_, count)| *count > 0).collect()
}

fn number(subject: &Subject, path: &str) -> usize {
    let number = subject.record.as_ref().and_then(|record| record.pointer(&format!("/{path}"))?.as_u64());
    number.and_then(|number| usize::try_from(number).ok()).unwrap_or_default()
}

fn name(subject: &Subject) -> Option<String> {
    let name = match subject.target.kind {
        Kind::Execution => subject.record.as_ref().and_then(|record| text(record, "test_plan_name")),
        Kind::Run | Kind::Job => subject.cases.first().and_then(|case| case.item.test_name.clone()),
    };
    name.map(|name| shortened(&name, LONGEST_NAME))
}

/// When it began or ended: as its record says, else as its tests do.
fn moment(subject: &Subject, name: &str) -> Option<String> {
    let of_record = subject.record.as_ref().and_then(|record| text(record, name));
    let of_cases =
        |at: fn(&Case) -> &Option<String>| subject.cases.iter().filter_map(move |case| at(case).clone());
    of_record.or_else(|| match name {
        "started_at" => of_cases(|case| &case.started_at).min(),
        _ if subject.is_over() => of_cases(|case| &case.completed_at).max(),
        _ => None,
    })
}

fn duration(subject: &Subject, started: Option<&str>, completed: Option<&str>) -> Option<u64> {
    let told = subject.record.as_ref().and_then(|record| record.get("duration_ms")?.as_f64());
    let at = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    let between = || Some(at(completed)?.as_millisecond() - at(started)?.as_millisecond());
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    let told = told.map(|told| told.round() as i64);
    told.or_else(between).and_then(|span| u64::try_from(span).ok())
}

/// The builds that were tested, each once.
pub(super) fn builds(subject: &Subject) -> Vec<BuildName> {
    let record = |name: &str| subject.record.as_ref().and_then(|record| text(record, name));
    let of_record = (record("build_id"), record("build_name"));
    let of_cases = subject.cases.iter().map(|case| (case.build_id.clone(), case.build_name.clone()));
    let mut known: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for (id, name) in of_cases.chain([of_record]) {
        if let Some(id) = id {
            let entry = known.entry(id.to_ascii_lowercase()).or_insert_with(|| (id, BTreeSet::new()));
            entry.1.extend(name);
        }
    }
    let build = |(id, names): (String, BTreeSet<String>)| BuildName {
        id: shortened(&id, LONGEST_ID),
        name: names.first().map(|name| shortened(name, LONGEST_NAME)),
    };
    known.into_values().map(build).collect()
}

/// The test of a case, as the answer names it.
pub(super) fn test_name(case: &Case) -> TestName {
    TestName {
        name: shortened(case.name(), LONGEST_NAME),
        id: case.test_id.as_ref().map(|id| shortened(id, LONGEST_ID)),
    }
}

/// A text of the service in one line of at most `most` characters, without what nobody sees.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let visible: String = text.chars().filter(|one| !is_hidden(*one)).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The value of a field as text, where there is any.
pub(super) fn filled(value: &Value, name: &str) -> Option<String> {
    text(value, name).filter(|text| !text.trim().is_empty())
}
