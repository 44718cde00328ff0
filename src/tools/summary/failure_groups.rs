//! Groups of similar failures: failures of one test with the same verdict, at the same step, with the same report.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{
    answer::{BugEntry, TestName},
    bugs::collect_bugs,
    failure_cause::FailureCause,
    normalized_text::normalize,
    subject::Subject,
    test_result::{TestResult, verdict_rank},
    text_limits::{LONGEST_ID, LONGEST_WORD},
    timestamps::sort_key,
};
use crate::{
    failure::{Code, Failure},
    text::shorten_line,
    tools::waiting::ResultItem,
};

/// Number of ids that a group names.
const MOST_IDS: usize = 3;

/// A group of similar failures. Its texts have their full length; `size_limit` shortens them.
#[derive(Clone, Debug, Default)]
pub(super) struct FailureGroup {
    pub(super) test: TestName,
    pub(super) verdict: String,
    pub(super) cause: FailureCause,
    pub(super) count: usize,
    pub(super) run_ids: Vec<String>,
    pub(super) job_ids: Vec<String>,
    pub(super) bugs: Vec<BugEntry>,
}

/// What the failures of a group have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct GroupKey {
    /// The key of the test, else its index. Tests without a key are never grouped.
    test: Result<String, usize>,
    verdict: String,
    goal: String,
    report: String,
}

/// Returns the groups of the failures of `subject`: the worst verdict first, then the largest group, then by name and id.
/// Adds an omission for every failed run whose record has no list of artifacts.
pub(super) fn group_failures(subject: &mut Subject) -> Vec<FailureGroup> {
    let mut members: BTreeMap<GroupKey, Vec<(&TestResult, FailureCause)>> = BTreeMap::new();
    for (index, test) in subject.tests.iter().enumerate().filter(|(_, test)| test.has_failed()) {
        let cause = test.cause.clone().unwrap_or_else(|| cause_of_job(test));
        if test.cause.is_some() && !cause.has_artifact_list {
            let failure = Failure::new(Code::BadResponse, "get_run: the answer has no list of artifacts");
            let run_id = test.item.run_id.clone().unwrap_or_default();
            subject.omissions.add("artifacts of run", run_id, failure);
        }

        members.entry(group_key(test, index, &cause)).or_default().push((test, cause));
    }

    let mut groups: Vec<_> =
        members.into_iter().filter_map(|(key, members)| Some((join_members(members)?, key))).collect();
    groups.sort_by(|(one, one_key), (other, other_key)| {
        let severity = |group: &FailureGroup| (verdict_rank(&group.verdict), Reverse(group.count));
        severity(one)
            .cmp(&severity(other))
            .then_with(|| one.test.cmp(&other.test))
            .then_with(|| one.cause.step_number.cmp(&other.cause.step_number))
            // The keys decide last, so that equal results have equal answers.
            .then_with(|| one_key.cmp(other_key))
    });

    groups.into_iter().map(|(group, _)| group).collect()
}

/// Returns the cause that the record of the job shows, for a test whose run was not read.
fn cause_of_job(test: &TestResult) -> FailureCause {
    FailureCause { observed: test.item.reason.clone(), ..FailureCause::default() }
}

fn group_key(test: &TestResult, index: usize, cause: &FailureCause) -> GroupKey {
    let ResultItem { job_id, run_id, .. } = &test.item;
    let ids: Vec<_> = [job_id, run_id].into_iter().flatten().map(String::as_str).collect();
    let normalized = |text: Option<&String>| text.map(|text| normalize(text, &ids)).unwrap_or_default();

    GroupKey {
        test: test.key().ok_or(index),
        verdict: test.item.verdict().unwrap_or_default(),
        goal: normalized(cause.goal.as_ref()),
        report: normalized(cause.observed.as_ref()),
    }
}

/// Joins similar failures into one group. The earliest failure provides the texts.
fn join_members(mut members: Vec<(&TestResult, FailureCause)>) -> Option<FailureGroup> {
    members.sort_by_cached_key(|(test, _)| {
        let start = test.started_at.as_deref().map(sort_key);
        (start.is_none(), start, test.item.id().map(str::to_owned))
    });

    let first_ids = |id: fn(&TestResult) -> Option<&String>| {
        let ids = members.iter().filter_map(|(test, _)| id(test));
        ids.take(MOST_IDS).map(|id| shorten_line(id, LONGEST_ID)).collect::<Vec<_>>()
    };
    let run_ids = first_ids(|test| test.item.run_id.as_ref());
    let job_ids = if run_ids.is_empty() { first_ids(|test| test.item.job_id.as_ref()) } else { Vec::new() };
    let bugs = collect_bugs(members.iter().map(|(test, _)| *test));
    let count = members.len();
    let (first, cause) = members.into_iter().next()?;

    Some(FailureGroup {
        test: first.test_name(),
        verdict: shorten_line(&first.item.verdict()?, LONGEST_WORD),
        cause,
        count,
        run_ids,
        job_ids,
        bugs,
    })
}
