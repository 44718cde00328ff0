//! The summary at its full length, before `size_limit` shortens it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{
    answer::Summary,
    baseline::Baseline,
    bugs::count_severities,
    comparison::compare,
    failure_groups::{FailureGroup, group_failures},
    flaky_tests::flaky_tests,
    subject::Subject,
    text_limits::{LONGEST_ID, LONGEST_NAME, LONGEST_WORD},
};
use crate::{service::result_kind::ResultKind, text::shorten_line};

/// The summary at its full length.
#[derive(Clone, Debug, Default)]
pub(super) struct FullSummary {
    /// The answer without its failures.
    pub(super) summary: Summary,
    pub(super) failures: Vec<FailureGroup>,
}

impl FullSummary {
    /// Summarizes `subject` and compares it with `baseline`, if there is one.
    pub(super) fn from_subject(mut subject: Subject, baseline: Option<Baseline>) -> Self {
        let comparison = baseline.map(|baseline| compare(&mut subject, baseline));
        let failures = group_failures(&mut subject);

        let (finished, total) = count_tests(&subject);
        let verdicts = count_verdicts(&subject);
        let is_finished = subject.is_finished();
        // A test that was not read may have failed.
        let all_passed =
            is_finished && is_fully_read(&subject) && total > 0 && verdicts.get("SUCCESS") == Some(&total);

        let builds = subject.builds();
        let (started_at, completed_at) = (subject.started_at(), subject.completed_at());

        let summary = Summary {
            target_type: subject.target.kind.target_type().to_owned(),
            target_id: shorten_line(&subject.target.id, LONGEST_ID),
            name: subject_name(&subject),
            state: if is_finished { "completed" } else { "running" }.to_owned(),
            all_passed,
            finished,
            total,
            verdicts,
            duration_ms: duration(&subject, started_at.as_deref(), completed_at.as_deref()),
            started_at: started_at.map(|start| shorten_line(&start, LONGEST_WORD)),
            completed_at: completed_at.map(|end| shorten_line(&end, LONGEST_WORD)),
            build: builds.first().filter(|_| builds.len() == 1).cloned(),
            builds: if builds.len() > 1 { builds } else { Vec::new() },
            failures: Vec::new(),
            flaky: flaky_tests(&subject.tests),
            bugs: count_severities(&subject.tests),
            comparison,
            unread: subject.omissions.to_entries(),
            left_out: None,
        };

        Self { summary, failures }
    }
}

/// Returns whether everything was read that decides whether all tests passed.
fn is_fully_read(subject: &Subject) -> bool {
    let has_total = subject.total_tests().is_some() || !subject.tests.is_empty();
    subject.is_complete && subject.record.is_some() && has_total
}

/// Returns the number of finished tests and the number of all tests.
fn count_tests(subject: &Subject) -> (usize, usize) {
    let total = subject.tests.len().max(subject.total_tests().unwrap_or_default());
    if !subject.tests.is_empty() {
        let finished = subject.tests.iter().filter(|test| test.item.is_finished()).count();
        return (finished, total);
    }

    let finished = subject.verdict_counts().into_iter().map(|(_, count)| count).sum();

    (finished, total.max(finished))
}

/// Returns the number of tests for each verdict. Without tests, the counts of the execution are used.
fn count_verdicts(subject: &Subject) -> BTreeMap<String, usize> {
    if subject.tests.is_empty() {
        let counts = subject.verdict_counts().into_iter();
        return counts.map(|(verdict, count)| (verdict.to_owned(), count)).collect();
    }

    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in subject.tests.iter().filter_map(|test| test.item.verdict()) {
        *verdicts.entry(shorten_line(&verdict, LONGEST_WORD)).or_default() += 1;
    }

    verdicts
}

/// Returns the name of the plan of an execution, else the name of the test.
fn subject_name(subject: &Subject) -> Option<String> {
    let name = match subject.target.kind {
        ResultKind::Execution => subject.record_field("test_plan_name"),
        ResultKind::Run | ResultKind::Job => {
            subject.tests.first().and_then(|test| test.item.test_name.clone())
        }
    };
    name.map(|name| shorten_line(&name, LONGEST_NAME))
}

/// Returns the duration in milliseconds: according to the record, else the time between start and end.
fn duration(subject: &Subject, started_at: Option<&str>, completed_at: Option<&str>) -> Option<u64> {
    let of_record = subject.record.as_ref().and_then(|record| record.get("duration_ms")?.as_f64());
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a float saturates")]
    let of_record = of_record.map(|milliseconds| milliseconds.round() as i64);

    let time = |text: Option<&str>| text?.parse::<Timestamp>().ok();
    let between = || Some(time(completed_at)?.as_millisecond() - time(started_at)?.as_millisecond());

    of_record.or_else(between).and_then(|milliseconds| u64::try_from(milliseconds).ok())
}
