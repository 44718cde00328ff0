//! What a summary says about failures and bugs: groups of similar failures, tests that passed on a retry, and the bugs of
//! both.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    answer::{BugEntry, FailureEntry, PassedTest, RetriedTest, StepName},
    cause::FailureCause,
    subject::{LONGEST_ID, LONGEST_WORD, Subject, TestResult, sort_key, verdict_rank},
};
use crate::{
    failure::{Code, Failure},
    text::shorten_line,
};

/// Severities from the worst. Unknown severities come last.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];

/// Number of ids that a group names.
const MOST_IDS: usize = 3;

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
/// The worst verdict comes first, then the largest group. Texts have their full length; `limit` shortens them.
///
/// Adds an omission for every failed run whose record has no list of artifacts.
pub(super) fn group_failures(subject: &mut Subject) -> Vec<FailureEntry> {
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

    let joined = groups.into_iter().filter_map(|(key, members)| Some((join_members(members)?, key)));
    let mut entries: Vec<_> = joined.collect();
    entries.sort_by_cached_key(|(entry, _)| {
        let step = entry.step.as_ref().and_then(|step| step.number);
        (verdict_rank(&entry.verdict), Reverse(entry.count), entry.test.clone(), step)
    });

    entries.into_iter().map(|(entry, _)| entry).collect()
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
fn join_members(mut members: Vec<Member<'_>>) -> Option<FailureEntry> {
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
    let bugs = collect_bugs(members.iter().map(|(test, _)| *test));
    let count = members.len();
    let (first, cause) = members.into_iter().next()?;
    let has_step = cause.step_number.is_some() || cause.goal.is_some();

    Some(FailureEntry {
        test: first.test_name(),
        verdict: shorten_line(first.verdict.as_ref()?, LONGEST_WORD),
        step: has_step.then_some(StepName {
            number: cause.step_number,
            goal: cause.goal,
            player: cause.player,
        }),
        expected: cause.expected,
        observed: cause.observed,
        count,
        run_ids,
        job_ids,
        bugs,
        artifacts: cause.artifacts,
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

fn severity_key(bug: &BugEntry) -> (usize, &str, Option<&str>) {
    let severity = SEVERITIES.iter().position(|known| *known == bug.severity);
    (severity.unwrap_or(SEVERITIES.len()), &bug.title, bug.id.as_deref())
}

/// Returns the tests that passed, and whose run has bugs, the worst bug first.
pub(super) fn passed_with_bugs(tests: &[TestResult]) -> Vec<PassedTest> {
    let entry = |test: &TestResult| PassedTest {
        test: test.test_name(),
        run_id: test.short_run_id().unwrap_or_default(),
        bugs: collect_bugs(std::iter::once(test)),
    };
    let mut entries: Vec<_> = tests.iter().filter(|test| test.has_passed()).map(entry).collect();

    entries.retain(|entry| !entry.bugs.is_empty());
    entries.sort_by_cached_key(|entry| {
        let worst = entry.bugs.first().map(|bug| severity_key(bug).0);
        (worst, entry.test.clone(), entry.run_id.clone())
    });

    entries
}

/// Returns the number of bugs of each severity.
pub(super) fn count_severities(tests: &[TestResult]) -> BTreeMap<String, usize> {
    let mut severities: BTreeMap<String, usize> = BTreeMap::new();
    for bug in collect_bugs(tests.iter()) {
        *severities.entry(bug.severity).or_default() += 1;
    }
    severities
}

/// Returns the tests that passed on a retry, those with the most attempts first.
pub(super) fn passed_after_retry(tests: &[TestResult]) -> Vec<RetriedTest> {
    let mut retried: Vec<_> = tests.iter().filter(|test| test.passed_after_retry()).collect();
    retried.sort_by_cached_key(|test| {
        (Reverse(test.earlier.len()), test.name.clone(), test.key(), test.run_id.clone())
    });

    let entry = |test: &TestResult| {
        let earlier = test.earlier.iter().take(MOST_ATTEMPTS);
        RetriedTest {
            test: test.test_name(),
            run_id: test.short_run_id(),
            earlier: earlier.map(|result| shorten_line(result, LONGEST_WORD)).collect(),
        }
    };
    retried.into_iter().map(entry).collect()
}

/// Shortest id that is removed from a text, in bytes. A shorter id may be part of a word.
const SHORTEST_ID: usize = 6;

/// Stands for a number, a time or an id.
const PLACEHOLDER: &str = "#";

/// Returns the words of `report` in lower case, with one placeholder for numbers, times, coordinates and ids, because
/// these differ between runs. `ids` are replaced wherever they occur.
pub(super) fn normalize(report: &str, ids: &[&str]) -> String {
    let mut text = report.to_lowercase();
    for id in ids.iter().filter(|id| id.len() >= SHORTEST_ID) {
        text = text.replace(&id.to_lowercase(), PLACEHOLDER);
    }

    let mut words: Vec<&str> = Vec::new();
    for chunk in text.split(|one: char| !(one.is_alphanumeric() || one == '#' || is_joint(one))) {
        if is_measure(chunk) {
            push_word(&mut words, PLACEHOLDER);
        } else {
            chunk
                .split(is_joint)
                .filter(|part| !part.is_empty())
                .for_each(|part| push_word(&mut words, part));
        }
    }

    words.join(" ")
}

/// Returns whether a character joins the parts of a number, a time or an id. It separates the parts of a word.
fn is_joint(one: char) -> bool {
    matches!(one, '-' | '_' | '.' | ':' | ',' | '/' | '+')
}

/// Adds a word. Consecutive numbers become one placeholder, because coordinates and times have many notations.
fn push_word<'a>(words: &mut Vec<&'a str>, word: &'a str) {
    let is_variable = |one: char| one.is_numeric() || one == '#';
    let word = if word.chars().any(is_variable) { PLACEHOLDER } else { word };
    if word != PLACEHOLDER || words.last() != Some(&PLACEHOLDER) {
        words.push(word);
    }
}

/// Returns whether a chunk is a number, a time, or an id of hexadecimal digits.
fn is_measure(chunk: &str) -> bool {
    let is_digit = |one: char| one.is_numeric() || one == '#';
    let is_part = |one: char| is_digit(one) || is_joint(one) || matches!(one, 'a'..='f' | 't' | 'z');
    chunk.chars().any(is_digit) && chunk.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::normalize;

    const RUN: &str = "hui4d9ilmby";
    const JOB: &str = "3126ec62-851c-4a5f-bce1-dd354c0912de";

    fn are_equal(one: &str, other: &str) -> bool {
        let other_ids = ["brjbojnejvn", "deadbeef-cafe-abba-face-feedfacedead"];
        normalize(one, &[RUN, JOB]) == normalize(other, &other_ids)
    }

    #[test]
    fn texts_that_differ_in_numbers_times_ids_and_letter_case_are_equal() {
        let cases = [
            ("Waited 30 s for the door", "waited 7 s for the DOOR"),
            ("Frame 1,204 of 3.5 million", "Frame 9 of 12.25 million"),
            ("Stuck at -3 health", "Stuck at 250 health"),
            ("Tapped \"120, 340\" in vain", "Tapped \"7,9\" in vain"),
            ("Tapped (120, 340) in vain", "Tapped (0.5;0.25) in vain"),
            ("At 09:15:00 it closed", "At 2026-03-02T10:00:00+00:00 it closed"),
            ("At 2026-03-02T09:15:00.123Z it closed", "At 10:00 it closed"),
            (
                "Session 3126ec62-851c-4a5f-bce1-dd354c0912de ended",
                "Session 00aa11bb-0000-4000-8000-abcdefabcdef ended",
            ),
            ("Player k3x9 left", "Player 77 left"),
            ("Run hui4d9ilmby hung", "Run brjbojnejvn hung"),
            (
                "Job 3126EC62-851C-4A5F-BCE1-DD354C0912DE hung",
                "Job deadbeef-cafe-abba-face-feedfacedead hung",
            ),
            ("  The   door\nstayed closed ", "The door stayed closed."),
            ("Level ١٢ did not load", "Level 12 did not load"),
            ("", " . "),
        ];

        for (one, other) in cases {
            assert!(are_equal(one, other), "{one} / {other}: {}", normalize(one, &[RUN, JOB]));
        }
    }

    #[test]
    fn texts_with_different_words_are_different() {
        let cases = [
            ("The door stayed closed", "The door stayed open"),
            ("The gate-1 is shut", "The door-1 is shut"),
            ("Tür 5 klemmt", "Tor 5 klemmt"),
            ("5 doors are closed", "doors are closed"),
            ("A face is missing", "A bead is missing"),
            ("门打不开", "窗打不开"),
        ];

        for (one, other) in cases {
            assert!(!are_equal(one, other), "{one} / {other}: {}", normalize(one, &[]));
        }
    }

    #[test]
    fn a_short_id_is_not_removed_from_words() {
        assert_eq!(normalize("The door", &["door", ""]), "the door");
    }
}
