//! The subject of a summary: a run, a job or an execution, with its tests.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    answer::BuildName,
    omissions::Omissions,
    test_result::TestResult,
    text_limits::{LONGEST_ID, LONGEST_NAME},
    timestamps::{earliest, latest},
};
use crate::{
    failure::{Code, Failure},
    service::result_kind::{ResultId, ResultKind},
    text::shorten_line,
    tools::waiting::{
        execution_counts,
        record::{is_completed, string_field},
    },
};

/// A run, a job or an execution, with the tests that could be read.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) target: ResultId,
    /// The record of the target.
    pub(super) record: Option<Value>,
    pub(super) tests: Vec<TestResult>,
    pub(super) omissions: Omissions,
    /// Whether every test could be read.
    pub(super) is_complete: bool,
}

impl Subject {
    /// Creates the subject of a run or a job.
    pub(super) fn single_test(target: ResultId, record: Value) -> Self {
        let test = if target.kind == ResultKind::Run {
            let mut test = TestResult::from_run(&record);
            test.add_details(&record);
            test
        } else {
            TestResult::from_job(&record)
        };

        Self {
            target,
            record: Some(record),
            tests: vec![test],
            omissions: Omissions::default(),
            is_complete: true,
        }
    }

    /// Creates the subject of an execution whose tests have not been read.
    pub(super) fn without_tests(target: &ResultId, record: Option<Value>) -> Self {
        Self {
            target: target.clone(),
            record,
            tests: Vec::new(),
            omissions: Omissions::default(),
            is_complete: true,
        }
    }

    /// Returns whether nothing is running any more. Tests that could not be read count as running.
    pub(super) fn is_finished(&self) -> bool {
        if self.target.kind == ResultKind::Execution
            && let Some(status) = self.record_field("status")
        {
            return is_completed(Some(&status));
        }

        let all_read = self.is_complete && !self.tests.is_empty();

        all_read && self.tests.iter().all(|test| test.item.is_finished())
    }

    /// Returns a string field of the record.
    pub(super) fn record_field(&self, name: &str) -> Option<String> {
        self.record.as_ref().and_then(|record| string_field(record, name))
    }

    /// Returns the number of tests according to the record of the execution.
    pub(super) fn total_tests(&self) -> Option<usize> {
        self.record.as_ref().and_then(execution_counts::total_tests)
    }

    /// Returns the number of finished tests for each verdict according to the record of the execution.
    pub(super) fn verdict_counts(&self) -> Vec<(&'static str, usize)> {
        self.record.as_ref().map(execution_counts::verdict_counts).unwrap_or_default()
    }

    /// Returns when the subject was started: according to its record, else the earliest start of its tests.
    pub(super) fn started_at(&self) -> Option<String> {
        let of_tests = || earliest(self.tests.iter().filter_map(|test| test.started_at.clone()));
        self.record_field("started_at").or_else(of_tests)
    }

    /// Returns when the subject was completed: according to its record, else the latest end of its tests.
    pub(super) fn completed_at(&self) -> Option<String> {
        let of_record = self.record_field("completed_at");
        if of_record.is_some() || !self.is_finished() {
            return of_record;
        }
        latest(self.tests.iter().filter_map(|test| test.completed_at.clone()))
    }

    /// Returns the tested builds, each once.
    pub(super) fn builds(&self) -> Vec<BuildName> {
        let of_record = (self.record_field("build_id"), self.record_field("build_name"));
        let of_tests = self.tests.iter().map(|test| (test.build_id.clone(), test.build_name.clone()));
        let mut known: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();

        for (id, name) in of_tests.chain([of_record]) {
            if let Some(id) = id {
                let (_, names) =
                    known.entry(id.to_ascii_lowercase()).or_insert_with(|| (id, BTreeSet::new()));
                names.extend(name);
            }
        }

        let build = |(id, names): (String, BTreeSet<String>)| BuildName {
            id: shorten_line(&id, LONGEST_ID),
            name: names.first().map(|name| shorten_line(name, LONGEST_NAME)),
        };

        known.into_values().map(build).collect()
    }

    /// Adds an omission if a list that was read to its end contains fewer tests than the execution counts. The counts of
    /// an execution include all its tests.
    pub(super) fn add_unlisted_tests(&mut self, why: &str) {
        if !self.is_complete {
            return;
        }

        let total = self.total_tests().unwrap_or_default();
        let missing = total.saturating_sub(self.tests.len());
        if missing == 0 {
            return;
        }

        let counts: Vec<_> =
            self.verdict_counts().iter().map(|(verdict, count)| format!("{verdict} {count}")).collect();
        let counts = match counts.as_slice() {
            [] => String::new(),
            counts => format!(" (it counts {})", counts.join(", ")),
        };
        let what = format!("{}: {missing} of {total}{counts}", self.target.id);

        self.is_complete = false;
        self.omissions.add("tests of the execution", what, Failure::new(Code::BadResponse, why));
    }
}
