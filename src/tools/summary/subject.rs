//! What is summarized: a run, a job or an execution of a test plan, as the tests that it consists of.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    answer::{BuildName, Omission},
    result::TestResult,
};
use crate::{
    failure::{Code, Failure},
    service::{
        api::executions::TestPlanExecution,
        record_kind::{ResultId, ResultKind, ResultTarget},
    },
    text::{filled, shorten_line},
    tools::waiting::{LONGEST_NAME, is_completed},
};

/// Longest id in the answer, in characters.
pub(super) const LONGEST_ID: usize = 64;

/// Longest single word in the answer, such as a verdict or a timestamp, in characters.
pub(super) const LONGEST_WORD: usize = 40;

/// A run, a job or an execution, with the tests that could be read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) target: ResultTarget,
    /// The record of an execution, if it could be read.
    pub(super) execution: Option<TestPlanExecution>,
    /// The tests of an execution, or the single test of a run or a job.
    pub(super) tests: Vec<TestResult>,
    pub(super) omissions: Omissions,
    /// Whether every test could be read.
    pub(super) is_complete: bool,
}

impl Subject {
    pub(super) fn new(target: impl Into<ResultTarget>) -> Self {
        let (target, omissions) = (target.into(), Omissions::default());
        Self { target, execution: None, tests: Vec::new(), omissions, is_complete: true }
    }

    pub(super) fn of_test(target: ResultId, test: TestResult) -> Self {
        Self { tests: vec![test], ..Self::new(target) }
    }

    /// Creates the subject of a listed execution whose tests have not been read.
    pub(super) fn of_execution(execution: TestPlanExecution) -> Self {
        let target = ResultId::new(ResultKind::Execution, execution.id.as_str());
        Self { execution: Some(execution), ..Self::new(target) }
    }

    /// Returns the id of a single record; else an empty text.
    pub(super) fn id(&self) -> &str {
        self.target.id().unwrap_or_default()
    }

    pub(super) fn is_execution(&self) -> bool {
        self.target.kind() == Some(ResultKind::Execution)
    }

    fn status(&self) -> Option<&str> {
        let status = self.execution.as_ref().map(|execution| execution.status.as_str());
        status.filter(|status| !status.is_empty())
    }

    /// Returns whether nothing is running any more. Tests that could not be read count as running.
    pub(super) fn is_finished(&self) -> bool {
        match self.status() {
            Some(status) => is_completed(Some(status)),
            None => {
                self.is_complete && !self.tests.is_empty() && self.tests.iter().all(TestResult::is_finished)
            }
        }
    }

    /// Returns whether something is known to be running or queued.
    pub(super) fn is_unfinished(&self) -> bool {
        match self.status() {
            Some(status) => !is_completed(Some(status)),
            None => !self.tests.iter().all(TestResult::is_finished),
        }
    }

    /// Returns whether every test has passed: of an execution, according to the counts of its record.
    pub(super) fn has_passed(&self) -> bool {
        let Some(execution) = &self.execution else {
            return !self.tests.is_empty() && self.tests.iter().all(TestResult::has_passed);
        };
        let counts = execution.test_status;
        let others = counts.failed + counts.skipped + counts.stopped + counts.queued + counts.running;

        counts.passed > 0 && others == 0 && execution.total_tests.is_none_or(|total| total == counts.passed)
    }

    /// Returns the number of tests: of several jobs, or according to the record of the execution.
    pub(super) fn total_tests(&self) -> Option<usize> {
        match &self.target {
            ResultTarget::Jobs(ids) => Some(ids.len()),
            ResultTarget::Single(_) => self.execution.as_ref()?.total_tests,
        }
    }

