//! What a summary says about failures and bugs: groups of similar failures, tests that passed on a retry, and the bugs of
//! both.

use std::{cmp::Reverse, collections::BTreeMap};

use indexmap::IndexMap;

use super::{
    answer::{BugEntry, FailureEntry, ListedTest, StepName},
    cause::FailureCause,
    normal::normalize,
    result::{TestResult, verdict_rank},
    subject::{LONGEST_ID, LONGEST_WORD, Subject, sort_key},
};
use crate::{
    failure::{Code, Failure},
    text::shorten_line,
};

/// Severities from the worst. Unknown severities come last.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Number of ids that a group names.
const MOST_IDS: usize = 3;

/// Largest number of bugs, and of artifacts, of one entry.
const MOST_BUGS: usize = 6;
const MOST_ARTIFACTS: usize = 8;

/// Longest goal of a step, expected result, report, title of a bug and name of a file, in characters.
const LONGEST_GOAL: usize = 200;
const LONGEST_EXPECTED: usize = 300;
const LONGEST_REPORT: usize = 600;
const LONGEST_TITLE: usize = 120;
const LONGEST_FILE_NAME: usize = 60;

/// Number of the slowest tests.
const MOST_SLOW: usize = 5;

/// Number of attempts that an entry names. A job has at most eleven attempts (service.md 2.1).
const MOST_ATTEMPTS: usize = 10;

/// What the failures of a group have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    /// The key of the test, else its index. Tests without a key are never grouped.
    test: Result<String, usize>,
    verdict: String,
    goal: String,
    report: String,
}

/// A failed test with its cause.
type Member<'a> = (&'a TestResult, FailureCause);

/// Returns the groups of similar failures: of one test, with the same verdict, at the same step, with the same report.
/// The worst verdict comes first, then the largest group.
///
/// Adds an omission for every failed run whose record has no list of artifacts.
pub(super) fn group_failures(subject: &mut Subject, left_out: &mut LeftOutCounts) -> Vec<FailureEntry> {
    let mut groups: BTreeMap<GroupKey, Vec<Member<'_>>> = BTreeMap::new();
    for (index, test) in subject.tests.iter().enumerate().filter(|(_, test)| test.has_failed()) {
        // If the run was not read, the record of the job may say why nothing was run.
        let cause_of_job = || FailureCause { observed: test.reason.clone(), ..FailureCause::default() };
        let cause = test.cause.clone().unwrap_or_else(cause_of_job);

        if test.cause.is_some() && !cause.has_artifact_list {
            let failure = Failure::new(Code::BadResponse, "get_run: the answer has no list of artifacts");
            subject.omissions.add("artifacts of run", test.run_id.clone().unwrap_or_default(), failure);
        }
        groups.entry(group_key(test, index, &cause)).or_default().push((test, cause));
    }

    let joined = groups.into_values().filter_map(|members| join_members(members, left_out));
    let mut entries: Vec<_> = joined.collect();
    entries.sort_by_cached_key(|entry| {
        let step = entry.step.as_ref().and_then(|step| step.number);
        (verdict_rank(&entry.verdict), Reverse(entry.count), entry.test.clone(), step)
    });

    entries
}

fn group_key(test: &TestResult, index: usize, cause: &FailureCause) -> GroupKey {
    let ids: Vec<_> = [&test.job_id, &test.run_id].into_iter().flatten().map(String::as_str).collect();
    let normalized = |text: Option<&String>| text.map(|text| normalize(text, &ids)).unwrap_or_default();

    GroupKey {
        test: test.key().ok_or(index),
        verdict: test.verdict.clone().unwrap_or_default(),
        goal: normalized(cause.goal.as_ref()),
        report: normalized(cause.observed.as_ref()),
    }
}

/// Joins similar failures into one entry. The earliest failure provides the texts.
fn join_members(mut members: Vec<Member<'_>>, left_out: &mut LeftOutCounts) -> Option<FailureEntry> {
    members.sort_by_cached_key(|(test, _)| {
        let start = test.started_at.as_deref().map(sort_key);
        (start.is_none(), start, test.id().map(str::to_owned))
    });

    let first_ids = |id: fn(&TestResult) -> Option<&String>| {
        let ids = members.iter().filter_map(|(test, _)| id(test));
        ids.take(MOST_IDS).map(|id| shorten_line(id, LONGEST_ID)).collect::<Vec<_>>()
    };
    let run_ids = first_ids(|test| test.run_id.as_ref());
    let job_ids = if run_ids.is_empty() { first_ids(|test| test.job_id.as_ref()) } else { Vec::new() };
    let bugs = named_bugs(members.iter().map(|(test, _)| *test), left_out);
    let count = members.len();
    let (first, cause) = members.into_iter().next()?;
    let mut artifacts = cause.artifacts;
    left_out.cut("artifacts", &mut artifacts, MOST_ARTIFACTS);
    let has_step = cause.step_number.is_some() || cause.goal.is_some();

    Some(FailureEntry {
        test: first.test_name(),
        verdict: shorten_line(first.verdict.as_ref()?, LONGEST_WORD),
        step: has_step.then_some(StepName {
            number: cause.step_number,
            goal: shortened(cause.goal, LONGEST_GOAL),
            player: cause.player,
        }),
        expected: shortened(cause.expected, LONGEST_EXPECTED),
        observed: shortened(cause.observed, LONGEST_REPORT),
        count,
        run_ids,
        job_ids,
        bugs,
        artifacts: artifacts.iter().map(|name| shorten_line(name, LONGEST_FILE_NAME)).collect(),
        devices: cause.devices,
    })
}