    /// Returns the number of finished tests for each verdict according to the record of the execution.
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.execution.as_ref().map(|execution| execution.test_status.verdict_counts()).unwrap_or_default()
    }

    /// Returns when the subject was started: according to its record, else the earliest start of its tests.
    pub(super) fn started_at(&self) -> Option<String> {
        let of_record = self.execution.as_ref().and_then(|execution| execution.started_at.clone());
        of_record.or_else(|| earliest(self.tests.iter().filter_map(|test| test.started_at.clone())))
    }

    /// Returns when the subject was completed: according to its record, else the latest end of its tests.
    pub(super) fn completed_at(&self) -> Option<String> {
        let of_record = self.execution.as_ref().and_then(|execution| execution.completed_at.clone());
        if of_record.is_some() || (self.is_execution() && !self.is_finished()) {
            return of_record;
        }

        let ends = self.tests.iter().filter_map(|test| test.completed_at.clone());
        ends.max_by_key(|end| sort_key(end))
    }

    /// Returns the key by which results of one plan or test are sorted.
    pub(super) fn age(&self) -> Option<(Option<Timestamp>, String)> {
        let created = || self.tests.first()?.created_at.clone();
        self.started_at().or_else(created).map(|time| sort_key(&time))
    }

    /// Returns the id of the job that a run or a job belongs to.
    pub(super) fn job_id(&self) -> Option<&str> {
        let is_single = matches!(self.target.kind(), Some(ResultKind::Run | ResultKind::Job));
        self.tests.first().filter(|_| is_single)?.job_id.as_deref()
    }

    /// Returns the tested builds, each once.
    pub(super) fn builds(&self) -> Vec<BuildName> {
        let record = self.execution.iter().map(|execution| (&execution.build_id, &execution.build_name));
        let tests = self.tests.iter().map(|test| (&test.build_id, &test.build_name));
        let mut known: BTreeMap<String, (&str, BTreeSet<&str>)> = BTreeMap::new();

        for (id, name) in tests.chain(record) {
            if let Some(id) = id {
                let build = known.entry(id.to_ascii_lowercase()).or_insert_with(|| (id, BTreeSet::new()));
                build.1.extend(name.as_deref());
            }
        }

        let build = |(id, names): (&str, BTreeSet<&str>)| BuildName {
            id: shorten_line(id, LONGEST_ID),
            name: names.first().map(|name| shorten_line(name, LONGEST_NAME)),
        };
        known.into_values().map(build).collect()
    }

    pub(super) fn single_build(&self) -> Option<BuildName> {
        let mut builds = self.builds().into_iter();
        builds.next().filter(|_| builds.next().is_none())
    }

    /// Adds an omission if a list that was read to its end contains fewer tests than the execution counts.
    pub(super) fn add_unlisted_tests(&mut self, list: &str) {
        let total = self.total_tests().unwrap_or_default();
        let missing = total.saturating_sub(self.tests.len());
        if missing == 0 || !self.is_complete {
            return;
        }

        let counts = self.verdict_counts().into_iter().map(|(verdict, count)| format!("{verdict} {count}"));
        let counts = filled(&counts.collect::<Vec<_>>().join(", "));
        let counts = counts.map(|counts| format!(" (it counts {counts})")).unwrap_or_default();
        let what = format!("{}: {missing} of {total}{counts}", self.id());

        self.is_complete = false;
        self.omissions.add_skipped(
            "tests of the execution",
            what,
            &format!("they are not in the list of {list}"),
        );
    }
}

/// Returns the key by which timestamps are sorted: they have any offset from UTC. A text that is not a timestamp comes
/// before all timestamps.
pub(super) fn sort_key(text: &str) -> (Option<Timestamp>, String) {
    (text.parse().ok(), text.to_owned())
}

/// Returns the earliest timestamp. A text that is not a timestamp is returned only if there is no timestamp.
pub(super) fn earliest(texts: impl Iterator<Item = String>) -> Option<String> {
    texts.min_by_key(|text| {
        let key = sort_key(text);
        (key.0.is_none(), key)
    })
}

/// Number of ids that an entry of [`Omissions`] names.
const MOST_IDS: usize = 3;

/// Longest text of an entry of [`Omissions`], in characters.
const LONGEST_TEXT: usize = 200;

/// Everything that could not be read: by what it is and the kind of the failure, the ids and the reason of the first.
#[derive(Clone, Debug, Default)]
pub(super) struct Omissions(BTreeMap<(&'static str, String), BTreeMap<String, String>>);

impl Omissions {
    pub(super) fn add(&mut self, what: &'static str, id: impl Into<String>, failure: Failure) {
        let cause = format!("{:?} {:?}", failure.code, failure.status);
        self.0.entry((what, cause)).or_default().entry(id.into()).or_insert(failure.message);
    }

    /// Adds something that was not requested because of a limit.
    pub(super) fn add_skipped(&mut self, what: &'static str, id: impl Into<String>, why: &str) {
        self.add(what, id, Failure::new(Code::TooLarge, why));
    }

    pub(super) fn extend(&mut self, other: Self) {
        for (key, ids) in other.0 {
            self.0.entry(key).or_default().extend(ids);
        }
    }

    /// Returns one entry for all omissions of the same thing with the same cause, in a fixed order.
    pub(super) fn to_entries(&self) -> Vec<Omission> {
        let entry = |((what, _), ids): (&(&str, String), &BTreeMap<String, String>)| {
            let named: Vec<_> = ids.keys().take(MOST_IDS).map(String::as_str).collect();
            let more = ids.len().saturating_sub(MOST_IDS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let what = format!("{what} {}{more}", named.join(", "));
            let why = ids.values().next().map(String::as_str).unwrap_or_default();

            Omission {
                what: shorten_line(what.trim_end(), LONGEST_TEXT),
                why: shorten_line(why, LONGEST_TEXT),
            }
        };
        self.0.iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_compared_by_time_and_not_by_text() {
        let (one, other, text) = ("2026-03-01T10:30:00+02:00", "2026-03-01T10:00:00Z", "0 soon");
        let cases: [(&[&str], Option<&str>, Option<&str>); 4] = [
            (&[], None, None),
            (&[one, other], Some(one), Some(other)),
            (&[text, other], Some(other), Some(other)),
            (&[text], Some(text), Some(text)),
        ];
        for (texts, first, last) in cases {
            let texts = || texts.iter().map(|text| (*text).to_owned());
            assert_eq!(earliest(texts()).as_deref(), first);
            assert_eq!(texts().max_by_key(|text| sort_key(text)).as_deref(), last);
        }
    }
}