/// Returns the bugs of `tests`, each once, the worst first.
fn collect_bugs<'a>(tests: impl Iterator<Item = &'a TestResult>) -> Vec<BugEntry> {
    let mut known: BTreeMap<&str, &BugEntry> = BTreeMap::new();
    for bug in tests.flat_map(|test| test.bugs.iter().flatten()) {
        let entry = known.entry(bug.id.as_deref().unwrap_or(&bug.title)).or_insert(bug);
        // Runs may rate the severity of a bug differently. The worst rating counts.
        if severity_key(bug) < severity_key(entry) {
            *entry = bug;
        }
    }

    let mut bugs: Vec<_> = known.into_values().cloned().collect();
    bugs.sort_by(|one, other| severity_key(one).cmp(&severity_key(other)));

    bugs
}

/// Returns the bugs of one entry, without those beyond [`MOST_BUGS`].
fn named_bugs<'a>(
    tests: impl Iterator<Item = &'a TestResult>,
    left_out: &mut LeftOutCounts,
) -> Vec<BugEntry> {
    let mut bugs = collect_bugs(tests);
    left_out.cut("bugs", &mut bugs, MOST_BUGS);
    for bug in &mut bugs {
        bug.id = shortened(bug.id.take(), LONGEST_ID);
        bug.title = shorten_line(&bug.title, LONGEST_TITLE);
    }

    bugs
}

fn shortened(text: Option<String>, most: usize) -> Option<String> {
    text.map(|text| shorten_line(&text, most)).filter(|text| !text.is_empty())
}

/// Number of entries that were left out of each list.
#[derive(Debug, Default)]
pub(super) struct LeftOutCounts(pub(super) BTreeMap<String, usize>);

impl LeftOutCounts {
    /// Removes the entries of a list beyond the first `most`, and counts them.
    pub(super) fn cut<T>(&mut self, name: &str, list: &mut Vec<T>, most: usize) {
        let omitted = list.len().saturating_sub(most);
        if omitted > 0 {
            list.truncate(most);
            *self.0.entry(name.to_owned()).or_default() += omitted;
        }
    }

    /// Removes all but the `most` words with the largest numbers.
    pub(super) fn cut_words(&mut self, name: &str, words: &mut BTreeMap<String, usize>, most: usize) {
        let mut sorted: Vec<_> = std::mem::take(words).into_iter().collect();
        sorted.sort_by_key(|(_, number)| Reverse(*number));
        self.cut(name, &mut sorted, most);
        words.extend(sorted);
    }
}

fn severity_key(bug: &BugEntry) -> (usize, &str, Option<&str>) {
    let severity = SEVERITIES.iter().position(|known| *known == bug.severity);
    (severity.unwrap_or(SEVERITIES.len()), &bug.title, bug.id.as_deref())
}

/// Returns the tests that passed, and whose run has bugs, the worst bug first.
pub(super) fn passed_with_bugs(tests: &[TestResult], left_out: &mut LeftOutCounts) -> Vec<ListedTest> {
    let passed = tests.iter().filter(|test| test.has_passed());
    let mut entries: Vec<_> = passed
        .map(|test| ListedTest { bugs: named_bugs(std::iter::once(test), left_out), ..listed(test) })
        .collect();

    entries.retain(|entry| !entry.bugs.is_empty());
    entries.sort_by_cached_key(|entry| {
        let worst = entry.bugs.first().map(|bug| severity_key(bug).0);
        (worst, entry.test.clone(), entry.run_id.clone())
    });

    entries
}

fn listed(test: &TestResult) -> ListedTest {
    ListedTest { test: test.test_name(), run_id: test.short_run_id(), ..ListedTest::default() }
}

/// Returns the number of bugs of each severity, the worst first.
pub(super) fn count_severities(tests: &[TestResult]) -> IndexMap<String, usize> {
    let mut severities = IndexMap::new();
    for bug in collect_bugs(tests.iter()) {
        *severities.entry(bug.severity).or_default() += 1;
    }
    severities
}

/// Returns the tests that passed on a retry, those with the most attempts first.
pub(super) fn passed_after_retry(tests: &[TestResult]) -> Vec<ListedTest> {
    let mut retried: Vec<_> = tests.iter().filter(|test| test.passed_after_retry()).collect();
    retried.sort_by_cached_key(|test| {
        (Reverse(test.earlier.len()), test.name.clone(), test.key(), test.run_id.clone())
    });

    let earlier = |test: &TestResult| {
        let earlier = test.earlier.iter().take(MOST_ATTEMPTS);
        earlier.map(|result| shorten_line(result, LONGEST_WORD)).collect()
    };
    retried.into_iter().map(|test| ListedTest { earlier: earlier(test), ..listed(test) }).collect()
}

pub(super) fn slowest(tests: &[TestResult]) -> Vec<ListedTest> {
    if tests.len() < 2 {
        return Vec::new();
    }
    let timed = tests.iter().filter(|test| test.duration_ms.is_some_and(|duration| duration > 0));
    let mut entries: Vec<_> =
        timed.map(|test| ListedTest { duration_ms: test.duration_ms, ..listed(test) }).collect();
    entries
        .sort_by_cached_key(|entry| (Reverse(entry.duration_ms), entry.test.clone(), entry.run_id.clone()));
    entries.truncate(MOST_SLOW);

    entries
}
